// Package docs tests the pages of this folder and those at the root of the repository: links,
// and citations of pages in the code.
package docs

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit/pages"
)

// tree is the file system of the repository.
var tree = os.DirFS("..")

// filesOf returns the files of the repository with one of the extensions.
func filesOf(t *testing.T, extensions ...string) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() &&
			name != "." &&
			strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		for _, e := range extensions {
			if !d.IsDir() && path.Ext(name) == e {
				out = append(out, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// readPages returns every page of the repository, by path.
func readPages(t *testing.T) map[string]pages.Page {
	t.Helper()
	out := map[string]pages.Page{}
	for _, name := range filesOf(t, ".md") {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pages.Parse(name, string(text))
		if err != nil {
			t.Error(err)
		}
		out[name] = p
	}
	if len(out) < 30 {
		t.Fatalf("%d pages", len(out))
	}
	return out
}

// headingAnchors returns the anchors of the headings of a page.
func headingAnchors(p pages.Page) map[string]bool {
	out := map[string]bool{}
	for _, h := range p.Headings() {
		out[pages.Anchor(h)] = true
	}
	return out
}

var (
	code     = regexp.MustCompile("`[^`]*`")
	linkMark = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]*)\)`)
)

// relativeLinks returns the relative targets of the links of a line.
func relativeLinks(text string) []string {
	var out []string
	for _, m := range linkMark.FindAllStringSubmatch(
		code.ReplaceAllString(text, "code"),
		-1,
	) {
		if !strings.Contains(m[1], "://") &&
			!strings.HasPrefix(m[1], "mailto:") {
			out = append(out, m[1])
		}
	}
	return out
}

// TestLinks checks that every relative link leads to a file, and every anchor to a heading.
func TestLinks(t *testing.T) {
	all := readPages(t)
	for _, p := range all {
		for _, l := range p.Prose {
			for _, target := range relativeLinks(l.Text) {
				file, fragment, _ := strings.Cut(target, "#")
				to := path.Join(path.Dir(p.Path), file)
				if file == "" {
					to = p.Path
				}
				if _, err := fs.Stat(tree, to); err != nil {
					t.Errorf(
						"%s:%d: %s leads nowhere",
						p.Path, l.Number, target,
					)
				} else if fragment != "" && !headingAnchors(all[to])[fragment] {
					t.Errorf(
						"%s:%d: %s has no heading for #%s",
						p.Path,
						l.Number,
						to,
						fragment,
					)
				}
			}
		}
	}
}

// TestReadmeLinksToEveryPage checks that docs/README.md links to every page of this folder, and that the root page
// links to docs/README.md.
func TestReadmeLinksToEveryPage(t *testing.T) {
	all := readPages(t)
	linked := map[string]bool{"docs/README.md": false}
	for _, l := range all["docs/README.md"].Prose {
		for _, target := range relativeLinks(l.Text) {
			file, _, _ := strings.Cut(target, "#")
			linked[path.Join("docs", file)] = true
		}
	}
	for _, l := range all["README.md"].Prose {
		for _, target := range relativeLinks(l.Text) {
			linked["docs/README.md"] = linked["docs/README.md"] ||
				target == "docs/README.md"
		}
	}
	for name := range maps.Keys(all) {
		if strings.HasPrefix(name, "docs/") && !linked[name] {
			t.Errorf("the index does not name %s", name)
		}
	}
}

// sentenceEnd matches the end of a sentence and the start of the next one.
var sentenceEnd = regexp.MustCompile("[.!?][)\"*]*\\s+(\\S)")

// linkText matches a link with its text.
var linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// splitSentences splits a paragraph into sentences.
func splitSentences(text string) []string {
	var out []string
	for {
		m := sentenceEnd.FindStringSubmatchIndex(text)
		if m == nil {
			return append(out, text)
		}
		out = append(out, text[:m[2]])
		text = text[m[2]:]
	}
}

// citation matches a page that the code names, with the heading where it names one:
// docs/proofs/kendall.md, "Sensitivity and proof".
var citation = regexp.MustCompile(`docs/[\w/.-]+\.md(?:, "([^"]+)")?`)

// proves matches terms next to a citation that require it to name the heading of the proof.
var proves = regexp.MustCompile(`(?i)\b(proof|prove[sdn]?|lemma|sensitivity|derivation|derived)\b`)

// TestCitedPagesExist checks that a page named in the code exists, and so does the heading. A comment that cites the
// page of a method names a heading, except in tests and in the comment of a package. A heading is always required in
// package mechanism, where bounds are derived, and in every sentence about a proof.
func TestCitedPagesExist(t *testing.T) {
	all := readPages(t)
	cited := 0
	for _, name := range filesOf(
		t, ".go", ".yaml",
		".yml", ".sh",
		".py",
	) {
		for _, l := range commentParagraphs(t, name) {
			for _, sentence := range splitSentences(l.Text) {
				for _, m := range citation.FindAllStringSubmatch(sentence, -1) {
					cited++
					file, _, _ := strings.Cut(m[0], ",")
					p, ok := all[file]
					switch {
					case !ok:
						t.Errorf(
							"%s:%d: there is no %s",
							name, l.Number, file,
						)
					case m[1] != "" && !slices.Contains(p.Headings(), m[1]):
						t.Errorf(
							"%s:%d: %s has no heading %q",
							name, l.Number, file, m[1],
						)
					case m[1] == "" &&
						(needsHeading(name, file) || proves.MatchString(sentence)):
						t.Errorf(
							"%s:%d: %s: name the heading: %s",
							name,
							l.Number,
							file,
							sentence,
						)
					}
				}
			}
		}
	}
	if cited < 90 {
		t.Errorf("%d citations", cited)
	}
}

