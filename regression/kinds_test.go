package regression

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// This file holds the checks that every kind of model must pass. The test of a
// kind calls them with its own sample and its own tables.

var writeGolden = flag.Bool(
	"write-golden",
	false,
	"write the files testdata/model-2*.json anew; never after version 2 was published",
)

// validated is a model with a method that validates it: every kind.
type validated interface {
	Model
	Validate() error
}

// blockwise is a model that predicts in blocks of rows on several goroutines.
type blockwise interface {
	validated
	predictWith(dst []float64, rows Rows, workers int) ([]float64, error)
}

// fataler is a test, a benchmark, a fuzz target or a property.
type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// contradiction is a change that makes a model contradict itself. want is the
// path that must be reported, or the path and, after ": ", the exact problem.
type contradiction[M any] struct {
	want  string
	spoil func(M)
}

// embeddedContradictions returns the contradictions of a linear model, made in the one that M
// embeds: the path is the same, and they are found before M's own.
func embeddedContradictions[M Model]() []contradiction[M] {
	var list []contradiction[M]
	for _, c := range contradictions {
		list = append(list, contradiction[M]{c.want, func(m M) {
			c.spoil(LinearPart(m))
		}})
	}
	return list
}

// checkContradictions checks that the sample is valid, and that each contradiction is rejected by Validate,
// EncodeModel and Predict without writing anything. rows are rows for the sample; invalid rows have an error of
// their own.
func checkContradictions[M validated](
	t *testing.T,
	sample func() M,
	rows Rows,
	cases []contradiction[M],
) {
	t.Helper()
	if err := sample().Validate(); err != nil {
		t.Fatal(err)
	}
	if _, err := sample().Predict(nil, rows); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		m := sample()
		c.spoil(m)
		var written strings.Builder
		_, predictErr := m.Predict(nil, rows)
		for what, err := range map[string]error{
			"Validate":    m.Validate(),
			"EncodeModel": EncodeModel(&written, m),
			"Predict":     predictErr,
		} {
			path, _, exact := strings.Cut(c.want, ": ")
			var problem *ModelError
			if !errors.As(err, &problem) ||
				problem.Path != path ||
				exact && err.Error() != "model: "+c.want {
				t.Errorf(
					"%s: %s gives %v",
					c.want, what, err,
				)
			}
		}
		if written.Len() > 0 {
			t.Errorf("%s: something was written", c.want)
		}
	}
	for _, n := range []int{-1, math.MinInt} {
		var problem *ModelError
		_, err := sample().Predict(nil, Rows{N: n})
		if !errors.As(err, &problem) {
			t.Errorf("N = %d: %v", n, err)
		}
	}
	_, err := sample().Predict(nil, Rows{N: 1})
	if !errors.Is(err, ErrColumnAbsent) {
		t.Errorf("no columns: %v", err)
	}
}

// checkReads checks that a file of an earlier version is still read, as m.
func checkReads(t *testing.T, file string, m Model) {
	t.Helper()
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	read, err := DecodeModel(bytes.NewReader(golden))
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(m, read)
	if diff != "" {
		t.Error(diff)
	}
}

