package docs

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// otherModule lists the packages that a program of another module may import.
var otherModule = []string{
	"context", "encoding/json", "errors", "fmt", "net/http", "os", "path/filepath",
	"github.com/dptrain/dptrain", "github.com/dptrain/dptrain/adapter/golearn",
	"github.com/dptrain/dptrain/adassp", "github.com/dptrain/dptrain/boosting",
	"github.com/dptrain/dptrain/budget", "github.com/dptrain/dptrain/dataset",
	"github.com/dptrain/dptrain/regression",
	"github.com/dptrain/dptrain/selection", "github.com/dptrain/dptrain/svm",
	"github.com/dptrain/dptrain/tukey",
}

// TestGoPageBuildsAsAnotherModule builds the programs that docs/reference/go.md shows as another module, which cannot
// import packages below internal/.
func TestGoPageBuildsAsAnotherModule(t *testing.T) {
	pages := readPages(t)
	for _, name := range []string{"docs/reference/go.md"} {
		var programs []string
		for _, b := range pages[name].Blocks {
			if b.Language == "go" {
				programs = append(programs, b.Text)
			}
		}
		if len(programs) < 5 {
			t.Errorf(
				"%s has %d programs",
				name, len(programs),
			)
		}
		if out, err := buildElsewhere(t, sourceOf(programs)); err != nil {
			t.Errorf(
				"%s: %v\n%s",
				name, err, out,
			)
		}
	}
	out, err := buildElsewhere(
		t,
		"package main\n\nimport _ \"github.com/dptrain/dptrain/internal/train/pipeline\"\n\nfunc main() {}\n",
	)
	if err == nil || !strings.Contains(out, "internal") {
		t.Errorf(
			"an import of internal/ builds: %v\n%s",
			err, out,
		)
	}
}

// sourceOf returns a file with the programs of a page. Statements outside functions become the body of a new
// function.
func sourceOf(programs []string) string {
	var body strings.Builder
	for i, p := range programs {
		if !strings.HasPrefix(p, "func ") &&
			!strings.HasPrefix(p, "type ") {
			p = fmt.Sprintf(
				"func program%d(ctx context.Context) error {\n%s}\n",
				i, p,
			)
		}
		body.WriteString("\n" + p)
	}
	var imports strings.Builder
	for _, path := range otherModule {
		if regexp.MustCompile(`\b` + filepath.Base(path) + `\.[A-Z]`).MatchString(body.String()) {
			fmt.Fprintf(&imports, "\t%q\n", path)
		}
	}
	return "package main\n\nimport (\n" + imports.String() + ")\n\nfunc main() {}\n" + body.String()
}

// buildElsewhere builds a program in a separate module, from this module and the module cache, with the flags of this
// build: other flags would compile all its dependencies again. It returns the output of the go command.
func buildElsewhere(t *testing.T, source string) (string, error) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := fs.ReadFile(tree, "go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod := strings.Replace(
		string(text),
		"module github.com/dptrain/dptrain\n",
		"module example.com/program\n",
		1,
	) +
		"\nrequire github.com/dptrain/dptrain v0.0.0\n\nreplace github.com/dptrain/dptrain => " +
		root + "\n"
	sums, err := fs.ReadFile(tree, "go.sum")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":  mod,
		"go.sum":  string(sums),
		"main.go": source,
	} {
		err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(
		t.Context(), "go", "build",
		"-o", os.DevNull, ".",
	)
	cmd.Dir = dir
	cmd.Env = append(
		slices.DeleteFunc(os.Environ(), func(v string) bool {
			return strings.HasPrefix(v, "GOWORK=")
		}),
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod",
		"GOPROXY=off",
		"GOWORK=off",
	)
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = &out
	err = cmd.Run()
	return out.String(), err
}
