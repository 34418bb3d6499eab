package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// A workflowStep is a step of a workflow that runs commands.
type workflowStep struct{ name, run string }

// readWorkflow returns the steps of a workflow that run commands, and the actions that it uses.
func readWorkflow(t *testing.T, path string) (steps []workflowStep, actions []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		t.Fatal(err)
	}
	var name string
	inRun := false
	for line := range strings.Lines(string(text)) {
		trimmed := strings.TrimSpace(line)
		key, value, _ := strings.Cut(strings.TrimPrefix(trimmed, "- "), ": ")
		switch {
		case inRun && (trimmed == "" || strings.HasPrefix(line, "          ")):
			steps[len(steps)-1].run += strings.TrimPrefix(line, "          ")
			continue
		case key == "uses":
			actions = append(actions, value)
		case key == "name" && strings.HasPrefix(line, "      - "):
			name = value
		case key == "run" && value == "|":
			steps = append(steps, workflowStep{name: name})
			inRun = true
			continue
		case key == "run":
			steps = append(steps, workflowStep{name, value})
		}
		inRun = false
	}
	return steps, actions
}

// workflowPaths are the workflows of this repository and the one that it offers to users.
var workflowPaths = []string{".github/workflows/checks.yml", ".github/workflows/release.yml",
	"examples/github/dptrain.yml"}

// TestWorkflowActions checks that every action is pinned by the hash of a commit, with its version in a comment.
func TestWorkflowActions(t *testing.T) {
	pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, path := range workflowPaths {
		_, actions := readWorkflow(t, path)
		if len(actions) == 0 {
			t.Errorf("%s uses no action", path)
		}
		for _, a := range actions {
			if !pinned.MatchString(a) {
				t.Errorf("%s: %s", path, a)
			}
		}
	}
}

// TestChecksWorkflow checks that the workflow for pull requests runs only .ci/run.
func TestChecksWorkflow(t *testing.T) {
	steps, _ := readWorkflow(t, ".github/workflows/checks.yml")
	want := []workflowStep{{"Run all checks", ".ci/run"}}
	if !slices.Equal(steps, want) {
		t.Errorf("%+v, want %+v", steps, want)
	}
}

// runStep runs a step of a workflow in a folder, as a hosted runner does.
func runStep(t *testing.T, dir string, s workflowStep, env ...string) (string, error) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	cmd := exec.CommandContext(t.Context(), bash,
		"--noprofile",
		"--norc", "-eo",
		"pipefail", "-c", s.run,
	)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestReleaseWorkflow replays the step that publishes, with a program gh that prints its arguments: the notes are
