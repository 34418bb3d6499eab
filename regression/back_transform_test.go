package regression

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBackTransformedPredictionsAgree checks that a model of a transformed target predicts alike in blocks, record by
// record, and from its file; that its predictions stay within the range of the target; and that a file that names
// another transform is rejected.
func TestBackTransformedPredictionsAgree(t *testing.T) {
	files, err := filepath.Glob("testdata/model-2*.json")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := DecodeModel(bytes.NewReader(data))
		if err != nil || len(m.Output().Classes) > 0 {
			continue
		}
		l := LinearPart(m)
		l.Intercept -= l.Lower/2 + l.Upper/2
		l.Lower = -3
		l.Upper = 5
		l.Back = &BackTransform{
			Transform: "log",
			Slope:     1,
			Variance:  .5,
			Lower:     .01,
			Upper:     100,
		}
		rows := Rows{
			N:       40,
			Numeric: map[string][]float64{},
			Codes:   map[string]Codes{},
		}
		records := make([]map[string]any, rows.N)
		for i := range records {
			records[i] = map[string]any{}
			for _, c := range m.Inputs() {
				if c.Type == Category {
					codes := rows.Codes[c.Name]
					k := i % (len(c.Categories) + 1)
					rows.Codes[c.Name] = Codes{
						Values:     append(codes.Values, int32(k)),
						Categories: c.Categories,
					}
					if records[i][c.Name] = "other"; k < len(c.Categories) {
						records[i][c.Name] = c.Categories[k]
					}
					continue
				}
				x := c.Lower + (c.Upper-c.Lower)*float64(i*7%40)/39
				rows.Numeric[c.Name] = append(rows.Numeric[c.Name], x)
				records[i][c.Name] = x
			}
		}
		want, err := m.Predict(nil, rows)
		if err != nil {
			t.Fatal(file, err)
		}
		var buf bytes.Buffer
		if err := EncodeModel(&buf, m); err != nil {
			t.Fatal(file, err)
		}
		read, err := DecodeModel(bytes.NewReader(buf.Bytes()))
		if err != nil {
			t.Fatal(file, err)
		}
		p, err := Compile(read)
		if err != nil {
			t.Fatal(file, err)
		}
		l.Back = nil
		plain, err := m.Predict(nil, rows)
		if err != nil {
			t.Fatal(file, err)
		}
		for i, record := range records {
			got, err := p.PredictRecord(record)
			exact := min(max(math.Exp(plain[i]+.25), .01), 100)
			if err != nil ||
				got != want[i] ||
				math.Abs(got-exact) > 1e-12*exact {
				t.Fatalf(
					"%s: record %d: %v by itself, %v in a block, exactly %v: %v",
					file,
					i,
					got,
					want[i],
					exact,
					err,
				)
			}
		}
		bad := bytes.Replace(
			buf.Bytes(),
			[]byte(`"transform":"log"`),
			[]byte(`"transform":"cube"`),
			1,
		)
		_, err = DecodeModel(bytes.NewReader(bad))
		if err == nil ||
			!strings.Contains(err.Error(), "target_transform.transform") {
			t.Errorf("%s: %v", file, err)
		}
		tried++
	}
	if tried < 5 {
		t.Errorf("%d kinds of models were tried", tried)
	}
}

// The inverse transformation is finite, grows with the prediction and stays within the limits.
func TestBackStaysWithinLimits(t *testing.T) {
	for _, b := range []*BackTransform{
		{"log", 0, 1, 0, 0, 1e300},
		{"log", .1, .8, .4, 2, 50},
		{"log", 0, 2, 2, 0, 1e308},
		{"sqrt", 0, 1, 0, 0, 100},
		{"sqrt", -3, 1.2, 3, 0, 1e307},
		{"sqrt", 0, 0, 1e300, 5, 5},
		{"", .3, .9, 0, -4, 7},
	} {
		for _, limits := range [][2]float64{
			{-14, 20},
			{0, 0},
			{-1e308, 1e308},
			{700, 720},
		} {
			last := math.Inf(-1)
			for _, share := range []float64{0, .1, .5, .9, 1} {
				y := b.Mean(
					limits[0]*(1-share)+limits[1]*share,
					limits[0], limits[1],
				)
				if !(y >= b.Lower && y <= b.Upper) ||
					math.IsInf(y, 0) ||
					y < last {
					t.Errorf(
						"%+v in %v at %v: %v after %v",
						b, limits, share, y, last,
					)
				}
				last = y
			}
		}
	}
	y := (*BackTransform)(nil).Mean(7, 0, 1)
	if y != 7 {
		t.Errorf("no way back makes %v of 7", y)
	}
}

// For normal errors the mean of exp(z + e) is exp(z + v/2), and for any errors the mean of (z + e)² is z² + v.
func TestBackIsTheMean(t *testing.T) {
	const (
		steps = 4000
		sd    = .6
	)
	var logs, squares, weights float64
	for i := range steps {
		e := -6 + 12*(float64(i)+.5)/steps
		w := math.Exp(-e * e / 2)
		weights += w
		logs += w * math.Exp(2+sd*e)
		squares += w * (2 + sd*e) * (2 + sd*e)
	}
	if got, want := (&BackTransform{"log", 1, .5, sd * sd, 0, 1e9}).Mean(2, -100, 100),
		logs/weights; math.Abs(got-want) > 1e-6*want {
		t.Errorf(
			"log: %v, the mean is %v",
			got, want,
		)
	}
	if got, want := (&BackTransform{"sqrt", 0, 1, sd * sd, 0, 1e9}).Mean(2, 0, 100),
		squares/weights; math.Abs(got-want) > 1e-6*want {
		t.Errorf(
			"sqrt: %v, the mean is %v",
			got, want,
		)
	}
}
