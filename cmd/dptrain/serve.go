package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/serve"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

const serveLong = `Serve predictions over HTTP until the server is stopped. It holds only the
model, which is public, and no private data.

  POST /predict       {"records": [{"age": 41, ...}, ...]}, or CSV with a header
                      (text/csv), or one JSON object per line
                      (application/x-ndjson); the last two can have any length
                      and are answered as they arrive
  GET  /model         the target and the inputs of the model
  GET  /openapi.json  the OpenAPI description of these paths
  GET  /health        200 if the server is running
  GET  /ready         200 if it accepts new requests
  GET  /metrics       Prometheus metrics; input counts need --count-inputs

Predictions are the same as those of dptrain predict. CSV is read according to
the recipe.yaml next to the model; --separator and the flags listed after it
override that. A body that cannot be read is rejected with a 4xx status and the
line and column of the error. A request over a limit gets 413, or 503 with
Retry-After.

On SIGHUP the server reloads the model file; requests in progress finish with
the model they started with. (Closing a terminal also sends SIGHUP: if standard
input is a terminal, the server stops.) On SIGTERM or Ctrl-C it stops accepting
requests, finishes those in progress within the time of --drain, and exits with
code 0.

To serve other computers, use --addr 0.0.0.0:8080 with --cert and --key, or with
--plain behind a proxy that terminates TLS.`

// serveFlags are the flags of serve.
type serveFlags struct {
	addr        string
	cert        string
	key         string
	plain       bool
	accessLog   bool
	countInputs bool
	probe       string
	limits      serve.Limits
	format      keyValues
}

func serveCommand(a *app) *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve MODEL",
		Short: "Serve predictions over HTTP",
		Long:  serveLong,
		Example: `  dptrain serve out/release/model.json
  dptrain serve out/release/model.json --addr 0.0.0.0:8443 \
    --cert cert.pem --key key.pem`,
		Args: func(cmd *cobra.Command, args []string) error {
			if flags.probe != "" {
				return exactly(0, "no model with --probe")(cmd, args)
			}
			return exactly(1, "a model")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.probe != "" {
				return probe(cmd.Context(), flags.probe)
			}
			return a.serve(cmd.Context(), args[0], flags)
		},
	}
	defaults := serve.Defaults()
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&flags.addr, "addr", "127.0.0.1:8080",
		"listen on `HOST:PORT`; port 0 selects a free port")
	set.StringVar(&flags.cert, "cert", "", "PEM `FILE` with the certificate, for HTTPS")
	set.StringVar(&flags.key, "key", "", "PEM `FILE` with the key of the certificate")
	set.BoolVar(
		&flags.plain,
		"plain",
		false,
		"allow serving other computers without TLS",
	)
	set.Int64Var(&flags.limits.Body, "max-body", defaults.Body,
		"maximum size of a JSON body in `BYTES`")
	set.Int64Var(&flags.limits.Buffered, "max-buffered", defaults.Buffered,
		"maximum size of all bodies in memory in `BYTES`; more get 503")
	set.IntVar(&flags.limits.Requests, "max-requests", defaults.Requests,
		"maximum `NUMBER` of concurrent requests; more get 503")
	set.IntVar(&flags.limits.Connections, "max-connections", 1024,
		"maximum `NUMBER` of connections")
	set.IntVar(&flags.limits.PerClient, "max-per-client", 256,
		"maximum `NUMBER` of connections from one address")
	set.DurationVar(&flags.limits.Idle, "idle", defaults.Idle,
		"close a connection after this `TIME` without activity")
	set.DurationVar(&flags.limits.Drain, "drain", defaults.Drain,
		"when stopping, give requests in progress this `TIME` to finish")
	set.BoolVar(&flags.accessLog, "access-log", false,
		"print a JSON object per response to standard output")
	set.BoolVar(&flags.countInputs, "count-inputs", false,
		"count missing, unknown and out-of-range inputs by column in /metrics, and compare numbers with the histograms of the report")
	set.StringVar(&flags.probe, "probe", "",
		"request `URL` of a running server, such as http://127.0.0.1:8080/ready, and exit with 0 on status 200")
	flags.format.add(cmd)
	_ = set.MarkHidden("sheet") // the flag exists, but a body is no workbook
	return cmd
}

