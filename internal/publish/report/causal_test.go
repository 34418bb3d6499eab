package report

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/causal"
)

const studyRecipe = `task: causal
data:
  header: [x, "a<b", other]
  columns:
    x: {lower: -1, upper: 1}
    "a<b": {lower: -2, upper: 2}
privacy: {epsilon: 2}
causal: {columns: [x, "a<b"]}
`

// runStudy runs a study on synthetic records and returns its files.
func runStudy(t *testing.T) Files {
	t.Helper()
	r, problems := recipe.Parse("recipe.yaml", []byte(studyRecipe))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	s, err := r.Study(r.Data.Header)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	const n = 8000
	x := make([]float64, n)
	y := make([]float64, n)
	for i := range n {
		x[i] = math.Mod(float64(i)*.754877666246693, 2) - 1
		y[i] = 2*x[i]*x[i] - 1 + (math.Mod(float64(i)*.569840290998053, 1)-.5)/2
	}
	tab, err := dataset.NewTable(
		s.Schema,
		[]dataset.ColumnData{{Floats: x}, {Floats: y}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	res, err := plan.Run(context.Background(), tab)
	if err != nil {
		t.Fatal(err)
	}
	public, err := r.Public()
	if err != nil {
		t.Fatal(err)
	}
	return Collect(NewCausal(res), nil, res.Curator, nil, public, "table.csv")
}

// placeFiles writes files and returns their release folder.
func placeFiles(t *testing.T, files Files) string {
	t.Helper()
	dir := t.TempDir()
	err := Write(context.Background(), dir, files, false)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, ReleaseDir)
}

// TestCausalRoundTrip checks that a written account can be read back, gives the same bytes and is consistent.
func TestCausalRoundTrip(t *testing.T) {
	dir := placeFiles(t, runStudy(t))
	data, err := os.ReadFile(filepath.Join(dir, CausalFile))
	if err != nil {
		t.Fatal(err)
	}
	r, err := DecodeFile(bytes.NewReader(data), CausalFile)
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := Encode(&again, r); err != nil || !bytes.Equal(again.Bytes(), data) {
		t.Errorf("other bytes after reading (%v)", err)
	}
	if r.Causal.Pairs[0].Direction != XCausesY {
		t.Errorf(
			"direction %q",
			r.Causal.Pairs[0].Direction,
		)
	}
	v, err := Verify(context.Background(), dir, VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range v.Checks {
		if check.State == Misfit ||
			check.State == NotChecked && check.Name != "ledger" {
			t.Errorf("%+v", check)
		}
	}
	var text strings.Builder
	err = Text(&text, r)
	if err != nil ||
		!strings.Contains(
			strings.Join(strings.Fields(text.String()), " "),
			"x causes a<b",
		) {
		t.Errorf(
			"%v: %s",
			err, text.String(),
		)
	}
}

// TestCausalPicture checks that the picture is well-formed and depends only on the account.
func TestCausalPicture(t *testing.T) {
	c := runStudy(t).Report.Causal
	var a, b bytes.Buffer
	err := errors.Join(c.Picture(&a), c.Picture(&b))
	if err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatalf("two pictures of one account (%v)", err)
	}
	cells := 0
	for d := xml.NewDecoder(&a); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if ok && e.Name.Local == "rect" {
			cells++
		}
	}
	want := len(c.Pairs[0].Counts)*len(c.Pairs[0].Counts) + 2
	if cells != want {
		t.Errorf("%d rectangles, want %d", cells, want)
	}
}

