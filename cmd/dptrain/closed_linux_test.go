package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestClosedOutput checks that every command reports a usage error if standard output was closed by the shell or is
// on a full disk. The null device is valid, whoever opened it.
func TestClosedOutput(t *testing.T) {
	chdirTemp(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "line.csv", lineCSV(50))
	writeFile(t, "recipe.yaml", goodRecipe)
	writeFile(t, "model.json", modelJSON)
	writeFile(t, "new.csv", newCSV)
	got := dptrain(t, "ledger", "init", "my.ledger",
		"--dataset", "houses",
		"--epsilon", "3",
	)
	if got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if got := dptrain(t, "fit", "recipe.yaml", "--out", "done", "-q"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	// run executes a list of shell commands in separate processes, with the exit code of dptrain printed to standard
	// error.
	run := func(redirect, args string) string {
		cmd := exec.CommandContext(
			t.Context(),
			"sh",
			"-c",
			fmt.Sprintf(
				"%q %s %s 2>/dev/null; echo $? >&2",
				self, args, redirect,
			),
		)
		cmd.Env = append(
			os.Environ(), asProcess+"=1",
			"GOCOVERDIR="+t.TempDir(),
		)
		var codes strings.Builder
		cmd.Stderr = &codes
		cmd.Stdout = &strings.Builder{}
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(codes.String())
	}
	for i, args := range []string{
		"version", "--help", "help exit-codes", "schema", "man", "completion bash",
		"init line.csv --target y", "check recipe.yaml",
		"plan recipe.yaml", "plan recipe.yaml --json", "predict model.json new.csv", "report done",
		"report done --format html", "verify done/release",
		"ledger show my.ledger", "ledger verify my.ledger", "ledger export my.ledger",
		"fit recipe.yaml --out out%d",
	} {
		for k, redirect := range []string{">&-", ">/dev/full"} {
			at := strings.ReplaceAll(
				args, "%d",
				fmt.Sprint(i, "-", k),
			)
			got := run(redirect, at)
			if got != "2" {
				t.Errorf(
					"%s %s: code %s",
					at, redirect, got,
				)
			}
		}
	}
	if got := run(">/dev/null", "version"); got != "0" {
		t.Errorf("the null device: code %s", got)
	}
	if got := runProcess(t, nil, "version"); got.code != 0 { // package os/exec opens the null device for both streams
		t.Errorf("the null device of another program: %+v", got)
	}
}
