package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/engine/cluster"
)

// errWorker is the error that a worker reports, because a cluster keeps the messages of its
// workers. Only another version of the run has an error of its own.
var errWorker = errors.New("the worker failed")

// workerCommand returns the internal command that executors of a cluster run.
func workerCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:                "worker",
		Hidden:             true,
		Args:               cobra.ArbitraryArgs,
		DisableFlagParsing: true,
		Short:              "Run tasks of --engine spark on an executor",
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := cluster.Work(cmd.Context(), a.stdin, a.data)
			switch {
			case errors.Is(err, cluster.ErrVersion):
				return cluster.ErrVersion
			case err != nil:
				return errWorker
			}
			return nil
		},
	}
}
