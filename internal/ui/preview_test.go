package ui

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/ui/look"
)

// TestPreview checks that the first rows are read with the settings of the page, that errors about invalid settings
// name the key, and that a preview runs no command.
func TestPreview(t *testing.T) {
	r := newRecorded(t)
	r.writeFile(
		t,
		"x.csv",
		"patient_id;weight;day;pressure\n7;70,5;31.12.2023;144/94\n7;61,25 kg;1.1.2024;120\n",
	)
	var got look.Preview
	code := r.askAPI(
		t,
		"preview",
		`{"path":"x.csv","format":{"decimal":","},"dates":{"day":"auto"},"target":"weight"}`,
		&got,
	)
	if code != http.StatusOK {
		t.Fatal(code)
	}
	if len(got.Rows) != 2 ||
		got.Sampled != 2 ||
		len(got.Proposals) != 0 {
		t.Fatalf("%+v", got)
	}
	want := []look.PreviewCell{
		{Kind: "number", Text: "7"},
		{
			Kind:  "number",
			Text:  "61,25 kg",
			Value: "61.25",
		},
		{
			Kind:  "date",
			Text:  "1.1.2024",
			Value: "2024-01-01",
		},
		{Kind: "number", Text: "120"},
	}
	for j, cell := range got.Rows[1] {
		if cell != want[j] {
			t.Errorf(
				"cell %d: %+v, want %+v",
				j, cell, want[j],
			)
		}
	}
	c := got.Columns[0]
	if !c.Unit || c.Distinct != 1 || got.Columns[1].Unit {
		t.Errorf("%+v", got.Columns)
	}
	if got.Columns[3].Pairs != 1 ||
		got.Columns[1].Pairs != 0 {
		t.Errorf("%+v", got.Columns)
	}
	var wrong struct{ Mistakes []mistake }
	r.askAPI(
		t, "preview",
		`{"path":"x.csv","format":{"decimal":";"}}`,
		&wrong,
	)
	if len(wrong.Mistakes) != 1 ||
		wrong.Mistakes[0].Path != "data.format.decimal" {
		t.Errorf("%+v", wrong)
	}
	if len(r.calls) > 0 {
		t.Error(r.calls)
	}
}

// TestPreviewRefusals checks that a preview is refused unless the path is that of a single table in the folder.
func TestPreviewRefusals(t *testing.T) {
	r := newRecorded(t)
	outside := filepath.Join(t.TempDir(), "secret.csv")
	err := os.WriteFile(
		outside,
		[]byte("secret,b\n1,2\n"),
		0o600,
	)
	if err != nil {
		t.Fatal(err)
	}
	err = os.Symlink(outside, filepath.Join(r.folder, "link.csv"))
	if err != nil {
		t.Skip(err)
	}
	r.writeFile(t, "recipe.yaml", "secret: 1\n")
	for _, path := range []string{"", "..", outside, "../secret.csv", "link.csv", "*.csv",
		"recipe.yaml", "absent.csv"} {
		w := r.sendRequest(
			http.MethodPost, "/api/preview",
			`{"path":"`+path+`"}`,
			nil,
		)
		if w.Code < 400 ||
			strings.Contains(w.Body.String(), "secret,") ||
			strings.Contains(w.Body.String(), `"rows"`) {
			t.Errorf(
				"%s: %d %s",
				path, w.Code, w.Body,
			)
		}
	}
}
