package suite

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/direction"
)

// causalTar writes an archive of a few pairs of 200 records. In half of the pairs the second column is the cause.
func causalTar(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	add := func(name, text string) {
		err := w.WriteHeader(
			&tar.Header{
				Name: name,
				Mode: 0o600,
				Size: int64(len(text)),
			})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, set := range causalSets {
		meta := ""
		for i := range 4 {
			g := newGenerator("test", 1, uint64(i))
			rows := ""
			for range 200 {
				x := 2*g.uniform() - 1
				y := x*x + .2*g.normal()
				if i%2 == 1 {
					x, y = y, x
				}
				rows += fmt.Sprintf("%.6f %.6f\n", x, y)
			}
			add(
				fmt.Sprintf("sim/%s/pair%04d.txt", set, i+1),
				rows,
			)
			meta += fmt.Sprintf(
				"%04d %s 1\n", i+1,
				[]string{"1 1 2 2", "2 2 1 1"}[i%2],
			)
		}
		add("sim/"+set+"/pairmeta.txt", meta)
	}
	if err := errors.Join(w.Close(), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestCausalRun checks that at epsilon 10 the histogram decides all pairs of parabolas correctly, and that every
// method has its values.
func TestCausalRun(t *testing.T) {
	dir := t.TempDir()
	if _, err := NewPlan(seed002+"-causal", Options{
		Public: true,
		Data:   dir,
	}); !errors.Is(err, ErrData) {
		t.Errorf("without the archive: %v", err)
	}
	path := filepath.Join(dir, causalArchive)
	causalTar(t, path)
	plan, err := NewPlan(seed002+"-causal", Options{
		Public: true,
		Data:   dir,
		Trials: 1,
	})
	if err != nil || len(plan.Tasks) != 10 {
		t.Fatalf(
			"%d tasks, %v",
			len(plan.Tasks), err,
		)
	}
	var records []Record
	for _, task := range plan.Tasks {
		if task.Name != "SIM" && task.Name != "SIM, thesis" {
			continue
		}
		todo := append(
			task.Keys(),
			Key{causalCell("SIM", "magic", 1, 0), 1},
		)
		err := task.Run(t.Context(), todo, func(k Key, o Outcome) {
			records = append(records, Record{k, o})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range records {
		if (r.Status != OK) != (r.Method == "magic") {
			t.Fatalf("%+v", r)
		}
		v := r.Values[metricDirection]
		if r.Status == OK && !(v >= 0 && v <= 1) {
			t.Errorf("%+v", r)
		}
		if r.Method == causalHistogram &&
			r.Setting.Epsilon == 10 &&
			(v != 1 || r.Values[metricPairsMean] != 200) {
			t.Errorf("%+v", r)
		}
	}
	text := checkPage(t, plan.Page(records))
	for _, part := range []string{"table 4.2", "as published", causalMadePrivate} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
}

// TestGeneratedPairIsStandardised checks that generated pairs are standardised, and equal for equal seeds.
func TestGeneratedPairIsStandardised(t *testing.T) {
	a := madePair(newGenerator("test", 1, 1), 500)
	b := madePair(newGenerator("test", 1, 1), 500)
	sum := 0.
	for i := range a.x {
		sum += a.x[i] * a.x[i] / 500
		if a.x[i] != b.x[i] ||
			a.y[i] != b.y[i] ||
			math.IsNaN(a.y[i]) {
			t.Fatalf(
				"record %d: %v %v and %v %v",
				i, a.x[i],
				a.y[i],
				b.x[i],
				b.y[i],
			)
		}
	}
	if !a.forward || math.Abs(sum-1) > .05 {
		t.Errorf("variance %v", sum)
	}
}

// TestQuartileLaw checks that the probabilities for neighbouring tables differ by a factor of at most e^epsilon, and
// that with a large epsilon the quartiles are those of the values.
func TestQuartileLaw(t *testing.T) {
	f := direction.Fit{}
	for i := range 200 {
		v := 2*float64(i)/199 - 1
		f.X = append(f.X, v)
		f.ResidualY = append(f.ResidualY, 2*v)
		f.Y = append(f.Y, v*v*v)
		f.ResidualX = append(f.ResidualX, v)
	}
	for j, want := range []float64{
		-.5, .5, -1, 1, -.125,
		.125, -.5, .5,
	} {
		law := quartileLaw(f, j, 500)
		got := mechanism.QuartileAt(quantileIndex(law, .5), quartileReach(j))
		if math.Abs(got-want) > .03 {
			t.Errorf(
				"quartile %d is %v, want %v",
				j, got, want,
			)
		}
	}
	g := direction.Fit{X: append([]float64{.99}, f.X[1:]...)}
	a := quartileLaw(f, 0, .7)
	b := quartileLaw(g, 0, .7)
	most := 0.
	for i := range a {
		most = max(most, math.Abs(math.Log(a[i]/b[i])))
	}
	if most > .7 || most < .1 {
		t.Errorf(
			"a replaced value moves a chance by e^%v, epsilon is .7",
			most,
		)
	}
}
