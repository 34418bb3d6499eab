package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/engine/cluster"
)

// errWorker is all that a worker says of what went wrong: a cluster keeps the words of its workers.
var errWorker = errors.New("the worker failed")

// workerCommand is what executors of a cluster run. People have no use for it.
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
