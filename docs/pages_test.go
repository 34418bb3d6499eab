// Package docs tests the pages of this folder and those at the root of the repository: links,
// and citations of pages in the code.
package docs

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// tree is the repository.
var tree = os.DirFS("..")

// A page is one Markdown file.
type page struct {
	path   string // from the root of the repository
	lines  []string
	blocks []block
	prose  []line // what is outside blocks
}

// A line of a page, with its number from 1.
type line struct {
	number int
	text   string
}

// A block is what stands between two fences.
type block struct {
	number int    // line of the opening fence
	info   string // what follows the opening fence
	text   string
}

// filesOf returns the files of the repository with one of the extensions.
func filesOf(t *testing.T, extensions ...string) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && strings.HasPrefix(d.Name(), ".") {
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

// pages returns every page of the repository, by path.
func pages(t *testing.T) map[string]page {
	t.Helper()
	out := map[string]page{}
	for _, name := range filesOf(t, ".md") {
		out[name] = readPage(t, name)
	}
	if len(out) < 30 {
		t.Fatalf("%d pages", len(out))
	}
	return out
}

func readPage(t *testing.T, name string) page {
	t.Helper()
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	p := page{path: name, lines: strings.Split(string(text), "\n")}
	inside := false
	for i, l := range p.lines {
		switch {
		case strings.HasPrefix(l, "```") && !inside:
			inside = true
			p.blocks = append(p.blocks, block{number: i + 1, info: strings.TrimPrefix(l, "```")})
		case strings.HasPrefix(l, "```"):
			inside = false
		case inside:
			p.blocks[len(p.blocks)-1].text += l + "\n"
		default:
			p.prose = append(p.prose, line{i + 1, l})
		}
	}
	if inside {
		t.Errorf("%s: a block is not closed", name)
	}
	return p
}

// headings returns the texts of the headings without their marks.
func (p page) headings() []string {
	var out []string
	for _, l := range p.prose {
		if strings.HasPrefix(l.text, "#") {
			out = append(out, strings.TrimSpace(strings.TrimLeft(l.text, "#")))
		}
	}
	return out
}

// anchors returns the anchors that GitHub gives the headings.
func (p page) anchors() map[string]bool {
	out := map[string]bool{}
	for _, h := range p.headings() {
		out[anchor(h)] = true
	}
	return out
}

// anchor is GitHub's: lower case, hyphens for spaces, no other punctuation.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

var (
	code     = regexp.MustCompile("`[^`]*`")
	linkMark = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]*)\)`)
)

// links returns the relative targets of the links of a line.
func links(text string) []string {
	var out []string
	for _, m := range linkMark.FindAllStringSubmatch(code.ReplaceAllString(text, "code"), -1) {
		if !strings.Contains(m[1], "://") && !strings.HasPrefix(m[1], "mailto:") {
			out = append(out, m[1])
		}
	}
	return out
}

// TestLinks: every relative link leads to a file, and every anchor to a heading.
func TestLinks(t *testing.T) {
	all := pages(t)
	for _, p := range all {
		for _, l := range p.prose {
			for _, target := range links(l.text) {
				file, fragment, _ := strings.Cut(target, "#")
				to := path.Join(path.Dir(p.path), file)
				if file == "" {
					to = p.path
				}
				if _, err := fs.Stat(tree, to); err != nil {
					t.Errorf("%s:%d: %s leads nowhere", p.path, l.number, target)
				} else if fragment != "" && !all[to].anchors()[fragment] {
					t.Errorf("%s:%d: %s has no heading for #%s", p.path, l.number, to, fragment)
				}
			}
		}
	}
}

// TestIndex: every page of this folder is one link from docs/README.md, and the root page leads there.
func TestIndex(t *testing.T) {
	all := pages(t)
	linked := map[string]bool{"docs/README.md": false}
	for _, l := range all["docs/README.md"].prose {
		for _, target := range links(l.text) {
			file, _, _ := strings.Cut(target, "#")
			linked[path.Join("docs", file)] = true
		}
	}
	for _, l := range all["README.md"].prose {
		for _, target := range links(l.text) {
			linked["docs/README.md"] = linked["docs/README.md"] || target == "docs/README.md"
		}
	}
	for name := range maps.Keys(all) {
		if strings.HasPrefix(name, "docs/") && !linked[name] {
			t.Errorf("the index does not name %s", name)
		}
	}
}

// citation matches a page that the code names, with the heading where it names one:
// docs/methods/kendall.md, "Sensitivity and proof".
var citation = regexp.MustCompile(`docs/[\w/.-]+\.md(?:, "([^"]+)")?`)

// proves matches words beside a citation that must say where on the page the proof stands.
var proves = regexp.MustCompile(`(?i)\b(proof|prove[sdn]?|lemma|sensitivity|derivation|derived)\b`)

// TestCitations: a page that the code names exists, and so does the heading. Package
// mechanism, where bounds are derived, names a heading of every page it cites, and so does
// every sentence that speaks of a proof.
func TestCitations(t *testing.T) {
	all := pages(t)
	cited := 0
	for _, name := range filesOf(t, ".go", ".yaml", ".yml", ".sh", ".py") {
		for _, l := range paragraphs(t, name) {
			for _, sentence := range sentences(l.text) {
				for _, m := range citation.FindAllStringSubmatch(sentence, -1) {
					cited++
					file, _, _ := strings.Cut(m[0], ",")
					p, ok := all[file]
					switch {
					case !ok:
						t.Errorf("%s:%d: there is no %s", name, l.number, file)
					case m[1] != "" && !hasHeading(p, m[1]):
						t.Errorf("%s:%d: %s has no heading %q", name, l.number, file, m[1])
					case m[1] == "" && (strings.HasPrefix(name, "mechanism/") || proves.MatchString(sentence)):
						t.Errorf("%s:%d: %s: name the heading: %s", name, l.number, file, sentence)
					}
				}
			}
		}
	}
	if cited < 90 {
		t.Errorf("%d citations", cited)
	}
}

func hasHeading(p page, want string) bool {
	for _, h := range p.headings() {
		if h == want {
			return true
		}
	}
	return false
}

// paragraphs returns the comments of a file of code, each paragraph as one line.
func paragraphs(t *testing.T, name string) []line {
	t.Helper()
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	var out []line
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
			out[len(out)-1].text += " " + comment
		case ok && comment != "":
			out, open = append(out, line{i + 1, comment}), true
		case citation.MatchString(l): // beside code, or in a text of the program
			out, open = append(out, line{i + 1, l}), false
		default:
			open = false
		}
	}
	return out
}
