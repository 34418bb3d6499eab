package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/noise/secret"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/ui"
)

const uiLong = `Serve a page for a browser on this computer that leads from a table to a report:
choose a table, check how its first rows are read, see the price and the
expected accuracy at each epsilon, train, read the report, compare runs, and see
what is left in a ledger. It writes a recipe and runs it like dptrain fit.

The page can access only the files in FOLDER (default the working directory). It
shows the first rows of the table to its owner, but writes them to no file. The
address contains a token: anyone who has it can use the page. The page is
reachable only from this computer, on 127.0.0.1.`

func uiCommand(a *app) *cobra.Command {
	var port int
	cmd := &cobra.Command{
		Use:   "ui [FOLDER]",
		Short: "Plan, train and compare runs in the browser",
		Long:  uiLong,
		Example: `  dptrain ui
  dptrain ui ~/tables --port 8484`,
		Args: between(0, 1, "at most one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := "."
			if len(args) > 0 {
				folder = args[0]
			}
			return a.ui(cmd.Context(), folder, port)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().IntVar(&port, "port", 0, "listen on port `NUMBER` (default a free one)")
	return cmd
}

// ui serves the page for a folder until ctx ends.
func (a *app) ui(ctx context.Context, folder string, port int) error {
	if port < 0 || port > 65535 {
		return usagef("--port must be from 0 to 65535")
	}
	token := secret.Token()
	server, err := ui.New(
		ui.Options{
			Folder: folder,
			Token:  token,
			NewKey: secret.Token,
			Run:    a.inProcess,
		})
	if err != nil {
		return fault.WithKind(fault.Usage,
			&pathError{folder, fmt.Errorf("the folder cannot be opened: %w", fault.Cause(err))})
	}
	var listen net.ListenConfig
	at, err := listen.Listen(
		ctx,
		"tcp4",
		net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
	)
	if err != nil {
		return errors.Join(fault.WithKind(fault.Usage, fmt.Errorf("--port: %w", fault.Cause(err))),
			server.Close())
	}
	fmt.Fprintf(a.stderr,
		"Open this page in a browser on this computer (Ctrl-C stops):\n\n  http://%s/#%s\n\n",
		at.Addr(), token)
	return errors.Join(server.Serve(ctx, at), server.Close())
}

// inProcess runs a command for the page. Its output is the same as into a pipe.
func (a *app) inProcess(ctx context.Context, c ui.Call) int {
	b := newApp(strings.NewReader(""), c.Stdout, c.Stderr)
	b.onStep = c.Progress
	b.ownTable = a.ownTable
	b.ledgerWait = a.ledgerWait
	return b.run(ctx, c.Args)
}