// checkGolden checks that version 2 of the format is frozen. The file must always be read as m, and m be
// written as the file, byte for byte, until there is a later version.
func checkGolden(t *testing.T, file string, m Model) {
	t.Helper()
	written := encodeModel(t, m)
	if *writeGolden {
		if err := os.WriteFile(file, written, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	checkReads(t, file, m)
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(string(golden), string(written))
	if diff != "" {
		t.Error(diff)
	}
}

// withVersion2 adds the features of version 2 to a regression model that is or embeds sampleModel().
func withVersion2[M Model](m M) M {
	l := LinearPart(m)
	l.Terms = append(
		l.Terms,
		Term{
			Column:      0,
			Missing:     true,
			Coefficient: -8,
			StdError:    2,
		},
		Term{Column: 2, Missing: true, Coefficient: 4},
	)
	l.Intervals = []Interval{{.9, 12.5}, {.95, 17}}
	return m
}

// refusal is a part of a model file, its replacement, and the exact error message that must result.
type refusal struct{ old, new, want string }

// checkDecodeRefuses checks that the file of m with the first occurrence of a part replaced is rejected with
// exactly the message. The error must be [ErrModelFormat] if and only if the message names the formats that
// this version reads.
func checkDecodeRefuses(t *testing.T, m Model, cases []refusal) {
	t.Helper()
	golden := string(encodeModel(t, m))
	for _, c := range cases {
		file := strings.Replace(golden, c.old, c.new, 1)
		if file == golden {
			t.Errorf("%q does not occur", c.old)
			continue
		}
		_, err := DecodeModel(strings.NewReader(file))
		var problem *DecodeError
		if !errors.As(err, &problem) || err.Error() != c.want {
			t.Errorf(
				"%q gives\n%v, want\n%s",
				c.new, err, c.want,
			)
		}
		isFormat := strings.Contains(c.want, "this version reads")
		if errors.Is(err, ErrModelFormat) != isFormat {
			t.Errorf(
				"%q: ErrModelFormat is %v",
				c.new, !isFormat,
			)
		}
	}
}

func encodeModel(t interface{ Fatal(...any) }, m Model) []byte {
	var buf bytes.Buffer
	if err := EncodeModel(&buf, m); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// checkRoundTrip writes m to a file and returns the model read from it, which must be written as the same file.
func checkRoundTrip(t fataler, m Model) Model {
	written := encodeModel(t, m)
	got, err := DecodeModel(bytes.NewReader(written))
	if err != nil {
		t.Fatalf("%v in\n%s", err, written)
	}
	if !bytes.Equal(written, encodeModel(t, got)) {
		t.Fatalf(
			"another file after a round trip:\n%s",
			written,
		)
	}
	return got
}

// checkWithin checks that there are n predictions, all within the clamps of m.
func checkWithin(t fataler, m Model, got []float64, n int) {
	if len(got) != n {
		t.Fatalf(
			"%d predictions for %d rows",
			len(got), n,
		)
	}
	linear := LinearPart(m)
	for i, v := range got {
		if !(v >= linear.Lower && v <= linear.Upper) {
			t.Fatalf("row %d predicts %v", i, v)
		}
	}
}

// checkConformance checks, for any cells, that there is no error, that predictions are within the clamps, and
// that the bits do not depend on the order of rows, the number of workers or the reuse of dst. draw returns a
// model with the columns of sample.
func checkConformance(t *testing.T, draw func(*rapid.T) blockwise) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(
			rapid.Uint64().Draw(t, "seed"),
			9,
		))
		n := rapid.SampledFrom(
			[]int{
				0, 1, 2, 100, predictBlock - 1,
				predictBlock + 1, 3*predictBlock + 17,
			}).Draw(
			t,
			"n",
		)
		m := draw(t)
		rows := strangeRows(rng, n)
		serial, err := m.predictWith(nil, rows, 1)
		if err != nil {
			t.Fatal(err)
		}
		checkWithin(t, m, serial, n)
		parallel, err := m.predictWith(make([]float64, 3, 50), rows, 7)
		if err != nil || !slices.Equal(serial, parallel) {
			t.Fatal("parallel and serial differ", err)
		}
		order := rng.Perm(n)
		shuffled, err := m.Predict(nil, rows.permuteRows(order))
		if err != nil {
			t.Fatal(err)
		}
		for i, from := range order {
			if math.Float64bits(shuffled[i]) != math.Float64bits(serial[from]) {
				t.Fatalf("row %d changed with its place", from)
			}
		}
	})
}

// benchmarkLinear returns a linear model of 20 numeric columns and 200,000 rows
// for it.
func benchmarkLinear() (Linear, Rows) {
	m := Linear{
		Target: "y",
		Upper:  1e9,
		Lower:  -1e9,
	}
	rows := Rows{N: 200000, Numeric: map[string][]float64{}}
	rng := rand.New(rand.NewPCG(1, 1))
	for j := range 20 {
		name := string(rune('a' + j))
		column := make([]float64, rows.N)
		for i := range column {
			column[i] = rng.NormFloat64()
		}
		rows.Numeric[name] = column
		m.Columns = append(m.Columns, Column{Name: name, Lower: -2, Upper: 2})
		m.Terms = append(m.Terms, Term{Column: j, Coefficient: rng.NormFloat64()})
	}
	return m, rows
}

// benchmarkPredict predicts rows, which have 20 numeric columns, with m.
func benchmarkPredict(b *testing.B, m Model, rows Rows) {
	dst := make([]float64, rows.N)
	b.SetBytes(int64(8 * rows.N * 20))
	for b.Loop() {
		if _, err := m.Predict(dst, rows); err != nil {
			b.Fatal(err)
		}
	}
}