// needsHeading reports whether a file of code must name the heading of a page it cites.
func needsHeading(name, file string) bool {
	if strings.HasSuffix(name, "_test.go") {
		return false
	}
	return strings.HasPrefix(name, "internal/mechanism/") ||
		strings.HasPrefix(file, "docs/proofs/") &&
			file != "docs/proofs/formats.md" &&
			path.Base(name) != "doc.go"
}

// commentParagraphs returns the comments of a file of code, each paragraph as one line.
func commentParagraphs(t *testing.T, name string) []pages.Line {
	t.Helper()
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	var out []pages.Line
	open := false
	for i, l := range strings.Split(string(text), "\n") {
		l = strings.TrimSpace(l)
		comment, ok := strings.CutPrefix(l, "//")
		if !ok {
			comment, ok = strings.CutPrefix(l, "#")
		}
		comment = strings.TrimSpace(comment)
		switch {
		case ok && comment != "" && open:
			out[len(out)-1].Text += " " + comment
		case ok && comment != "":
			out = append(out, pages.Line{Number: i + 1, Text: comment})
			open = true
		case citation.MatchString(l): // after code, or in a string of the program
			out = append(out, pages.Line{Number: i + 1, Text: l})
			open = false
		default:
			open = false
		}
	}
	return out
}

// command matches the rest of a Go command after its name, and tested a package in it.
var (
	command = regexp.MustCompile("\\bgo (?:test|run|build|vet) [^`|;&]*")
	tested  = regexp.MustCompile(`(?:^| )\./([a-z][\w/-]*)`)
)

// modules are the folders of the modules of the repository.
var modules = []string{
	".", "experiments", "spark", "sql",
	"scripts/pack",
}

// TestCommands checks that a package named by a Go command, in a page or in the code, exists in one of the modules.
func TestCommands(t *testing.T) {
	named := 0
	for _, name := range filesOf(
		t, ".md", ".go",
		".sh", ".py",
		".yml", ".yaml",
	) {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range strings.Split(string(text), "\n") {
			for _, c := range command.FindAllString(l, -1) {
				for _, m := range tested.FindAllStringSubmatch(c, -1) {
					named++
					if !slices.ContainsFunc(modules, func(module string) bool {
						_, err := fs.Stat(tree, path.Join(module, m[1]))
						return err == nil
					}) {
						t.Errorf(
							"%s:%d: there is no %s",
							name, i+1, m[1],
						)
					}
				}
			}
		}
	}
	if named < 30 {
		t.Errorf("%d packages are named", named)
	}
}

// warningCodes is the file with the codes of all warnings.
const warningCodes = "internal/train/stage/warning_codes.go"

var (
	// listedCode matches an entry of the list.
	listedCode = regexp.MustCompile(`\n\t(Code\w+) += "([a-z-]+)"`)
	// unlistedCode matches a warning whose code is not taken from the list.
	unlistedCode = regexp.MustCompile(`\bCode:\s+"[a-z-]+"`)
)

// TestWarnings checks that every warning has a code of the list, that the program creates every warning of the list,
// that docs/reference/report.md explains how to react to it, and that docs/proofs/formats.md names it.
func TestWarnings(t *testing.T) {
	list, err := fs.ReadFile(tree, warningCodes)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]bool{}
	unused := map[string]bool{}
	for _, m := range listedCode.FindAllStringSubmatch(string(list), -1) {
		codes[m[2]] = true
		unused[m[1]] = true
	}
	if len(codes) < 10 {
		t.Fatalf("%d codes", len(codes))
	}
	for _, name := range filesOf(t, ".go") {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") || name == warningCodes {
			continue
		}
		if unlistedCode.Match(text) {
			t.Errorf(
				"%s has a warning whose code is not in %s",
				name, warningCodes,
			)
		}
		if !strings.HasPrefix(name, "internal/publish/report/") { // it reads codes
			for code := range unused {
				if strings.Contains(string(text), code) {
					delete(unused, code)
				}
			}
		}
	}
	for code := range unused {
		t.Errorf("no warning has the code %s", code)
	}
	all := readPages(t)
	for _, name := range []string{
		"docs/reference/report.md",
		"docs/proofs/formats.md",
	} {
		text := strings.Join(all[name].Lines, "\n")
		for code := range codes {
			if !strings.Contains(text, "`"+code+"`") {
				t.Errorf(
					"%s does not explain the warning %s",
					name, code,
				)
			}
		}
	}
}