// TestVerifyCausalFindsForgery checks that an edit is found even if the checksums were recomputed, and that the
// message names the inconsistency.
func TestVerifyCausalFindsForgery(t *testing.T) {
	for _, c := range []struct {
		check string
		edit  func(*Report)
	}{
		{"directions", func(r *Report) {
			r.Causal.Pairs[0].Direction = YCausesX
		}},
		{"directions", func(r *Report) {
			r.Causal.Pairs[0].Counts[3][4] += 400
		}},
		{"directions", func(r *Report) {
			r.Causal.Pairs[0].Stability = .8
		}},
		{"directions", func(r *Report) {
			r.Causal.Pairs[0].Scores[1].XToY++
		}},
		{
			"directions",
			func(r *Report) {
				r.Causal.Redraws.Seed = strings.Repeat("z", 64)
			},
		},
		{"directions", func(r *Report) {
			r.Causal.Redraws.Seed = ""
		}},
		{"directions", func(r *Report) {
			r.Causal.Redraws.Least = .5
		}},
		{"noise", func(r *Report) {
			r.Causal.Pairs[0].Noise.Scale /= 2
		}},
		{"steps", func(r *Report) {
			r.Events[0].Scale /= 2
		}},
		{"noise", func(r *Report) {
			r.Events[1].Scale /= 2
		}},
		{"guarantee", func(r *Report) {
			r.Guarantee.Epsilon = 1
			r.Guarantee = r.Guarantee.explained()
		}},
		{"plan", func(r *Report) {
			r.Events = r.Events[1:]
		}},
		{"recipe", func(r *Report) {
			r.Causal.Columns[0].Name = "other"
			r.Causal.Pairs[0].X = "other"
		}},
		{"recipe", func(r *Report) {
			r.Unprotected = nil
		}},
		{
			"recipe",
			func(r *Report) {
				r.Causal.Pairs = append(r.Causal.Pairs, r.Causal.Pairs[0])
			},
		},
	} {
		files := runStudy(t)
		c.edit(files.Report)
		v, err := Verify(context.Background(), placeFiles(t, files), VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, check := range v.Checks {
			found = found || check.State == Misfit && check.Name == c.check
		}
		if !found {
			t.Errorf(
				"%s: an edit was not found: %+v",
				c.check, v.Checks,
			)
		}
	}
}

// TestVerifyCausalFindsEdits checks that an edit of a file is found by its checksum.
func TestVerifyCausalFindsEdits(t *testing.T) {
	for _, name := range []string{CausalFile, pictureFile, recipeFile} {
		dir := placeFiles(t, runStudy(t))
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := Verify(context.Background(), dir, VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if v.Err() == nil {
			t.Errorf("an edit of %s was not found", name)
		}
	}
	dir := placeFiles(t, runStudy(t))
	if err := os.WriteFile(filepath.Join(dir, "model.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := Verify(context.Background(), dir, VerifyOptions{})
	if err != nil || v.Err() == nil {
		t.Errorf("a foreign file was not found (%v)", err)
	}
}

// TestDecodeCausalRefuses checks that counts that do not form a square, and other formats, are rejected.
func TestDecodeCausalRefuses(t *testing.T) {
	encoded := func(edit func(*Causal)) string {
		r := runStudy(t).Report
		edit(r.Causal)
		var b strings.Builder
		if err := Encode(&b, r); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, c := range []struct {
		text string
		want error
	}{
		{"", ErrFormat},
		{"{}", ErrFormat},
		{
			strings.Replace(
				encoded(func(*Causal) {}),
				CausalFormat,
				"dptrain.causal/3",
				1,
			),
			ErrFormat,
		},
		{
			strings.Replace(
				encoded(func(*Causal) {}),
				`"method"`, `"more"`, 1,
			),
			ErrContent,
		},
		{
			encoded(func(c *Causal) {
				c.Pairs[0].Counts = c.Pairs[0].Counts[1:]
			}),
			ErrContent,
		},
		{encoded(func(c *Causal) {
			c.Pairs[0].Counts = nil
		}), ErrContent},
		{encoded(func(c *Causal) {
			c.Pairs[0].Scores = nil
		}), ErrContent},
		{strings.Replace(encoded(func(*Causal) {}), CausalFormat, Format, 1), ErrFormat},
		{
			strings.Replace(
				encoded(func(*Causal) {}),
				`"files": {}`,
				`"files": {"model.json":"ab"}`,
				1,
			),
			ErrContent,
		},
	} {
		_, err := DecodeFile(strings.NewReader(c.text), CausalFile)
		if !errors.Is(err, c.want) {
			t.Errorf(
				"%.60s: %v, want %v",
				c.text, err, c.want,
			)
		}
	}
}

// TestCausalLedger checks that a ledger entry replaces the warning about a missing ledger.
func TestCausalLedger(t *testing.T) {
	c := NewCausal(&causal.Result{Guarantee: budget.Guarantee{Epsilon: 1}})
	for _, w := range runStudy(t).Report.Warnings {
		c.Warn(w)
	}
	before := len(c.Warnings)
	c.Enter(Ledger{
		Dataset: "d",
		Entry:   3,
		Head:    "ab",
	})
	if len(c.Warnings) != before-1 || c.Ledger.Entry != 3 {
		t.Errorf("%+v", c)
	}
}
