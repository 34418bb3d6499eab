package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/regression"
)

// lineFiles are the files of one run on 300 records.
func lineFiles(t testing.TB) Files {
	t.Helper()
	res := lineResult(t, 300)
	return Files{
		Model:  res.Model,
		Report: New(res),
		Recipe: []byte("version: 1\n"),
		Run:    NewRun(New(res), res.Curator, nil),
	}
}

// listTree lists everything below dir with its mode, and the content of files.
func listTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		out[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			out[name] += " " + string(content)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func treeModes(tree map[string]string) map[string]string {
	out := map[string]string{}
	for name, content := range tree {
		out[name], _, _ = strings.Cut(content, " ")
	}
	return out
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "out")
	files := lineFiles(t)
	if err := Write(t.Context(), dir, files, false); err != nil {
		t.Fatal(err)
	}
	got := listTree(t, dir)
	want := map[string]string{
		"release":             "drwxr-xr-x",
		"release/model.json":  "-rw-r--r--",
		"release/report.json": "-rw-r--r--",
		"release/recipe.yaml": "-rw-r--r--",
		"release/report.html": "-rw-r--r--",
		"curator":             "drwx------",
		"curator/run.json":    "-rw-------",
	}
	diff := cmp.Diff(want, treeModes(got))
	if diff != "" {
		t.Error(diff)
	}
	model, err := regression.DecodeModel(openFile(t, dir, "release/model.json"))
	if err != nil || model.Output().Target != "y" {
		t.Errorf("model %v, error %v", model, err)
	}
	report, err := Decode(openFile(t, dir, "release/report.json"))
	if err != nil || report.Target != "y" {
		t.Errorf("report %v, error %v", report, err)
	}
	for name, hash := range map[string]string{
		"model.json":  report.Files.Model,
		"recipe.yaml": report.Files.Recipe,
		"report.html": report.Files.Page,
	} {
		data, err := os.ReadFile(filepath.Join(dir, "release", name))
		sum := fmt.Sprintf("%x", sha256.Sum256(data))
		if err != nil || sum != hash {
			t.Errorf(
				"%s: hash %s, want %s, error %v",
				name, hash, sum, err,
			)
		}
	}
	published, err := files.Published()
	if err != nil || len(published) != 4 {
		t.Errorf(
			"%d files in memory, want 4, error %v",
			len(published), err,
		)
	}
	for name, content := range published {
		data, err := os.ReadFile(filepath.Join(dir, "release", name))
		if err != nil || string(data) != content {
			t.Errorf(
				"%s differs from the file in memory, error %v",
				name, err,
			)
		}
	}
}

func openFile(t *testing.T, dir, name string) *bytes.Reader {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(data)
}

func TestSameResultSameBytes(t *testing.T) {
	files := lineFiles(t)
	dir := t.TempDir()
	err := Write(t.Context(), dir, files, false)
	if err != nil {
		t.Fatal(err)
	}
	first := listTree(t, filepath.Join(dir, "release"))
	files.Run.Date = "another day"
	files.Run.Tool.Version = "v9"
	files.Run.Rows = 7
	err = Write(t.Context(), dir, files, true)
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(first, listTree(t, filepath.Join(dir, "release")))
	if diff != "" {
		t.Errorf(
			"the release changed with what is not released:\n%s",
			diff,
		)
	}
}

func TestWithoutRecipe(t *testing.T) {
	files := lineFiles(t)
	dir := t.TempDir()
	files.Recipe = nil
	err := Write(t.Context(), dir, files, false)
	if err != nil {
		t.Fatal(err)
	}
	_, ok := listTree(t, dir)["release/recipe.yaml"]
	if ok {
		t.Error("an empty recipe.yaml was written")
	}
}