func (f *serveFlags) check() error {
	host, port, err := net.SplitHostPort(f.addr)
	if err != nil {
		return usagef("--addr %s is not HOST:PORT, such as 127.0.0.1:8080", f.addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return usagef("--addr %s: the port must be a number from 0 to 65535", f.addr)
	}
	if (f.cert == "") != (f.key == "") {
		return usagef("--cert and --key must be given together")
	}
	l := &f.limits
	for name, value := range map[string]int64{
		"max-body":        l.Body,
		"max-buffered":    l.Buffered,
		"max-requests":    int64(l.Requests),
		"max-connections": int64(l.Connections),
		"max-per-client":  int64(l.PerClient),
	} {
		if value < 1 {
			return usagef("--%s must be at least 1", name)
		}
	}
	switch {
	case l.Idle <= 0 || l.Drain < 0:
		return usagef("--idle must be above 0s, and --drain at least 0s")
	case l.Body > l.Buffered:
		return usagef("--max-body %d must not exceed --max-buffered %d, the limit for all bodies",
			l.Body, l.Buffered)
	case f.format.set.Changed("sheet"):
		return usagef("--sheet has no effect: the server reads CSV and JSON, not workbooks")
	case f.cert == "" && !f.plain && !loopback(host):
		return usagef(
			"--addr %s is reachable from other computers, and records would be sent unencrypted; give --cert and --key, or --plain behind a proxy that terminates TLS",
			f.addr)
	}
	l.Drain = max(l.Drain, time.Nanosecond) // 0 would select the default
	return nil
}

// loopback reports whether a host is reachable only from this computer.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (a *app) serve(ctx context.Context, path string, flags serveFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	release, err := readServed(path, flags)
	if err != nil {
		return err
	}
	options := serve.Options{Inputs: flags.countInputs}
	if flags.accessLog {
		options.AccessLog = a.stdout
	}
	server, err := serve.New(release, flags.limits, options)
	if err != nil {
		return fault.WithKind(fault.Data, &pathError{path, err})
	}
	scheme := "http"
	if flags.cert != "" {
		scheme = "https"
		if _, err := tls.LoadX509KeyPair(flags.cert, flags.key); err != nil {
			return fault.WithKind(fault.Usage, fmt.Errorf("--cert and --key: %w", err))
		}
	}
	at, err := (&net.ListenConfig{}).Listen(ctx, "tcp", flags.addr)
	if err != nil {
		return listenError(flags.addr, err)
	}
	debug.FreeOSMemory() // of reading the model; a server runs for a long time
	fmt.Fprintf(a.stderr, "Serving %s, which predicts %s, at %s://%s (Ctrl-C stops)\n",
		release.Model.Kind(), release.Model.Output().Target, scheme, at.Addr())
	stopReloading := a.reloadOnHangup(server, path, flags)
	defer stopReloading()
	err = server.Serve(ctx, at, flags.cert, flags.key)
	if n := server.Cut(); n > 0 {
		fmt.Fprintf(a.stderr, "note: %s aborted after %v\n",
			plural(n, "unfinished request was", "unfinished requests were"), flags.limits.Drain)
	}
	return err
}

