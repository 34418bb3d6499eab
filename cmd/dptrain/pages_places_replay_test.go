//go:build replay

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/testkit/pages"
)

// A place is a folder and an environment for the commands of a page.
type place struct {
	dir string
	env []string
}

// places maps the values of in= in a block to places. A block without in= runs in the folder of its page.
var places = map[string]func(*pageRun, *testing.T) place{
	"": func(r *pageRun, _ *testing.T) place {
		return place{r.dir, r.env}
	},
	"source": func(r *pageRun, _ *testing.T) place {
		return place{r.root, r.env}
	}, // commands write only to $RUN
	"copy":      (*pageRun).cloneSources,
	"github":    (*pageRun).githubPlace,
	"proxy":     (*pageRun).proxyPlace,
	"release":   (*pageRun).releasePlace,
	"image":     (*pageRun).imagePlace,
	"databases": (*pageRun).databasesPlace,
	"numpy":     (*pageRun).numpyPlace,
}

// runCommands runs a block of commands. Every command must succeed.
func (r *pageRun) runCommands(t *testing.T, b pages.Block) {
	make, ok := places[b.Option("in")]
	if !ok {
		t.Fatalf(
			"there is no place %q",
			b.Option("in"),
		)
	}
	if b.Has("tables") {
		err := os.Symlink(
			testkit.PublicData(t),
			filepath.Join(r.dir, "tables"),
		)
		if err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	}
	for name := range strings.SplitSeq(b.Option("needs"), ",") {
		_, err := exec.LookPath(name)
		if name != "" && err != nil {
			t.Skipf("there is no %s", name)
		}
	}
	at := make(r, t)
	text := r.linesToRun(t, b.Commands(*pagesQuick || *pagesBy == pages.Tests))
	if b.Has("background") {
		at.runBackground(t, text)
		return
	}
	started := time.Now()
	printed, code := at.runShell(t, "set -e\n"+text)
	if code != 0 {
		t.Errorf(
			"exit code %d:\n%s",
			code, printed,
		)
	}
	t.Logf(
		"%s\n%s\n%.1f s",
		text, lastLines(printed, 12),
		time.Since(started).Seconds(),
	)
}

func lastLines(text string, n int) string {
	lines := splitLines(text)
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}

// linesToRun returns the lines to run here. It omits the steps of .ci/run, which runs them itself, and calls of
// scripts/long.sh, which are run manually.
func (r *pageRun) linesToRun(t *testing.T, text string) string {
	ci := readFile(t, filepath.Join(r.root, ".ci", "run"))
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(ci, " "+line) ||
			strings.HasPrefix(line, "scripts/long.sh") {
			continue
		}
		if strings.HasPrefix(line, "go test") &&
			strings.Contains(line, "./...") {
			t.Fatalf(
				".ci/run has no step %q, and a test that ran it would run itself",
				strings.TrimSpace(line),
			)
		}
		out.WriteString(line)
	}
	return out.String()
}

// runShell runs a script and returns its output on both streams and its exit code.
func (p place) runShell(t *testing.T, script string) (text string, code int) {
	t.Helper()
	var printed bytes.Buffer
	cmd := p.shellCommand(t, script)
	cmd.Stdout = &printed
	cmd.Stderr = &printed
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return printed.String(), cmd.ProcessState.ExitCode()
}

func (p place) shellCommand(t *testing.T, script string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = p.dir
	cmd.Env = p.env
	return cmd
}

// mustRun runs a preparatory script, which must succeed.
func (p place) mustRun(t *testing.T, script string) {
	t.Helper()
	text, code := p.runShell(t, "set -e\n"+script)
	if code != 0 {
		t.Fatalf(
			"exit code %d of\n%s\n%s",
			code, script, text,
		)
	}
}

// runBackground starts a command that runs until it is stopped, runs the lines below it or, if there are no such lines,
// fetches the address that it prints, and then stops it, which must succeed. It replaces the port on the page, 8080 or
// 8081, by a free one.
func (p place) runBackground(t *testing.T, text string) {
	before, last, after := splitAtServer(text)
	port := freePort(t)
	swap := func(s string) string {
		return strings.NewReplacer("8080", port, "8081", port).Replace(s)
	}
	said := &lockedBuffer{}
	cmd := p.shellCommand(
		t,
		swap("set -e\n"+before+"exec "+last),
	)
	cmd.Stdout = said
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
	}()
	address := ""
	for range 600 {
		address = regexp.MustCompile(`http://[^\s#]+`).FindString(said.String())
		if address != "" {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if address == "" {
		t.Fatalf(
			"it does not say where it serves:\n%s",
			said.String(),
		)
	}
	if strings.TrimSpace(after) == "" {
		p.fetchPage(t, address)
	} else if printed, code := p.runShell(t,
		swap("set -e\n"+strings.ReplaceAll(after, "curl ", "curl -fsS "))); code != 0 ||
		strings.Count(printed, "\"prediction")+strings.Count(printed, "prediction\n") == 0 {
		t.Errorf(
			"exit code %d:\n%s",
			code, printed,
		)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf(
			"%v:\n%s",
			err, said.String(),
		)
	}
}

// fetchPage fetches a page and checks the status.
func (p place) fetchPage(t *testing.T, address string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("%s: %s", address, answer.Status)
	}
}