// the section of the changelog, a release candidate is a pre-release, and a tag without a section fails.
func TestReleaseWorkflow(t *testing.T) {
	steps, _ := readWorkflow(t, ".github/workflows/release.yml")
	if len(steps) != 2 ||
		steps[0].run != "scripts/release.sh --check" {
		t.Fatalf("%+v", steps)
	}
	dir := t.TempDir()
	changelog := "# Changelog\n\n## 1.2.3-rc.1\n\nThe candidate.\n\n## 1.2.2\n\nThe version before.\n"
	for name, text := range map[string]string{
		"CHANGELOG.md":            changelog,
		"dist/dptrain_1.tar.gz":   "",
		"dist/SHA256SUMS":         "",
		"dist/SHA256SUMS.minisig": "",
		"bin/gh":                  "#!/bin/sh\necho \"$@\"\ncat notes.md\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(path, []byte(text), 0o700)
		if err != nil { //nolint:gosec // gh is a program
			t.Fatal(err)
		}
	}
	path := "PATH=" + filepath.Join(dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	const files = "dist/dptrain_1.tar.gz dist/SHA256SUMS dist/SHA256SUMS.minisig\n"
	for tag, want := range map[string]string{
		"v1.2.3-rc.1": "release create v1.2.3-rc.1 --verify-tag --title dptrain 1.2.3-rc.1 --notes-file notes.md --prerelease " +
			files + "\nThe candidate.\n\n",
		"v1.2.2": "release create v1.2.2 --verify-tag --title dptrain 1.2.2 --notes-file notes.md " +
			files + "\nThe version before.\n",
	} {
		got, err := runStep(t, dir, steps[1], path, "GITHUB_REF_NAME="+tag)
		if err != nil || got != want {
			t.Errorf(
				"%s: %v\n%s\nwant\n%s",
				tag, err, got, want,
			)
		}
	}
	got, err := runStep(
		t, dir, steps[1], path,
		"GITHUB_REF_NAME=v1.2.4",
	)
	if err == nil {
		t.Errorf(
			"a tag without a section of the changelog: %s",
			got,
		)
	}
}

// TestUserWorkflow replays examples/github/dptrain.yml, without its first step, in a repository with a recipe and a
// release. A wrong recipe and an edited release fail.
func TestUserWorkflow(t *testing.T) {
	steps, _ := readWorkflow(t, "examples/github/dptrain.yml")
	if len(steps) != 4 || steps[0].name != "Install dptrain" {
		t.Fatalf("%+v", steps)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "bin", "dptrain")
	build := exec.CommandContext(
		t.Context(),
		"go",
		"build",
		"-o",
		program,
		"../cmd/dptrain",
	)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"recipes", "releases", "tables"} {
		err := os.Mkdir(filepath.Join(dir, name), 0o700)
		if err != nil {
			t.Fatal(err)
		}
	}
	recipe := filepath.Join(dir, "recipes", "houses.yaml")
	write := func(path, text string) {
		t.Helper()
		err := os.WriteFile(path, []byte(text), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	write(
		recipe,
		"version: 1\ndata: {path: ../tables/houses.csv, target: price, exclude: [ocean]}\nprivacy: {epsilon: 1}\nmodel: {method: joint-gram}\n",
	)
	fit := exec.CommandContext(t.Context(), program, "fit", recipe,
		"--data", "../testdata/houses.csv",
		"--out", filepath.Join(dir, "out"),
		"--quiet",
	)
	if out, err := fit.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Rename(filepath.Join(dir, "out", "release"),
		filepath.Join(dir, "releases", "houses")); err != nil {
		t.Fatal(err)
	}
	header, err := os.ReadFile("../testdata/houses.csv")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(header), "\n")
	write(filepath.Join(dir, "tables", "houses.csv"), first+"\n")
	summary := filepath.Join(dir, "summary.md")
	env := []string{
		"PATH=" + filepath.Dir(program) + string(os.PathListSeparator) +
			os.Getenv("PATH"),
		"GITHUB_STEP_SUMMARY=" + summary,
	}
	for _, s := range steps[1:] {
		out, err := runStep(t, dir, s, env...)
		if err != nil {
			t.Errorf(
				"%s: %v\n%s",
				s.name, err, out,
			)
		}
	}
	if text, err := os.ReadFile(summary); err != nil ||
		!strings.Contains(
			string(text),
			"### recipes/houses.yaml\n\n~~~text\nstep ",
		) {
		t.Errorf(
			"the summary: %v\n%s",
			err, text,
		)
	}
	write(
		filepath.Join(dir, "recipes", "wrong.yaml"),
		"version: 1\ndata: {path: ../tables/houses.csv, target: price}\nprivacy: {epsilon: 0}\n",
	)
	report := filepath.Join(dir, "releases", "houses", "report.json")
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	write(
		report,
		strings.Replace(
			string(text), `"epsilon": 1,`,
			`"epsilon": 0.5,`, 1,
		),
	)
	for _, s := range steps[1:] {
		out, err := runStep(t, dir, s, env...)
		if err == nil {
			t.Errorf(
				"%s accepts a wrong recipe or an edited release:\n%s",
				s.name, out,
			)
		}
	}
}

// TestVersionIsStated checks that the pages that name a version name the version of the program.
func TestVersionIsStated(t *testing.T) {
	for path, want := range map[string]string{
		"CITATION.cff":                "\nversion: " + report.Version + "\n",
		"CHANGELOG.md":                "\n## " + report.Version + "\n",
		"docs/guide/install.md":       "dptrain_" + report.Version + "_linux_amd64.tar.gz",
		"README.md":                   "dptrain_" + report.Version + "_linux_amd64.oci.tar",
		"examples/github/dptrain.yml": "\n  VERSION: " + report.Version + "\n",
	} {
		text, err := os.ReadFile(filepath.Join("..", path))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s does not contain %q", path, want)
		}
	}
}