func TestPrepareRefuses(t *testing.T) {
	put := func(dir, name string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(path, []byte("mine"), 0o644)
		if err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		files  []string
		out    string
		force  bool
		want   error
		remedy string
	}{
		{
			"release exists",
			[]string{"release/model.json"},
			".",
			false,
			ErrExists,
			"--force",
		},
		{
			"only curator exists",
			[]string{"curator/run.json"},
			".",
			false,
			ErrExists,
			"--force",
		},
		{
			"foreign file in release",
			[]string{"release/model.json", "release/v1.tar"},
			".",
			true,
			ErrForeign,
			"another --out",
		},
		{
			"foreign file in curator",
			[]string{"curator/notes.txt"},
			".",
			true,
			ErrForeign,
			"another --out",
		},
		{
			"release is a file",
			[]string{"release"},
			".", true, ErrForeign,
			"another --out",
		},
		{
			"out is a file",
			[]string{"out"},
			"out", true, ErrUnwritable,
			"another --out",
		},
		{
			"parent is a file",
			[]string{"out"},
			"out/a/b",
			true,
			ErrUnwritable,
			"another --out",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range tt.files {
				put(dir, name)
			}
			before := listTree(t, dir)
			_, err := Prepare(filepath.Join(dir, tt.out), tt.force)
			var de *DirError
			if !errors.As(err, &de) ||
				!errors.Is(err, tt.want) ||
				!strings.Contains(err.Error(), tt.remedy) {
				t.Errorf(
					"error %v, want %v with remedy %q",
					err, tt.want, tt.remedy,
				)
			}
			diff := cmp.Diff(before, listTree(t, dir))
			if diff != "" {
				t.Errorf("the folder changed:\n%s", diff)
			}
		})
	}
}

func TestUnwritable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may write everywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{dir, filepath.Join(dir, "out")} {
		_, err := Prepare(out, false)
		if !errors.Is(err, ErrUnwritable) {
			t.Errorf("error %v, want %v", err, ErrUnwritable)
		}
	}
}

