package ui

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/recipe"
)

// importTable sends a table to the folder and returns the status.
func (r *recorded) importTable(name string, body io.Reader) int {
	w := r.sendRequest(
		http.MethodPost,
		"/api/import?name="+url.QueryEscape(name),
		"",
		func(q *http.Request) {
			q.Header.Set("Content-Type", "application/octet-stream")
			q.Body = io.NopCloser(body)
		},
	)
	return w.Code
}

// TestImport checks that a table is copied byte by byte into the folder, for its owner only, that no file is
// replaced, and that other names are refused.
func TestImport(t *testing.T) {
	r := newRecorded(t)
	text := "x;y\r\n1;\xfc\r\n" + strings.Repeat("2;3\r\n", 1000)
	code := r.importTable("Exp ört.CSV", strings.NewReader(text))
	if code != http.StatusOK {
		t.Fatal(code)
	}
	at := filepath.Join(r.folder, "Exp ört.CSV")
	got, err := os.ReadFile(at)
	if err != nil || string(got) != text {
		t.Errorf(
			"%d bytes, want %d; %v",
			len(got), len(text), err,
		)
	}
	if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf(
			"%v, %v",
			info.Mode(), err,
		)
	}
	code = r.importTable(
		"Exp ört.CSV",
		strings.NewReader("a,b\n"),
	)
	if code != http.StatusConflict {
		t.Errorf("a second table of the same name: %d", code)
	}
	again, _ := os.ReadFile(at)
	if string(again) != text {
		t.Error("a table was replaced")
	}
	for _, name := range []string{"", ".", "..", "../t.csv", "a/t.csv", `a\t.csv`, ".t.csv", "t.exe",
		"recipe.yaml", "a*.csv", "/tmp/t.csv", "l.ledger"} {
		code := r.importTable(name, strings.NewReader("a,b\n"))
		if code != http.StatusBadRequest {
			t.Errorf("%q: %d", name, code)
		}
	}
	left, err := os.ReadDir(r.folder)
	if err != nil || len(left) != 2 {
		t.Errorf(
			"%d files, want 2; %v",
			len(left), err,
		)
	}
	if len(r.calls) > 0 {
		t.Error(r.calls)
	}
}

// brokenReader fails after some bytes.
type brokenReader struct{ left int }

func (b *brokenReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errors.New("the connection is gone")
	}
	n := min(b.left, len(p))
	b.left -= n
	return n, nil
}

// TestImportBroken checks that no part of a table is left if its request ends early.
func TestImportBroken(t *testing.T) {
	r := newRecorded(t)
	code := r.importTable("new.csv", &brokenReader{100_000})
	if code != http.StatusBadRequest {
		t.Error(code)
	}
	_, err := os.Stat(filepath.Join(r.folder, "new.csv"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a part of the table is left: %v", err)
	}
}

// TestSampleIsSyntheticTable checks that the sample is the synthetic table of the tests, and that it replaces no file.
func TestSampleIsSyntheticTable(t *testing.T) {
	r := newRecorded(t)
	for range 2 {
		var got imported
		code := r.askAPI(t, "sample", "{}", &got)
		if code != http.StatusOK || got.Path != sampleName {
			t.Fatalf("%d %+v", code, got)
		}
	}
	want, err := os.ReadFile("../../testdata/houses.csv")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(r.folder, sampleName))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf(
			"%d bytes, want %d; %v",
			len(got), len(want), err,
		)
	}
	r.writeFile(t, sampleName, "mine,too\n1,2\n")
	code := r.askAPI(t, "sample", "{}", nil)
	if code != http.StatusOK {
		t.Error(code)
	}
	got, _ = os.ReadFile(filepath.Join(r.folder, sampleName))
	if string(got) != "mine,too\n1,2\n" {
		t.Error("a file was replaced")
	}
}

// TestProposedRows checks that the page proposes as many records per person as the commands do.
func TestProposedRows(t *testing.T) {
	page, err := web.ReadFile("web/index.html")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(
		`<input id="unit-rows" type="number" min="1" max="1000" step="1" value="%d">`,
		recipe.ProposedMaxRows,
	)
	if !strings.Contains(string(page), want) {
		t.Errorf("the page lacks %s", want)
	}
	said := fmt.Sprintf("%d is proposed for every table", recipe.ProposedMaxRows)
	if !strings.Contains(string(page), said) {
		t.Errorf("the page lacks %q", said)
	}
}
