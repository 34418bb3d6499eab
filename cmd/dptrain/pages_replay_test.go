//go:build replay

package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/internal/noise/secret"
	"github.com/dptrain/dptrain/internal/testkit/pages"
)

// Flags that scripts/long.sh pages sets: who runs the selected blocks, and whether the quick settings apply.
var (
	pagesBy = flag.String(
		"by",
		pages.Tests,
		"run the blocks of the pages that `WHO` runs",
	)
	pagesQuick = flag.Bool("quick", false, "run blocks by=long with their quick settings")
)

// TestPages runs every command on the pages, in the order of each page, in a folder with copies of testdata/ and
// examples/, and compares the output with the page. Noise uses the keys of the tests and is the same in every run;
// -update rewrites the output on the pages. With -by long it runs the blocks that take too long for a test, with the
// real program.
func TestPages(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the pages are written for a Unix shell")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	program := ""
	if *pagesBy == pages.Long {
		program = builtProgram(t, root)
	}
	commands := 0
	t.Run("page", func(t *testing.T) {
		for _, path := range pagesWithCommands(t, root) {
			p := parsePage(t, path)
			commands += len(p.Blocks)
			if !slices.ContainsFunc(p.Blocks, func(b pages.Block) bool {
				return b.Runner() == *pagesBy
			}) {
				continue
			}
			t.Run(strings.TrimPrefix(path, root+"/"), func(t *testing.T) {
				if program == "" {
					t.Parallel()
				}
				newPageRun(t, root, program, p).runPage(t)
			})
		}
	})
	if commands < 20 {
		t.Errorf("%d blocks", commands)
	}
}

// builtProgram builds dptrain as users do, with fresh noise.
func builtProgram(t *testing.T, root string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dptrain")
	cmd := exec.CommandContext(
		t.Context(), "go", "build",
		"-o", path,
		"./cmd/dptrain",
	)
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return path
}

func pagesWithCommands(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{
		"*.md",
		"docs/*.md",
		"docs/*/*.md",
	} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.Contains(readFile(t, path), "\n```") {
				out = append(out, path)
			}
		}
	}
	return out
}

func parsePage(t *testing.T, path string) pages.Page {
	t.Helper()
	p, err := pages.Parse(path, readFile(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A pageRun runs one page in a folder of its own.
type pageRun struct {
	page pages.Page
	root string   // the repository
	dir  string   // the working directory of the commands
	env  []string // with dptrain on the path
}

// newPageRun creates the folder. If program is empty, dptrain is this test binary, with the keys of the tests.
func newPageRun(t *testing.T, root, program string, p pages.Page) *pageRun {
	t.Helper()
	r := &pageRun{
		page: p,
		root: root,
		dir:  t.TempDir(),
	}
	for _, folder := range []string{"testdata", "examples"} {
		err := os.CopyFS(
			filepath.Join(r.dir, folder),
			os.DirFS(filepath.Join(root, folder)),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := fmt.Sprintf(
		"#!/bin/sh\n%s=1 GOCOVERDIR=%q exec %q \"$@\"\n",
		asProcess,
		bin,
		self,
	)
	if program != "" {
		script = fmt.Sprintf(
			"#!/bin/sh\nexec %q \"$@\"\n",
			program,
		)
	}
	err = os.WriteFile(filepath.Join(bin, "dptrain"), []byte(script), 0o700)
	if err != nil { //nolint:gosec // it is executed
		t.Fatal(err)
	}
	r.env = append(
		os.Environ(),
		secret.SeedVariable+"=",
		"RUN="+r.dir,
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
	)
	return r
}

// runPage runs the blocks one after another.
func (r *pageRun) runPage(t *testing.T) {
	lines := slices.Clone(r.page.Lines)
	for _, b := range slices.Backward(r.runBlocks(t)) {
		lines = slices.Replace(
			lines,
			b.Line,
			b.Line+strings.Count(b.Text, "\n"),
			splitLines(b.shown)...,
		)
	}
	if *update {
		writeFile(t, r.page.Path, strings.Join(lines, "\n"))
	}
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// A doneBlock is a block with its output after a run.
type doneBlock struct {
	pages.Block
	shown string
}

func (r *pageRun) runBlocks(t *testing.T) []doneBlock {
	t.Helper()
	var out []doneBlock
	for _, b := range r.page.Blocks {
		name := b.Option("file")
		if name != "" {
			writeFile(t, filepath.Join(r.dir, name), b.Text)
		}
		switch {
		case b.Runner() != *pagesBy:
		case b.Language == "sh":
			t.Run(fmt.Sprintf("line %d", b.Line), func(t *testing.T) {
				r.runCommands(t, b)
			})
		case b.Language == "console":
			out = append(out, r.runConsole(t, b))
		}
	}
	return out
}

// runConsole runs the commands of a block and compares their output. With -update they run as the page shows them, and
// otherwise with its quick settings.
func (r *pageRun) runConsole(t *testing.T, b pages.Block) doneBlock {
	t.Helper()
	var got strings.Builder
	code := 0
	quick := commandsOf(b.Commands(!*update))
	for i, command := range commandsOf(b.Text) {
		var text string
		text, code = place{r.dir, r.env}.runShell(t, quick[i])
		text = strings.ReplaceAll(text, r.dir, "DIR")
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		fmt.Fprintf(&got, "$ %s\n%s", command, text)
	}
	if want, _ := strconv.Atoi(b.Option("exit")); code != want {
		t.Errorf(
			"line %d: exit code %d, want %d",
			b.Line, code, want,
		)
	}
	want := b.Text
	compared := maskMoments
	if slices.Contains(strings.Fields(b.Options), "varies") {
		compared = wordsOf
	}
	if compared(want) == compared(got.String()) {
		return doneBlock{b, want}
	}
	// The releases are the same on every processor, but the last digits of derived values are not.
	if !*update && runtime.GOARCH == "amd64" {
		t.Errorf(
			"line %d shows something else (-want +got; -update writes it):\n%s",
			b.Line,
			cmp.Diff(want, got.String()),
		)
	}
	return doneBlock{b, got.String()}
}

// commandsOf returns the commands of a block, which follow "$ ". A line that ends with a backslash continues on the
// next line.
func commandsOf(text string) []string {
	var out []string
	goesOn := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch command, ok := strings.CutPrefix(line, "$ "); {
		case goesOn:
			out[len(out)-1] += "\n" + line
		case ok:
			out = append(out, command)
		default:
			continue
		}
		goesOn = strings.HasSuffix(line, `\`)
	}
	return out
}

var (
	number = regexp.MustCompile(`-?\d+(\.\d+)?(e[+-]\d+)?`)
	gap    = regexp.MustCompile(`[ -]{2,}`)
	moment = regexp.MustCompile(`\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?`)
	digest = regexp.MustCompile(`\b[0-9a-f]{12,64}\b`)
)

// maskMoments replaces values that differ in every run: times, and the digests that depend on them.
func maskMoments(text string) string {
	return digest.ReplaceAllString(moment.ReplaceAllString(text, "MOMENT"), "DIGEST")
}

// wordsOf removes numbers and the widths of their columns. The order in which concurrent sessions obtain their keys
// is not fixed.
func wordsOf(text string) string {
	return gap.ReplaceAllString(number.ReplaceAllString(text, "N"), "  ")
}