func TestCloseTakesBack(t *testing.T) {
	dir := t.TempDir()
	f, err := Prepare(filepath.Join(dir, "a", "b"), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(listTree(t, dir)) != 3 { // a, a/b and the temporary folder
		t.Errorf("prepared: %v", listTree(t, dir))
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	left := listTree(t, dir)
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := f.Commit(t.Context(), Files{}); !errors.Is(err, ErrUnwritable) {
		t.Errorf("commit after close: %v", err)
	}
}

// commitSteps returns the names of the steps of a commit that replaces results.
func commitSteps(t *testing.T, files Files, noExchange bool) []string {
	t.Helper()
	dir := t.TempDir()
	if err := Write(t.Context(), dir, files, false); err != nil {
		t.Fatal(err)
	}
	f, err := Prepare(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	f.noExchange = noExchange
	f.step = func(name string) error {
		names = append(names, name)
		return nil
	}
	if err := f.Commit(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	return names
}

// stepHappens reports whether a step occurs in a commit with or without an earlier run, on a system with or without the
// exchange of folders.
func stepHappens(step string, old, noExchange bool) bool {
	switch {
	case strings.HasPrefix(step, "exchange"):
		return old
	case strings.HasPrefix(step, "rename to old-"):
		return old && noExchange
	case strings.HasPrefix(step, "rename to "):
		return !old || noExchange
	}
	return true
}

// canExchange reports whether this system can exchange two folders.
func canExchange(t *testing.T) bool {
	return !slices.Contains(
		commitSteps(t, lineFiles(t), false),
		"rename to old-"+ReleaseDir,
	)
}

// TestInterruptedCommit interrupts a commit at every step, by the context and by a failure, and checks that the
// folder is unchanged.
func TestInterruptedCommit(t *testing.T) {
	files := lineFiles(t)
	names := commitSteps(t, files, true)
	want := "rename to release"
	if !slices.Contains(names, want) || len(names) < 15 {
		t.Fatalf("steps %q", names)
	}
	exchanges := canExchange(t)
	for _, name := range names {
		for _, old := range []bool{false, true} {
			for _, noExchange := range []bool{true, false} {
				if stepHappens(name, old, noExchange || !exchanges) {
					interruptCommit(t, files, name, old, noExchange)
				}
			}
		}
	}
}

// interruptCommit ends commits at a step.
func interruptCommit(t *testing.T, files Files, name string, old, noExchange bool) {
	t.Helper()
	failure := errors.New("disk full")
	dir := filepath.Join(t.TempDir(), "out")
	if old {
		err := Write(t.Context(), dir, files, false)
		if err != nil {
			t.Fatal(err)
		}
	}
	before := listTree(t, filepath.Dir(dir))
	for _, cancelled := range []bool{true, false} {
		if cancelled &&
			(strings.HasPrefix(name, "rename to") || strings.HasPrefix(name, "exchange")) {
			continue // the moves themselves are not interrupted
		}
		f, err := Prepare(dir, true)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		want := context.Canceled
		f.noExchange = noExchange
		f.step = func(step string) error {
			switch {
			case step != name:
				return nil
			case cancelled:
				cancel()
				return nil
			}
			want = failure
			return failure
		}
		if err := f.Commit(ctx, files); !errors.Is(err, want) {
			t.Errorf(
				"step %q: error %v, want %v",
				name, err, want,
			)
		}
		f.Close()
		cancel()
		diff := cmp.Diff(before, listTree(t, filepath.Dir(dir)))
		if diff != "" {
			t.Errorf(
				"step %q, results before: %v, no exchange: %v, cancelled: %v: the folder changed:\n%s",
				name,
				old,
				noExchange,
				cancelled,
				diff,
			)
		}
	}
}

func TestResultsAppearMeanwhile(t *testing.T) {
	dir := t.TempDir()
	files := lineFiles(t)
	f, err := Prepare(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Write(t.Context(), dir, files, false); err != nil {
		t.Fatal(err)
	}
	files.Recipe = []byte("version: 2\n")
	if err := f.Commit(t.Context(), files); !errors.Is(err, ErrExists) {
		t.Errorf("error %v, want %v", err, ErrExists)
	}
	recipe, err := os.ReadFile(filepath.Join(dir, "release", "recipe.yaml"))
	if err != nil || string(recipe) != "version: 1\n" {
		t.Errorf(
			"the other run's recipe became %q, error %v",
			recipe, err,
		)
	}
}

func TestSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	files := lineFiles(t)
	real := filepath.Join(dir, "real")
	link := filepath.Join(dir, "link")
	mine := filepath.Join(dir, "mine")
	for _, d := range []string{real, mine} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	err := os.WriteFile(
		filepath.Join(mine, "model.json"),
		[]byte("precious"),
		0o644,
	)
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		link:                           real,
		filepath.Join(real, "release"): mine,
	} {
		if err := os.Symlink(to, from); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	if err := Write(t.Context(), link, files, false); !errors.Is(err, ErrExists) {
		t.Errorf(
			"a linked release: error %v, want %v",
			err, ErrExists,
		)
	}
	if err := Write(t.Context(), link, files, true); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(filepath.Join(real, "release"))
	if err != nil || !info.IsDir() {
		t.Errorf(
			"release is %v, error %v; want a folder in place of the link",
			info, err,
		)
	}
	got := listTree(t, mine)
	if len(got) != 1 ||
		!strings.HasSuffix(got["model.json"], "precious") {
		t.Errorf("what the link named changed: %v", got)
	}
}

// TestLinkToNowhere checks that an output folder that is a broken link is rejected and kept.
func TestLinkToNowhere(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "out")
	err := os.Symlink(filepath.Join(dir, "nowhere"), link)
	if err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for _, out := range []string{link, filepath.Join(link, "deeper")} {
		_, err := Prepare(out, true)
		if !errors.Is(err, ErrUnwritable) {
			t.Errorf("error %v, want %v", err, ErrUnwritable)
		}
	}
	_, err = os.Lstat(link)
	if err != nil || len(listTree(t, dir)) != 1 {
		t.Errorf(
			"left: %v, error %v",
			listTree(t, dir), err,
		)
	}
}

func TestCommitRefusesBadModel(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	files := lineFiles(t)
	files.Model = &regression.Linear{Lower: 1, Upper: -1}
	var me *regression.ModelError
	err := Write(t.Context(), dir, files, false)
	if !errors.As(err, &me) {
		t.Errorf("error %v, want a ModelError", err)
	}
	_, err = os.Lstat(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

// TestMakeAllSyncs checks that exactly the parents of the new folders are synced, each after the folder was created.
func TestMakeAllSyncs(t *testing.T) {
	root := t.TempDir()
	var synced []string
	sync := func(folder string) {
		synced = append(synced, folder)
		entries, err := os.ReadDir(folder)
		if err != nil || len(entries) != 1 {
			t.Errorf(
				"%s was put on disk with %d entries: %v",
				folder, len(entries), err,
			)
		}
	}
	made, err := makeAll(
		filepath.Join(root, "a", "b", "c"),
		sync,
	)
	want := []string{
		root,
		filepath.Join(root, "a"),
		filepath.Join(root, "a", "b"),
	}
	if err != nil ||
		len(made) != 3 ||
		!slices.Equal(synced, want) {
		t.Errorf(
			"made %v, put on disk %v, want %v: %v",
			made, synced, want, err,
		)
	}
	synced = nil
	made, err = makeAll(filepath.Join(root, "a", "b"), sync)
	if err != nil || made != nil || synced != nil {
		t.Errorf(
			"made %v, put on disk %v: %v",
			made, synced, err,
		)
	}
}
