package docs

import (
	"bytes"
	"fmt"
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

// buildElsewhere builds a program in a separate module, in a workspace with this module, from the module cache, with the
// flags of this build. A replaced dependency has other file names under -trimpath, and so would compile again. It returns
// the output of the go command.
func buildElsewhere(t *testing.T, source string) (string, error) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	workspace := filepath.Join(dir, "go.work")
	for name, content := range map[string]string{
		workspace: fmt.Sprintf(
			"go 1.26.0\n\nuse (\n\t.\n\t%q\n)\n",
			root,
		),
		filepath.Join(dir, "go.mod"):  "module example.com/program\n\ngo 1.26.0\n",
		filepath.Join(dir, "main.go"): source,
	} {
		err := os.WriteFile(name, []byte(content), 0o600)
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
		"GOPROXY=off",
		"GOWORK="+workspace,
	)
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = &out
	err = cmd.Run()
	return out.String(), err
}
