package dptrain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestFieldTexts checks that no text of a package whose errors and warnings reach callers in Go still names a flag or a
// common recipe key after the translation.
func TestFieldTexts(t *testing.T) {
	flag := regexp.MustCompile(`--[a-z]`)
	key := regexp.MustCompile(`\b(privacy|ledger|evaluate|count)\.[a-z]+|\bdata\.(target|classes|exclude|columns)`)
	elsewhere := regexp.MustCompile(`^(?:--set )|jsonschema|dptrain report|report --format|dptrain plan|--key`)
	texts := 0
	for _, dir := range []string{"dataset", "internal/recipe", "internal/train/pipeline", "internal/publish/entry",
		"internal/publish/report", "internal/tablefile", "internal/sys/scratch"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			// summary.go prints remedies for the terminal, describe.go checks recipes of descriptions.
			switch filepath.Base(name) {
			case "summary.go", "describe.go":
				continue
			}
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(
				token.NewFileSet(),
				name,
				nil,
				parser.SkipObjectResolution,
			)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil || !flag.MatchString(text) || elsewhere.MatchString(text) {
					return true
				}
				texts++
				got := inFields(text)
				if flag.MatchString(got) || key.MatchString(got) {
					t.Errorf("%s: %q", name, got)
				}
				return true
			})
		}
	}
	if texts < 20 {
		t.Errorf("%d texts with flags", texts)
	}
}

// TestInFields checks keys of columns and of shares, and that other texts stay as they are.
func TestInFields(t *testing.T) {
	for text, want := range map[string]string{
		"privacy.epsilon must be greater than 0, not -1":                 "Epsilon must be greater than 0, not -1",
		"data.columns.age: lower needs upper":                            `Columns["age"]: lower needs upper`,
		`data.columns["a b"].lower must be finite`:                       `Columns["a b"].Lower must be finite`,
		"declare lower and upper in data.columns":                        "declare lower and upper in Columns",
		"budget.selection must be below 1":                               `Shares["selection"] must be below 1`,
		"remove it, or set task: classification (--task classification)": `remove it, or set Task: "classification"`,
		"names must match exactly":                                       "names must match exactly",
	} {
		if got := inFields(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
