package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/describe"
)

var writeDescribeKeys = flag.Bool(
	"write-describe-keys",
	false,
	"write testdata/describe-keys.txt anew; with a new version of the format only, once version 1 was published",
)

// describedTable returns a study of d numeric columns and one column of groups, and a table of n records.
func describedTable(t testing.TB, d, n int) (describe.Study, *dataset.Table) {
	t.Helper()
	s := describe.Study{
		By:     "group",
		Budget: budget.Target{Epsilon: 20, Delta: 1e-6},
	}
	var data []dataset.ColumnData
	for j := range d {
		s.Schema.Columns = append(
			s.Schema.Columns,
			dataset.Column{Name: fmt.Sprintf("a rather long name of column %d", j)},
		)
		var x []float64
		for i := range n {
			v := float64(i%97) + float64(j)*float64(i%13)
			if i%50 == 0 {
				v = math.NaN()
			}
			x = append(x, v*math.Pow(10, float64(j%5)))
		}
		data = append(data, dataset.ColumnData{Floats: x})
	}
	var names []string
	for k := range 12 {
		names = append(names, fmt.Sprintf("the group with number %d", k))
	}
	s.Schema.Columns = append(
		s.Schema.Columns,
		dataset.Column{
			Name:       "group",
			Kind:       dataset.Category,
			Categories: names,
			Other:      true,
		},
	)
	var codes []int32
	for i := range n {
		codes = append(codes, int32(i%13))
	}
	table, err := dataset.NewTable(
		s.Schema,
		append(data, dataset.ColumnData{Codes: codes}),
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return s, table
}

// descriptionRelease writes the release of a description and returns its output folder.
func descriptionRelease(t testing.TB, s describe.Study, table *dataset.Table) string {
	t.Helper()
	plan, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	res, err := plan.Run(context.Background(), table)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	err = Write(
		context.Background(),
		dir,
		Collect(NewDescription(res), nil, res.Curator, nil, nil, "table.csv"),
		false,
	)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// readBack decodes the description in an output folder.
func readBack(t testing.TB, dir string) *Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, ReleaseDir, DescriptionFile))
	if err != nil {
		t.Fatal(err)
	}
	d, err := DecodeFile(bytes.NewReader(data), DescriptionFile)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// putDescription writes a description in place of another one, with a checksum that fits.
func putDescription(t testing.TB, dir string, d *Report) {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, d); err != nil {
		t.Fatal(err)
	}
	err := os.WriteFile(
		filepath.Join(dir, ReleaseDir, DescriptionFile),
		b.Bytes(),
		0o600,
	)
	if err != nil {
		t.Fatal(err)
	}
}

// TestDescriptionKeys checks the keys of describe.json, which are part of the format dptrain.describe/1.
func TestDescriptionKeys(t *testing.T) {
	s, table := describedTable(t, 2, 4000)
	data, err := os.ReadFile(
		filepath.Join(descriptionRelease(t, s, table), ReleaseDir, DescriptionFile))
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				walk(path+"."+key, value)
			}
		case []any:
			for _, value := range v {
				walk(path+"[]", value)
			}
		default:
			keys[strings.TrimPrefix(path, ".")] = true
		}
	}
	for _, key := range []string{"records", "columns", "correlations", "by", "released", "files",
		"checksum", "format"} {
		walk(key, file[key])
	}
	var got []string
	for key := range keys {
		got = append(got, key)
	}
	slices.Sort(got)
	const golden = "testdata/describe-keys.txt"
	if *writeDescribeKeys {
		err := os.WriteFile(
			golden,
			[]byte(strings.Join(got, "\n")+"\n"),
			0o600,
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(got, "\n") + "\n"; text != string(want) {
		t.Errorf(
			"other keys than in %s:\n%s",
			golden, text,
		)
	}
	var order []string
	for _, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(line, `  "`) {
			order = append(order, strings.Split(line, `"`)[1])
		}
	}
	text := strings.Join(order, " ")
	if text !=
		"format guarantee accounting events records columns correlations by released unprotected warnings files checksum" {
		t.Errorf("the order of the keys is %s", text)
	}
}

// TestDescriptionTextFitsAScreen checks that every description has at most 39 lines of 78 characters; the command
// adds one line.
func TestDescriptionTextFitsAScreen(t *testing.T) {
	for _, c := range []struct{ columns, records int }{
		{1, 4000},
		{6, 4000},
		{60, 4000},
		{3, 0},
		{25, 50},
	} {
		s, table := describedTable(t, c.columns, c.records)
		d := readBack(t, descriptionRelease(t, s, table))
		d.Enter(Ledger{Dataset: strings.Repeat("long ", 40), Entry: 12})
		var b strings.Builder
		if err := Text(&b, d); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(
			strings.TrimSuffix(b.String(), "\n"),
			"\n",
		)
		if len(lines) > 39 {
			t.Errorf(
				"%d columns: %d lines",
				c.columns, len(lines),
			)
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > 78 {
				t.Errorf(
					"%d columns: a line of %d characters: %s",
					c.columns, n, line,
				)
			}
		}
	}
}

