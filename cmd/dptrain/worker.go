package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/engine/cluster"
)

// errWorker is the only error that a worker reports, because a cluster keeps the messages of its workers.
var errWorker = errors.New("the worker failed")

// workerCommand returns the internal command that executors of a cluster run.
func workerCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "worker", Hidden: true, Args: cobra.ArbitraryArgs, DisableFlagParsing: true,
		Short: "Carry out tasks for --engine spark, on an executor",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cluster.Work(cmd.Context(), a.stdin, a.data) != nil {
				return errWorker
			}
			return nil
		},
	}
}
