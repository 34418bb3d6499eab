package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// translateForPython returns messages as the Python package raises them. It skips the test without Python. The package itself
// is not imported, because it needs NumPy.
func translateForPython(t *testing.T, messages []string) []string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	folder, err := filepath.Abs(filepath.Join("..", "..", "python", "dptrain"))
	if err != nil {
		t.Fatal(err)
	}
	const program = `import json, sys, types
package = types.ModuleType("dptrain")
package.__path__ = [sys.argv[1]]
sys.modules["dptrain"] = package
from dptrain._messages import in_parameters
print(json.dumps([in_parameters(text) for text in json.load(sys.stdin)]))`
	input, err := json.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-B", "-c", program, folder)
	cmd.Stdin = strings.NewReader(string(input))
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, problems.String())
	}
	var got []string
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(messages) {
		t.Fatalf("%v: %s", err, out)
	}
	return got
}

// TestPythonNamesEveryFlag checks that the Python package has a name for every flag of the commands that it runs.
func TestPythonNamesEveryFlag(t *testing.T) {
	var flags []string
	for _, name := range []string{"fit", "plan", "predict"} {
		cmd, _, err := rootCommand(&app{}).Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" {
				flags = append(flags, "--"+f.Name)
			}
		})
	}
	if len(flags) < 60 {
		t.Fatalf("%d flags", len(flags))
	}
	for i, got := range translateForPython(t, flags) {
		if strings.Contains(got, "--") {
			t.Errorf("%s has no name in Python", flags[i])
		}
	}
}

// TestPythonMessagesNameParameters checks that no text of a package whose messages reach Python names a flag after the
// translation, except in a command.
func TestPythonMessagesNameParameters(t *testing.T) {
	flag := regexp.MustCompile(`(?:^|[^\w-])--[a-z]`)
	command := regexp.MustCompile("`[^`]*`|dptrain [a-z]+ .*|jsonschema.*|plan --json")
	var texts, places []string
	for _, dir := range []string{"dataset", "internal/recipe", "internal/train/pipeline", "internal/train/vocabulary",
		"internal/train/stage", "internal/publish/entry", "internal/tablefile", "internal/sys/scratch", "internal/ledger"} {
		files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || filepath.Base(name) == "describe.go" { // for recipes of descriptions
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				if text, err := strconv.Unquote(literal.Value); err == nil && flag.MatchString(text) {
					texts = append(texts, text)
					places = append(places, name)
				}
				return true
			})
		}
	}
	if len(texts) < 20 {
		t.Fatalf("%d texts with flags", len(texts))
	}
	for i, got := range translateForPython(t, texts) {
		if flag.MatchString(command.ReplaceAllString(got, "")) {
			t.Errorf("%s: %q becomes %q", places[i], texts[i], got)
		}
	}
}

// TestPythonMessages compares messages of the program with what Python raises.
func TestPythonMessages(t *testing.T) {
	cases := [][2]string{
		{"--epsilon: must be greater than 0, not -1", "epsilon: must be greater than 0, not -1"},
		{"--k: must be a whole number, not the text \"x\"", "k: must be a whole number, not the text \"x\""},
		{"evaluate.by (--by) makes categories", "by makes categories"},
		{"encode (--encode) makes categories", "encode makes categories"},
		{"--max-rows: must be at least 1", "max_rows: must be at least 1"},
		{"--set model.nonsense: unknown key", `settings["model.nonsense"]: unknown key`},
		{"declare long names with --classes (data.classes)", "declare long names with classes"},
		{"correct data.classes (--classes), or omit them", "correct classes, or omit them"},
		{"or add --fold case (data.fold: case) if", `or add fold="case" if`},
		{`add task: classification (--task classification)`, "use DPClassifier"},
		{`if it contains class names, add --task classification (task: classification); if its numbers are written 1,5 add --decimal , (data.format.decimal: ",")`,
			`if it contains class names, use DPClassifier; if its numbers are written 1,5 set format={"decimal": ","}`},
		{"declare their range (--range income=LOWER:UPPER)", `declare their range (ranges={"income": (LOWER, UPPER)})`},
		{"add --date when=auto (data.columns, date: auto)", `add dates={"when": "auto"} (data.columns, date: auto)`},
		{`register it with ` + "`dptrain ledger init a --dataset b --epsilon 1`", `register it with ` + "`dptrain ledger init a --dataset b --epsilon 1`"},
		{`there is no column "--k"`, `there is no column "--k"`},
		{"well--known and a --k", "well--known and a k"},
	}
	var texts []string
	for _, c := range cases {
		texts = append(texts, c[0])
	}
	for i, got := range translateForPython(t, texts) {
		if got != cases[i][1] {
			t.Errorf("%q becomes %q, want %q", texts[i], got, cases[i][1])
		}
	}
}