// TestVerifyDescription checks that a written description is valid, and that every edit of a verified value is found
// even if the checksum was recomputed.
func TestVerifyDescription(t *testing.T) {
	s, table := describedTable(t, 3, 4000)
	dir := descriptionRelease(t, s, table)
	verify := func() string {
		v, err := Verify(
			context.Background(),
			filepath.Join(dir, ReleaseDir),
			VerifyOptions{},
		)
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, c := range v.Checks {
			if c.State == Misfit {
				out = append(out, c.Name)
			}
		}
		return strings.Join(out, " ")
	}
	if got := verify(); got != "" {
		t.Fatalf("a release as it was written: %s", got)
	}
	for name, x := range map[string]struct {
		edit func(*Report)
		want string
	}{
		"a mean": {
			func(d *Report) {
				*d.Description.Columns[0].Mean.Value++
			},
			"estimates",
		},
		"a released sum": {
			func(d *Report) {
				d.Description.Released.Columns[1].Sum += 50
			},
			"estimates",
		},
		"a correlation": {
			func(d *Report) {
				*d.Description.Correlations[0].Upper = 1.5
			},
			"estimates",
		},
		"a group": {
			func(d *Report) {
				d.Description.By.Groups[1].Small = true
			},
			"estimates",
		},
		"epsilon": {func(d *Report) {
			d.Guarantee.Epsilon = 1
		}, "guarantee plan"},
		"a mu": {
			func(d *Report) {
				d.Events[2].Mu /= 2
			},
			"guarantee plan",
		},
		"a noise": {
			func(d *Report) {
				d.Description.Released.MatrixNoise /= 2
			},
			"estimates noise",
		},
		"a noise of groups": {
			func(d *Report) {
				d.Description.Released.Groups.SumNoise /= 2
			},
			"estimates noise",
		},
		"a step": {func(d *Report) {
			d.Events = d.Events[1:]
		}, "guarantee plan"},
		"a column stated": {
			func(d *Report) {
				d.Unprotected[0].Value = []string{"x"}
			},
			"plan",
		},
		"a declared range": {
			func(d *Report) {
				for j := range d.Description.Released.Columns {
					d.Description.Released.Columns[j].Source = describe.Declared
				}
			},
			"estimates",
		},
	} {
		d := readBack(t, dir)
		x.edit(d)
		putDescription(t, dir, d)
		got := verify()
		if !strings.Contains(got, x.want[strings.LastIndex(x.want, " ")+1:]) {
			t.Errorf(
				"%s: %q, want %q",
				name, got, x.want,
			)
		}
		os.RemoveAll(dir)
		dir = descriptionRelease(t, s, table)
	}
	page := filepath.Join(dir, ReleaseDir, pageFile)
	err := os.WriteFile(page, []byte("<p>"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	got := verify()
	if !strings.Contains(got, pageFile) {
		t.Errorf("another page: %q", got)
	}
}

// TestDescriptionDecodes checks that a written description can be read back, and that inconsistent ones are rejected
// without a panic.
func TestDescriptionDecodes(t *testing.T) {
	s, table := describedTable(t, 2, 2000)
	dir := descriptionRelease(t, s, table)
	data, err := os.ReadFile(filepath.Join(dir, ReleaseDir, DescriptionFile))
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(*Report){
		"no released numbers": func(d *Report) {
			d.Description.Released = nil
		},
		"no histogram": func(d *Report) {
			d.Description.Columns[0].Bins = nil
		},
		"a small histogram": func(d *Report) {
			d.Description.Columns[0].Bins.Counts = d.Description.Columns[0].Bins.Counts[:3]
		},
		"a count without ends": func(d *Report) {
			d.Description.Columns[2].Categories[0].Count.Lower = nil
		},
		"a small matrix": func(d *Report) {
			d.Description.Released.Matrix.Packed = d.Description.Released.Matrix.Packed[:1]
		},
		"few groups": func(d *Report) {
			d.Description.Released.Groups.Sums = nil
		},
		"no leaves": func(d *Report) {
			d.Description.Released.Columns[0].Leaves = nil
		},
		"another kind": func(d *Report) {
			d.Description.Released.Columns[0].Kind = "date"
		},
		"few counts": func(d *Report) {
			d.Description.Released.Columns[2].Counts = nil
		},
		"no records": func(d *Report) {
			d.Description.Records.Value = nil
		},
	} {
		d := readBack(t, dir)
		edit(d)
		var b bytes.Buffer
		if err := Encode(&b, d); err != nil {
			t.Fatal(name, err)
		}
		if _, err := DecodeFile(&b, DescriptionFile); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, part := range []string{
		"",
		"{",
		string(data[:len(data)/2]),
		`{"format":"dptrain.describe/2"}`,
		strings.Replace(string(data), `"by"`, `"bye"`, 1),
	} {
		if _, err := DecodeFile(strings.NewReader(part), DescriptionFile); err == nil {
			t.Errorf("%.20q was accepted", part)
		}
	}
	claim, _, err := ReadClaim(filepath.Join(dir, ReleaseDir, DescriptionFile))
	if err != nil || claim.Release != readBack(t, dir).Checksum {
		t.Errorf("%+v, %v", claim, err)
	}
}

// TestDescriptionPage checks that the page has a section for each part of a description, and that the Markdown has
// the same text.
func TestDescriptionPage(t *testing.T) {
	s, table := describedTable(t, 3, 4000)
	d := readBack(t, descriptionRelease(t, s, table))
	var page, text strings.Builder
	if err := HTML(&page, Source{Report: d}); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&text, Source{Report: d}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Histograms and categories", "Associations", "Trust model",
		"alone, with the public", "release/describe.json", "What is guaranteed", "too few records",
		"How the steps add up", "whisker", "below "} {
		if !strings.Contains(page.String(), want) &&
			!(want == "too few records" &&
				!slices.ContainsFunc(d.Description.By.Groups, func(g describe.Group) bool {
					return g.Small
				})) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if !strings.Contains(text.String(), "## Groups") {
		t.Error("the text has no groups")
	}
}

// TestNumbersForPeople checks separators, decimals derived from the width of the interval, and open ends.
func TestNumbersForPeople(t *testing.T) {
	p := func(x float64) *float64 {
		return &x
	}
	for _, c := range []struct {
		value, lower, upper *float64
		want                string
	}{
		{
			p(38.61),
			p(38.3),
			p(38.9),
			"38.6 (38.3 to 38.9)",
		},
		{
			p(358354), p(353992),
			p(362676),
			"358,000 (354,000 to 363,000)",
		},
		{
			p(.0123), p(.0119),
			p(.0127),
			"0.0123 (0.0119 to 0.0127)",
		},
		{p(5), nil, p(7), "5 (at most 7)"},
		{
			p(5), p(4), nil,
			"5.0 (at least 4.0)",
		},
		{p(5), nil, nil, "5.000 (no bound)"},
		{nil, nil, nil, "unknown"},
		{
			p(-.001),
			p(-2), p(2),
			"0 (-2 to 2)",
		},
		{
			p(7), p(7),
			p(7),
			"7.000 (7.000 to 7.000)",
		},
	} {
		got := interval(c.value, c.lower, c.upper)
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for x, want := range map[float64]string{
		0:       "0",
		17:      "17",
		1234567: "1,230,000",
		-.25:    "-0.25",
		2e15:    "2e+15",
		1e-9:    "1e-09",
	} {
		if got := short3(x); got != want {
			t.Errorf(
				"%v is printed as %q, want %q",
				x, got, want,
			)
		}
	}
}

// TestDescriptionSurvivesEdits replaces arbitrary values of a description and checks that it is either rejected with
// one of the two errors, or printed, drawn and recomputed without a panic and without terminal control characters.
func TestDescriptionSurvivesEdits(t *testing.T) {
	s, table := describedTable(t, 2, 600)
	data, err := os.ReadFile(
		filepath.Join(descriptionRelease(t, s, table), ReleaseDir, DescriptionFile))
	if err != nil {
		t.Fatal(err)
	}
	values := []any{
		nil,
		0.,
		-1e300,
		1e308,
		5e-324,
		1e9,
		"",
		"\x1b[2J\n",
		"category",
		"numeric",
		"found",
		true,
		false,
		[]any{},
		map[string]any{},
		[]any{1., "x"},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	edits := testkit.Size(400, 1000)
	for range edits {
		var file any
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		for range 1 + rng.IntN(2) {
			at := file
			for depth := 1 + rng.IntN(6); depth > 0; depth-- {
				var set func(v any)
				var next any
				switch x := at.(type) {
				case map[string]any:
					keys := slices.Sorted(maps.Keys(x))
					if len(keys) == 0 {
						depth = 0
						continue
					}
					key := keys[rng.IntN(len(keys))]
					next = x[key]
					set = func(v any) {
						x[key] = v
					}
				case []any:
					if len(x) == 0 {
						depth = 0
						continue
					}
					i := rng.IntN(len(x))
					next = x[i]
					set = func(v any) {
						x[i] = v
					}
				default:
					depth = 0
					continue
				}
				if depth == 1 {
					set(values[rng.IntN(len(values))])
				}
				at = next
			}
		}
		edited, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := DecodeFile(bytes.NewReader(edited), DescriptionFile)
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrContent) {
				t.Fatal(err)
			}
			continue
		}
		accepted++
		var text, page strings.Builder
		if err := Text(&text, d); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(text.String(), func(c rune) bool {
			return c != '\n' && unicode.IsControl(c)
		}) {
			t.Fatalf("a control character in %q", text.String())
		}
		if err := HTML(&page, Source{Report: d}); err != nil {
			t.Fatal(err)
		}
		d.Description.estimateProblems()
		d.Description.noiseProblems(d)
		if study, err := d.Description.study(d.Guarantee); err == nil {
			_, _ = study.Plan()
		}
	}
	if accepted < edits/12 {
		t.Errorf("%d of %d edited files were read", accepted, edits)
	}
}
