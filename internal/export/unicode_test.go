package export

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// TestGoComposes checks that the tables and the code of a Go program compose text as package norm does, for every
// character of Unicode in every form, and for random sequences of characters with marks.
func TestGoComposes(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	var texts []string
	var marks, bases []rune
	for r := rune(1); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		decomposed := norm.NFD.String(string(r))
		if decomposed != string(r) ||
			norm.NFC.String(string(r)) != string(r) {
			texts = append(texts, string(r), decomposed)
			bases = append(bases, r)
		}
		if norm.NFD.PropertiesString(string(r)).CCC() > 0 {
			marks = append(marks, r)
		}
	}
	r := rand.New(rand.NewPCG(5, 5))
	for range 20000 {
		text := []rune{
			bases[r.IntN(len(bases))],
			'a' + rune(r.IntN(26)),
		}
		for range r.IntN(6) {
			text = append(text, marks[r.IntN(len(marks))])
		}
		texts = append(texts, string(text), norm.NFD.String(string(text)))
	}
	var lines bytes.Buffer
	for _, text := range texts {
		lines.WriteString(strconv.Quote(text) + "\n")
	}
	var program bytes.Buffer
	if err := Go(&program, readingModels()["reading-auto"]); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":           "module example.org/m\n\ngo 1.21\n",
		"model/model.go":   program.String(),
		"lines":            lines.String(),
		"model/compose.go": "package model\n\nfunc Compose(text string) string { return compose(text) }\n",
		"main.go": `package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"

	"example.org/m/model"
)

func main() {
	in, err := os.Open("lines")
	if err != nil {
		panic(err)
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		text, err := strconv.Unquote(lines.Text())
		if err != nil {
			panic(err)
		}
		fmt.Printf("%+q\n", model.Compose(text))
	}
}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(path, []byte(text), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(context.Background(), "go", "run", ".")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(
		strings.TrimSuffix(string(out), "\n"),
		"\n",
	)
	if len(got) != len(texts) {
		t.Fatalf(
			"%d of %d texts",
			len(got), len(texts),
		)
	}
	bad := 0
	for i, text := range texts {
		want := strconv.QuoteToASCII(norm.NFC.String(text))
		if got[i] != want {
			if bad++; bad < 10 {
				t.Errorf(
					"%+q: %s, want %s",
					text, got[i], want,
				)
			}
		}
	}
}
