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
	"github.com/dptrain/dptrain/internal/serve"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

const serveLong = `Answer requests for predictions over HTTP until it is told to stop. The server
holds the model, which is public, and no private data.

  POST /predict       {"records": [{"age": 41, ...}, ...]}, or CSV with a header
                      (text/csv), or one JSON object a line
                      (application/x-ndjson); the last two are answered while
                      they are read, at any length
  GET  /model         what the model predicts, and from what
  GET  /openapi.json  these paths, for programs
  GET  /health        whether the server answers
  GET  /ready         whether it takes new requests
  GET  /metrics       counts, for Prometheus; of cells with --count-inputs only

A record gets the prediction that dptrain predict gives it. CSV is read as the
recipe.yaml beside the model says; --separator and the flags after it override
that. A body that cannot be read is refused with a status of 4xx, its line and
its column. Beyond a limit the answer is 413, or 503 with Retry-After.

On SIGHUP the server reads the model file again; requests under way end with the
model they began with. (A closed terminal sends SIGHUP too: if standard input is
a terminal, the server stops.) On SIGTERM or Ctrl-C it takes no more requests,
answers those under way for the time of --drain and exits with code 0.

Other computers reach it at --addr 0.0.0.0:8080 with --cert and --key, or with
--plain behind a proxy that speaks TLS.`

// serveFlags are the flags of serve.
type serveFlags struct {
	addr, cert, key string
	plain           bool
	accessLog       bool
	countInputs     bool
	probe           string
	limits          serve.Limits
	format          keyValues
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
		"listen at `HOST:PORT`; port 0 is any free one")
	set.StringVar(&flags.cert, "cert", "", "a `FILE` with the certificate, in PEM, for HTTPS")
	set.StringVar(&flags.key, "key", "", "a `FILE` with its key, in PEM")
	set.BoolVar(&flags.plain, "plain", false, "serve other computers without TLS")
	set.Int64Var(&flags.limits.Body, "max-body", defaults.Body, "the most `BYTES` of a JSON body")
	set.Int64Var(&flags.limits.Buffered, "max-buffered", defaults.Buffered,
		"the most `BYTES` of all bodies in memory; 503 beyond")
	set.IntVar(&flags.limits.Requests, "max-requests", defaults.Requests,
		"the most requests that are answered at once, a `NUMBER`; 503 beyond")
	set.IntVar(&flags.limits.Connections, "max-connections", 1024,
		"the most connections, a `NUMBER`")
	set.IntVar(&flags.limits.PerClient, "max-per-client", 256,
		"the most connections from one address, a `NUMBER`")
	set.DurationVar(&flags.limits.Idle, "idle", defaults.Idle,
		"how long a client may keep the server waiting, a `TIME`")
	set.DurationVar(&flags.limits.Drain, "drain", defaults.Drain,
		"how long requests under way may take when it stops, a `TIME`")
	set.BoolVar(&flags.accessLog, "access-log", false,
		"print a JSON object for each answer on standard output")
	set.BoolVar(&flags.countInputs, "count-inputs", false,
		"count missing, unknown and out-of-range cells by column in /metrics, and compare numbers with the histograms of the report")
	set.StringVar(&flags.probe, "probe", "",
		"ask a server at `URL`, such as http://127.0.0.1:8080/ready, and exit with 0 if it answers with 200")
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
		return usagef("--cert and --key go together")
	}
	l := &f.limits
	for name, value := range map[string]int64{
		"max-body": l.Body, "max-buffered": l.Buffered, "max-requests": int64(l.Requests),
		"max-connections": int64(l.Connections), "max-per-client": int64(l.PerClient),
	} {
		if value < 1 {
			return usagef("--%s must be at least 1", name)
		}
	}
	switch {
	case l.Idle <= 0 || l.Drain < 0:
		return usagef("--idle must be more than 0s, and --drain at least 0s")
	case l.Body > l.Buffered:
		return usagef("--max-body %d is more than --max-buffered %d, the most bytes of all bodies",
			l.Body, l.Buffered)
	case f.format.set.Changed("sheet"):
		return usagef("--sheet is for workbooks, and a body is CSV or JSON")
	case f.cert == "" && !f.plain && !loopback(host):
		return usagef(
			"--addr %s can be reached by other computers, and records would travel unencrypted; give --cert and --key, or --plain behind a proxy that speaks TLS",
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
		fmt.Fprintf(a.stderr, "note: %s not complete after %v and cut off\n",
			plural(n, "request was", "requests were"), flags.limits.Drain)
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
	reading, err := (&predictFlags{format: flags.format}).reading(schema.Numbers, path, "body.csv")
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
func (a *app) reloadOnHangup(server *serve.Server, path string, flags serveFlags) (stop func()) {
	if !hangupReloads() {
		return func() {}
	}
	hangups, done := make(chan os.Signal, 1), make(chan struct{})
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
			"dptrain: the model was not reloaded, the server keeps the earlier one: %v\n", err)
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
			fmt.Errorf("--probe: %s answers with %s", url, answer.Status))
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
			"--addr %s: another program listens there; choose another port, or port 0 for any free one",
			addr)
	case errors.Is(err, syscall.EACCES):
		return usagef("--addr %s: listening there is not permitted; choose a port from 1024 on",
			addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &unknown):
		return usagef(
			"--addr %s: this computer has no such address; 127.0.0.1 is this computer alone, and 0.0.0.0 all of its addresses",
			addr)
	}
	return fault.WithKind(fault.Usage, fmt.Errorf("--addr %s: %w", addr, cause))
}
