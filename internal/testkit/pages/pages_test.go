package pages_test

import (
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit/pages"
)

func TestParse(t *testing.T) {
	p, err := pages.Parse(
		"a.md",
		"# A `b`: c²\n\n```sh by=long put=a:b+c quick=10:1: it takes 10 minutes\nls a --trials 10 a10\n```\ntext\n```console exit=3 file=x\n```\n",
	)
	if err != nil {
		t.Fatal(err)
	}
	got := p.Headings()
	if !slices.Equal(got, []string{"A `b`: c²"}) {
		t.Errorf("headings %q", got)
	}
	if got := pages.Anchor(p.Headings()[0]); got != "a-b-c" {
		t.Errorf("anchor %q", got)
	}
	want := []pages.Block{
		{
			Line:     3,
			Language: "sh",
			Options:  "by=long put=a:b+c quick=10:1: it takes 10 minutes",
			Text:     "ls a --trials 10 a10\n",
		},
		{
			Line:     7,
			Language: "console",
			Options:  "exit=3 file=x",
		},
	}
	if !slices.Equal(p.Blocks, want) {
		t.Errorf(
			"blocks %+v, want %+v",
			p.Blocks, want,
		)
	}
	long := p.Blocks[0]
	console := p.Blocks[1]
	if long.Runner() != pages.Long ||
		long.Reason() != "it takes 10 minutes" ||
		len(long.Unknown()) > 0 {
		t.Errorf(
			"by %s, %q",
			long.Runner(), long.Reason(),
		)
	}
	if whole, quick := long.Commands(false),
		long.Commands(true); whole != "ls b c --trials 10 a10\n" ||
		quick != "ls b c --trials 1 a10\n" {
		t.Errorf("%q, %q", whole, quick)
	}
	if console.Runner() != pages.Tests ||
		console.Reason() != "" ||
		console.Option("exit") != "3" ||
		console.Option("e") != "" ||
		console.Has("exit") {
		t.Errorf("options of %+v", console)
	}
	odd := (pages.Block{Options: "no-run: minutes"}).Unknown()
	if !slices.Equal(odd, []string{"no-run"}) {
		t.Errorf("%q", odd)
	}
	if len(p.Prose) != 4 ||
		p.Prose[2] != (pages.Line{Number: 6, Text: "text"}) {
		t.Errorf("prose %+v", p.Prose)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"```sh\nls\n",
		"* a\n  ```sh\n",
	} {
		_, err := pages.Parse("a.md", text)
		if err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