// splitAtServer splits a block at the command that keeps running.
func splitAtServer(text string) (before, last, after string) {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "dptrain serve") ||
			strings.HasPrefix(line, "dptrain ui") {
			return strings.Join(lines[:i], ""), line, strings.Join(lines[i+1:], "")
		}
	}
	return text, "false", ""
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(
		t.Context(), "tcp",
		"127.0.0.1:0",
	)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// cloneSources returns a clone of the commit that commands may write to.
func (r *pageRun) cloneSources(t *testing.T) place {
	_, err := os.Stat(filepath.Join(r.root, ".git"))
	if err != nil {
		t.Skip("the sources are no repository of git")
	}
	at := place{filepath.Join(t.TempDir(), "dptrain"), r.env}
	place{r.dir, r.env}.mustRun(
		t,
		fmt.Sprintf("git clone -q %q %q", r.root, at.dir),
	)
	return at
}

// numpyPlace returns a clone with a Python that has the libraries of scripts/runtimes.sh.
func (r *pageRun) numpyPlace(t *testing.T) place {
	if os.Getenv("DPTRAIN_PYTHON") == "" {
		t.Skip("scripts/runtimes.sh has no Python")
	}
	at := r.cloneSources(t)
	at.env = append(at.env, "PYTHON="+os.Getenv("DPTRAIN_PYTHON"))
	return at
}

// githubPlace returns an empty folder in which a GitHub address refers to these sources. Builds contain no local paths,
// so that one build serves every run.
func (r *pageRun) githubPlace(t *testing.T) place {
	_, err := os.Stat(filepath.Join(r.root, ".git"))
	if err != nil {
		t.Skip("the sources are no repository of git")
	}
	return place{t.TempDir(), append(
		r.env,
		portableFlags("-buildvcs=false"),
		"GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url."+r.root+".insteadOf",
		"GIT_CONFIG_VALUE_0=https://github.com/dptrain/dptrain",
	)}
}

// portableFlags returns a setting of GOFLAGS by which builds contain no local paths. It keeps the flags of this run, so that
// packages are not compiled again.
func portableFlags(more ...string) string {
	flags := strings.Fields(os.Getenv("GOFLAGS"))
	if !slices.Contains(flags, "-trimpath") {
		more = append(more, "-trimpath")
	}
	return "GOFLAGS=" + strings.Join(append(flags, more...), " ")
}

