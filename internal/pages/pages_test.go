package pages_test

import (
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/pages"
)

func TestParse(t *testing.T) {
	p, err := pages.Parse("a.md", "# A `b`: c²\n\n```sh no-run: it takes minutes\nls\n```\ntext\n```console exit=3 file=x\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Headings(); !slices.Equal(got, []string{"A `b`: c²"}) {
		t.Errorf("headings %q", got)
	}
	if got := pages.Anchor(p.Headings()[0]); got != "a-b-c" {
		t.Errorf("anchor %q", got)
	}
	want := []pages.Block{
		{Line: 3, Language: "sh", Options: "no-run: it takes minutes", Text: "ls\n"},
		{Line: 7, Language: "console", Options: "exit=3 file=x"},
	}
	if !slices.Equal(p.Blocks, want) {
		t.Errorf("blocks %+v, want %+v", p.Blocks, want)
	}
	if reason, ok := p.Blocks[0].Skipped(); !ok || reason != "it takes minutes" {
		t.Errorf("%q, %v", reason, ok)
	}
	if _, ok := p.Blocks[1].Skipped(); ok || p.Blocks[1].Option("exit") != "3" || p.Blocks[1].Option("e") != "" {
		t.Errorf("options of %+v", p.Blocks[1])
	}
	if len(p.Prose) != 4 || p.Prose[2] != (pages.Line{Number: 6, Text: "text"}) {
		t.Errorf("prose %+v", p.Prose)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"```sh\nls\n", "* a\n  ```sh\n"} {
		if _, err := pages.Parse("a.md", text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
