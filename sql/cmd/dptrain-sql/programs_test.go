package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// asProcess makes a test process of cmd/dptrain run the program. Its keys are the same in every run.
const asProcess = "DPTRAIN_TEST_MAIN"

// builtFolder is the folder of the programs, once they are built.
var builtFolder string

// built holds the programs, which are built once.
var built = sync.OnceValues(func() (folder string, err error) {
	folder, err = os.MkdirTemp("", "dptrain-sql-test-")
	builtFolder = folder
	test := exec.Command("go", "test", "-C", "../../..", "-tags", "replay", "-c", "-o",
		filepath.Join(folder, "dptrain"), "./cmd/dptrain")
	test.Env = append(os.Environ(), "CGO_ENABLED=0") // as other tests have compiled its packages
	build := exec.Command("go", append(
		append([]string{"build", "-o", folder}, buildTags...),
		".",
	)...)
	for _, cmd := range []*exec.Cmd{test, build} {
		out, failed := cmd.CombinedOutput()
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%w: %s", failed, out))
		}
	}
	return folder, err
})

func TestMain(m *testing.M) {
	flag.Parse()
	if err := os.Setenv(asProcess, "1"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(builtFolder)
	os.Exit(code)
}

// builtDptrain returns the path of dptrain, with dptrain-sql in the same folder and keys that are the same in every
// run.
func builtDptrain(t *testing.T) (dptrain string) {
	t.Helper()
	folder, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, "dptrain")
}

// runFit runs dptrain fit and returns its exit code and its output.
func runFit(t *testing.T, program, recipe string, more ...string) (int, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "recipe.yaml")
	if err := os.WriteFile(file, []byte(recipe), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(
		t.Context(),
		program,
		append([]string{"fit", file, "--quiet"}, more...)...,
	)
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// after calls a function once the first bytes were written.
type after struct {
	bytes.Buffer
	do func()
}

func (a *after) Write(p []byte) (int, error) {
	if a.do != nil {
		a.do()
		a.do = nil
	}
	return a.Buffer.Write(p)
}