// proxyPlace returns an empty folder with a module proxy in which these sources are version 1.0.0-rc.1, without the
// nested modules, as in a module archive. Other modules come from their usual source.
func (r *pageRun) proxyPlace(t *testing.T) place {
	const module = "github.com/dptrain/dptrain"
	at := r.cloneSources(t)
	folder := t.TempDir()
	versions := filepath.Join(folder, module, "@v")
	if err := os.MkdirAll(versions, 0o700); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	if err := os.RemoveAll(filepath.Join(at.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(at.dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != at.dir {
			_, err := os.Stat(filepath.Join(name, "go.mod"))
			if err == nil {
				return fs.SkipDir
			}
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		below, err := filepath.Rel(at.dir, name)
		if err != nil {
			return err
		}
		w, err := z.Create(module + "@v1.0.0-rc.1/" + filepath.ToSlash(below))
		if err == nil {
			_, err = w.Write([]byte(readFile(t, name)))
		}
		return err
	})
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(
		map[string]string{
			"Version": "v1.0.0-rc.1",
			"Time":    "2026-01-01T00:00:00Z",
		})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list":             "v1.0.0-rc.1\n",
		"v1.0.0-rc.1.info": string(info),
		"v1.0.0-rc.1.mod": readFile(
			t,
			filepath.Join(at.dir, "go.mod"),
		),
		"v1.0.0-rc.1.zip": packed.String(),
	} {
		writeFile(t, filepath.Join(versions, name), text)
	}
	cache := t.TempDir()
	bin := t.TempDir()
	known, _ := place{r.dir, r.env}.runShell(t, "go env GOMODCACHE GOPROXY")
	lines := splitLines(known)
	t.Cleanup(func() { // the module cache is read-only
		cmd := exec.CommandContext(context.Background(), "go", "clean", "-modcache") //nolint:usetesting // after the test
		cmd.Env = append(os.Environ(), "GOMODCACHE="+cache)
		if err := cmd.Run(); err != nil {
			t.Error(err)
		}
	})
	return place{
		r.dir,
		append(
			r.env,
			portableFlags(),
			"GOBIN="+bin,
			"GOMODCACHE="+cache,
			"GONOSUMDB="+module,
			"GOPROXY=file://"+folder+",file://"+filepath.Join(
				lines[0],
				"cache",
				"download",
			)+","+
				lines[1],
		),
	}
}

// releasePlace returns a folder with the output of scripts/release.sh for this platform, and a Python environment without
// network access. Its libraries are those of DPTRAIN_PYTHON (scripts/runtimes.sh).
func (r *pageRun) releasePlace(t *testing.T) place {
	python := os.Getenv("DPTRAIN_PYTHON")
	if python == "" {
		t.Skip("scripts/runtimes.sh has no Python")
	}
	at := r.cloneSources(t)
	at.mustRun(t, "scripts/release.sh --here")
	dist := place{
		filepath.Join(at.dir, "dist"),
		append(
			r.env,
			"PIP_NO_INDEX=1",
			"PIP_DISABLE_PIP_VERSION_CHECK=1",
			"PATH="+filepath.Join(at.dir, "dist", "env", "bin")+":"+os.Getenv("PATH"),
		),
	}
	dist.mustRun(t, fmt.Sprintf(`%q -m venv env
%q -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > "$(env/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/libraries.pth"`, python, python))
	return dist
}

// podman replaces podman by buildah if podman is not installed. It supports the commands used by the pages, in a
// separate root folder.
const podman = `#!/bin/bash
set -euo pipefail
case $1 in
build) exec buildah bud -q --isolation chroot -t "localhost/$3" "$4" ;;
run)
  shift
  volumes=() user=''
  while [[ $1 == -* ]]; do
    case $1 in
    --rm) shift ;;
    -v) volumes+=(-v "$2") && shift 2 ;;
    --user) user=$2 && shift 2 ;;
    *) shift 2 ;;
    esac
  done
  container=$(buildah from "localhost/$1")
  trap 'buildah rm "$container" >/dev/null; buildah rmi "localhost/'"$1"'" >/dev/null' EXIT
  shift
  buildah run --isolation chroot --user "$user" "${volumes[@]}" "$container" -- /dptrain "$@"
  ;;
esac
`

// imagePlace returns a clone of the commit next to a table, with podman or its replacement on the path.
func (r *pageRun) imagePlace(t *testing.T) place {
	at := r.cloneSources(t)
	writeFile(
		t,
		filepath.Join(at.dir, "houses.csv"),
		readFile(t, filepath.Join(r.dir, "testdata", "houses.csv")),
	)
	if _, err := exec.LookPath("podman"); err == nil {
		return at
	}
	bin := t.TempDir()
	err := os.WriteFile(
		filepath.Join(bin, "podman"),
		[]byte(podman), 0o700,
	)
	if err != nil { //nolint:gosec // it is executed
		t.Fatal(err)
	}
	at.env = append(
		at.env,
		"PATH="+bin+":"+os.Getenv("PATH"),
	)
	return at
}

// databasesPlace returns a folder with the shop example in three databases. If there is no DuckDB command, a script with
// its Python library replaces it; the Postgres server is that of scripts/runtimes.sh.
func (r *pageRun) databasesPlace(t *testing.T) place {
	python := os.Getenv("DPTRAIN_PYTHON")
	server := os.Getenv("DPTRAIN_POSTGRES")
	if python == "" || server == "" {
		t.Skip("scripts/runtimes.sh has no Python or no Postgres")
	}
	at := place{r.dir, r.env}
	bin := t.TempDir()
	if _, err := exec.LookPath("duckdb"); err != nil {
		script := fmt.Sprintf(
			"#!/bin/sh\nexec %q -c 'import sys, duckdb; duckdb.connect(sys.argv[1]).execute(sys.argv[3])' \"$@\"\n",
			python)
		err := os.WriteFile(
			filepath.Join(bin, "duckdb"),
			[]byte(script), 0o700,
		)
		if err != nil { //nolint:gosec // it is executed
			t.Fatal(err)
		}
	}
	at.env = append(
		at.env,
		"PATH="+bin+":"+os.Getenv("PATH"),
	)
	for field := range strings.FieldsSeq(server) {
		switch name, value, _ := strings.Cut(field, "="); name {
		case "host":
			at.env = append(at.env, "PGHOST="+value)
		case "user":
			at.env = append(at.env, "PGUSER="+value)
		}
	}
	at.mustRun(t, `duckdb shop.duckdb -c "CREATE TABLE houses AS FROM read_csv('testdata/houses.csv')"
sqlite3 shop.db ".import --csv testdata/houses.csv houses"
psql -q postgres -c "DROP DATABASE IF EXISTS shop" -c "CREATE DATABASE shop"
psql -q shop -c "CREATE TABLE houses (area float8, rooms float8, age float8, distance float8, latitude float8, longitude float8, quality float8, garden float8, ocean text, price float8)" \
  -c "\copy houses FROM 'testdata/houses.csv' CSV HEADER"`)
	return at
}
