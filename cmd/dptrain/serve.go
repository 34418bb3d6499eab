package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/fault"
	"github.com/dptrain/dptrain/internal/serve"
)

const serveLong = `Answer requests for predictions over HTTP until it is told to stop. The model is
all that the server holds: no private data.

  POST /predict       {"records": [{"age": 41, ...}, ...]}, or CSV with a header
                      (text/csv), or one JSON object a line
                      (application/x-ndjson); the last two are answered while
                      they are read, at any length
  GET  /model         what the model predicts, and from what
  GET  /openapi.json  these paths, for programs
  GET  /health        whether the server answers
  GET  /metrics       counts, for Prometheus; none of cells or predictions

Cells are read as by dptrain predict, text in a numeric column as a plain
number. Absent inputs, malformed bodies, and those above --max-body are refused
with a status of 4xx and a reason.

On SIGTERM or Ctrl-C it takes no more requests, ends those under way and exits
with code 0. Other computers reach it at --addr 0.0.0.0:8080 with --cert and
--key, or with --plain where something before it speaks TLS.`

// serveFlags are the flags of serve.
type serveFlags struct {
	addr, cert, key string
	plain           bool
	body            int64
	clients         int
	drain           time.Duration
}

func serveCommand(a *app) *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve MODEL",
		Short: "Answer requests for predictions over HTTP",
		Long:  serveLong,
		Example: `  dptrain serve out/release/model.json
  dptrain serve out/release/model.json --addr 0.0.0.0:8443 \
    --cert cert.pem --key key.pem`,
		Args: exactly(1, "a model"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.serve(cmd.Context(), args[0], flags) },
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&flags.addr, "addr", "127.0.0.1:8080", "listen at `HOST:PORT`")
	set.StringVar(&flags.cert, "cert", "", "a `FILE` with the certificate, in PEM, for HTTPS")
	set.StringVar(&flags.key, "key", "", "a `FILE` with its key, in PEM")
	set.BoolVar(&flags.plain, "plain", false, "serve other computers without TLS")
	set.Int64Var(&flags.body, "max-body", 8<<20, "the most `BYTES` of a JSON body")
	set.IntVar(&flags.clients, "max-requests", 256, "the most requests at once, a `NUMBER`; 503 beyond")
	set.DurationVar(&flags.drain, "drain", 10*time.Second, "how long requests under way may take when it stops, a `TIME`")
	return cmd
}

func (f *serveFlags) check() error {
	host, _, err := net.SplitHostPort(f.addr)
	switch {
	case err != nil:
		return usagef("--addr %s is no HOST:PORT, such as 127.0.0.1:8080", f.addr)
	case (f.cert == "") != (f.key == ""):
		return usagef("--cert and --key go together")
	case f.body < 1 || f.clients < 1 || f.drain < 0:
		return usagef("--max-body and --max-requests must be at least 1, --drain at least 0s")
	case f.cert == "" && !f.plain && !loopback(host):
		return usagef("--addr %s can be reached by other computers, and records would travel in the open; give --cert and --key, or --plain where something before it speaks TLS", f.addr)
	}
	return nil
}

// loopback reports whether a host is this computer alone.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (a *app) serve(ctx context.Context, path string, flags serveFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	model, err := readModel(path, "")
	if err != nil {
		return err
	}
	server, err := serve.New(model, serve.Limits{Body: flags.body, Clients: flags.clients, Drain: max(flags.drain, time.Nanosecond)})
	if err != nil {
		return fault.As(fault.Data, &pathError{path, err})
	}
	scheme := "http"
	if flags.cert != "" {
		scheme = "https"
		if _, err := tls.LoadX509KeyPair(flags.cert, flags.key); err != nil {
			return fault.As(fault.Usage, fmt.Errorf("--cert and --key: %w", err))
		}
	}
	var listen net.ListenConfig
	at, err := listen.Listen(ctx, "tcp", flags.addr)
	if err != nil {
		return fault.As(fault.Usage, fmt.Errorf("--addr: %w", errors.Join(fault.Cause(err))))
	}
	fmt.Fprintf(a.stderr, "Serving %s, which predicts %s, at %s://%s (Ctrl-C stops)\n", model.Kind(), model.Output().Target, scheme, at.Addr())
	return server.Serve(ctx, at, flags.cert, flags.key)
}