// readServed reads a model file and the other files that a server needs.
func readServed(path string, flags serveFlags) (serve.Release, error) {
	model, err := readModel(path, "")
	if err != nil {
		return serve.Release{}, err
	}
	schema := pipeline.SchemaOf(model)
	published, _ := recipe.PublishedData(path) // without it, the header of a body shows how it is written
	reading, err := (&predictFlags{format: flags.format}).reading(schema.Numbers, published, "body.csv")
	if err != nil {
		return serve.Release{}, err
	}
	schema.Numbers = dataset.Numbers{} // the reading options, which flags can override, contain them
	content, err := os.ReadFile(path)
	if err != nil {
		return serve.Release{},
			fault.WithKind(fault.Data,
				&pathError{path, fmt.Errorf("the model cannot be read: %w", fault.Cause(err))})
	}
	sum := sha256.Sum256(content)
	release := serve.Release{
		Model:   model,
		Schema:  schema,
		Reading: reading,
		Hash:    hex.EncodeToString(sum[:]),
		Program: thisVersion().Version,
	}
	if flags.countInputs {
		release.Histograms = histogramsBeside(path, release.Hash)
	}
	return release, nil
}

// histogramsBeside returns the histograms of the report beside a model file, or nil if there is no report of the model
// with this hash. A model alone is served without them.
func histogramsBeside(path, hash string) []serve.Histogram {
	file, err := os.Open(filepath.Join(filepath.Dir(path), report.ReportFile))
	if err != nil {
		return nil
	}
	defer file.Close()
	r, err := report.Decode(file)
	if err != nil || r.Files.Model != hash {
		return nil
	}
	var out []serve.Histogram
	for _, c := range r.Card {
		out = append(out, serve.Histogram{
			Column: c.Column,
			Lower:  c.Lower,
			Upper:  c.Upper,
			Counts: c.Counts,
			Scale:  c.Scale,
		})
	}
	return out
}

// reloadOnHangup makes a server reload its model on SIGHUP, until the returned function is called. If the new model
// cannot be read, it prints the error and the server keeps its model.
func (a *app) reloadOnHangup(
	server *serve.Server,
	path string,
	flags serveFlags,
) (stop func()) {
	if !hangupReloads() {
		return func() {}
	}
	hangups := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-hangups:
				a.reload(server, path, flags)
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(done)
	}
}

// reload replaces the model of a server with the current content of its file.
func (a *app) reload(server *serve.Server, path string, flags serveFlags) {
	release, err := readServed(path, flags)
	if err == nil {
		err = server.Replace(release)
	}
	if err != nil {
		fmt.Fprintf(a.stderr,
			"dptrain: the model was not reloaded; the server keeps the previous one: %v\n", err)
		return
	}
	fmt.Fprintf(a.stderr, "Reloaded %s, SHA-256 %s\n", path, release.Hash)
}

// hangupReloads reports whether SIGHUP reloads the model of a server in this process. It does not if standard input
// is a terminal, since SIGHUP then means that the terminal was closed, or if the process ignores the signal.
func hangupReloads() bool {
	if signal.Ignored(syscall.SIGHUP) {
		return false
	}
	stdin, err := os.Stdin.Stat()
	if err != nil || stdin.Mode()&os.ModeCharDevice == 0 {
		return true
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(stdin, null)
}

// probe checks whether the server at url is ready. Any status other than 200 is an error, so that a container engine
// can use it as a health check in an image without a shell.
func probe(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return usagef("--probe %s is not a URL, such as http://127.0.0.1:8080/ready", url)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fault.WithKind(fault.Data, fmt.Errorf("--probe: %w", err))
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fault.WithKind(fault.Data,
			fmt.Errorf("--probe: %s answered with status %s", url, answer.Status))
	}
	return nil
}

// listenError returns the error for an address on which the server cannot listen.
func listenError(addr string, err error) error {
	cause := err
	var op *net.OpError
	if errors.As(err, &op) {
		cause = op.Err
	}
	var unknown *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return usagef(
			"--addr %s: the port is in use; choose another port, or port 0 for a free one",
			addr)
	case errors.Is(err, syscall.EACCES):
		return usagef("--addr %s: permission denied; choose a port of at least 1024",
			addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &unknown):
		return usagef(
			"--addr %s: this computer has no such address; use 127.0.0.1 for this computer only, or 0.0.0.0 for all of its addresses",
			addr)
	}
	return fault.WithKind(fault.Usage, fmt.Errorf("--addr %s: %w", addr, cause))
}
