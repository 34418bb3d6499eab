package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/internal/recipe"
)

// TestKeyFlags checks that every row of the table has a recipe key and a help text, and that every command of the
// flag declares it.
func TestKeyFlags(t *testing.T) {
	keys := map[string]bool{
		"data.columns":     true,
		"budget":           true,
		"describe.columns": true,
		"describe.by":      true,
	}
	for _, k := range recipe.AllKeys() {
		keys[k.Path] = true
	}
	root := rootCommand(&app{})
	seen := map[string]bool{}
	for _, f := range keyFlags {
		if f.key == "" && f.settings == nil ||
			f.key != "" && !keys[f.key] {
			t.Errorf(
				"--%s sets %q, which is no key of a recipe",
				f.name, f.key,
			)
		}
		for _, command := range f.commands {
			cmd, _, err := root.Find([]string{command})
			if err != nil || cmd.Name() != command {
				t.Fatalf(
					"--%s: there is no command %s",
					f.name, command,
				)
			}
			declared := cmd.Flags().Lookup(f.name)
			if declared == nil || declared.Usage != f.helpFor(command) {
				t.Errorf(
					"%s --%s is not declared by its row: %+v",
					command, f.name, declared,
				)
			}
			if seen[command+" "+f.name] {
				t.Errorf(
					"%s has two rows for --%s",
					command, f.name,
				)
			}
			seen[command+" "+f.name] = true
		}
		for command := range f.helpOf {
			if !f.has(command) {
				t.Errorf(
					"--%s has a help for %s, which does not have the flag",
					f.name,
					command,
				)
			}
		}
	}
}

// pythonFlags returns the Python module that lists the flags of the estimators.
func pythonFlags() string {
	lists := map[pythonForm][]string{}
	for _, f := range keyFlags {
		if f.python != noPython &&
			!slices.Contains(lists[f.python], f.name) {
			lists[f.python] = append(lists[f.python], f.name)
		}
	}
	var b strings.Builder
	b.WriteString(
		"\"\"\"Parameters of the estimators that are flags of the program, by how a value is written.\n\n" +
			"Made from the flags: go test ./cmd/dptrain -run TestPythonFlags -update\n\"\"\"\n")
	for _, x := range []struct {
		name, comment string
		form          pythonForm
	}{
		{"VALUES", "--flag=VALUE", pythonValue},
		{"LISTS", "--flag=A,B", pythonList},
		{"DICTS", "--flag=NAME=VALUE for each item", pythonDict},
	} {
		fmt.Fprintf(
			&b,
			"\n# %s\n%s = (\n",
			x.comment, x.name,
		)
		for _, name := range lists[x.form] {
			fmt.Fprintf(
				&b, "    %q,\n",
				strings.ReplaceAll(name, "-", "_"),
			)
		}
		b.WriteString(")\n")
	}
	return b.String()
}

// TestPythonFlags checks that the flags of the Python estimators match the table, and that each is a documented
// parameter.
func TestPythonFlags(t *testing.T) {
	folder := filepath.Join("..", "..", "python", "dptrain")
	path := filepath.Join(folder, "_flags.py")
	want := pythonFlags()
	if *update {
		err := os.WriteFile(path, []byte(want), 0o644)
		if err != nil {
			t.Fatal(err)
		}
	}
	diff := cmp.Diff(want, readFile(t, path))
	if diff != "" {
		t.Errorf(
			"-want +got; -update writes it:\n%s",
			diff,
		)
	}
	estimators := readFile(t, filepath.Join(folder, "_estimators.py"))
	for _, f := range keyFlags {
		if f.python == noPython {
			continue
		}
		name := strings.ReplaceAll(f.name, "-", "_")
		if !strings.Contains(estimators, "\n    "+name+": \"") ||
			!strings.Contains(estimators, "\n    "+name+" : ") {
			t.Errorf("%s is no documented parameter of the estimators", name)
		}
	}
}
