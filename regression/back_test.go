package regression

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/train/rescale"
)

// TestBack checks that a model of a transformed target predicts alike in blocks, record by record, and from its
// file; that its predictions stay within the range of the target; and that a file that names another transform
// is rejected.
func TestBack(t *testing.T) {
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
		l.Back = &rescale.Back{
			Transform: rescale.Log,
			Slope:     1,
			Variance:  .5,
			Lower:     .01,
			Upper:     100,
		}
		rows := Rows{N: 40, Numeric: map[string][]float64{}, Codes: map[string]Codes{}}
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
				rows.Numeric[c.Name], records[i][c.Name] = append(rows.Numeric[c.Name], x), x
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
			if exact := min(max(math.Exp(plain[i]+.25), .01), 100); err != nil || got != want[i] ||
				math.Abs(got-exact) > 1e-12*exact {
				t.Fatalf("%s: record %d: %v by itself, %v in a block, exactly %v: %v", file, i, got,
					want[i], exact, err)
			}
		}
		bad := bytes.Replace(buf.Bytes(), []byte(`"transform":"log"`), []byte(`"transform":"cube"`),
			1)
		if _, err := DecodeModel(bytes.NewReader(bad)); err == nil ||
			!strings.Contains(err.Error(), "target_transform.transform") {
			t.Errorf("%s: %v", file, err)
		}
		tried++
	}
	if tried < 5 {
		t.Errorf("%d kinds of models were tried", tried)
	}
}
