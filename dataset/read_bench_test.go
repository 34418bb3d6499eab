package dataset

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// floatCSV writes rows × cols normal numbers with all their digits.
func floatCSV(rows, cols int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b []byte
	for j := range cols {
		if j > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "x%d", j)
	}
	b = append(b, '\n')
	for range rows {
		for j := range cols {
			if j > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendFloat(b, r.NormFloat64(), 'g', -1, 64)
		}
		b = append(b, '\n')
	}
	return b
}

// BenchmarkRead reads a CSV file of 20,000 × 90 floats. BENCH_CSV names another file to read instead; all its
// columns must be numeric.
func BenchmarkRead(b *testing.B) {
	path := os.Getenv("BENCH_CSV")
	if path == "" {
		path = filepath.Join(b.TempDir(), "x.csv")
		err := os.WriteFile(path, floatCSV(20_000, 90), 0o600)
		if err != nil {
			b.Fatal(err)
		}
	}
	names, err := Header(path, ReadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	for _, mode := range []struct {
		name string
		opts ReadOptions
	}{
		{"fast", ReadOptions{}},
		{"fast-1", ReadOptions{Workers: 1}},
		{"slow", ReadOptions{ForceSlow: true}},
	} {
		b.Run(mode.name, func(b *testing.B) {
			b.SetBytes(info.Size())
			for b.Loop() {
				_, _, err := Read(
					context.Background(),
					path,
					numericSchema(names...),
					mode.opts,
				)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReadFrom parses the same rows from a stream.
func BenchmarkReadFrom(b *testing.B) {
	data := floatCSV(20_000, 90)
	names, err := newNames(data)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		_, _, err := ReadFrom(
			context.Background(),
			bytes.NewReader(data),
			"stdin",
			numericSchema(names...),
			ReadOptions{},
		)
		if err != nil {
			b.Fatal(err)
		}
	}
}

func newNames(data []byte) ([]string, error) {
	rd, err := newReader(
		"x.csv",
		fileKind{comma: ','}, Schema{},
		ReadOptions{},
	)
	if err != nil {
		return nil, err
	}
	h, err := rd.readHeader(rd.newRecords(bytes.NewReader(data)))
	return h.names, err
}

// numericSchema declares numeric columns without a missing value.
func numericSchema(names ...string) (s Schema) {
	for _, name := range names {
		s.Columns = append(s.Columns, Column{Name: name})
	}
	return s
}

// BenchmarkReadParquet reads one million optional floats and as many integers.
func BenchmarkReadParquet(b *testing.B) {
	rows := make([]bigRow, 1_000_000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		rows[i] = bigRow{I: int64(i)}
		x := r.NormFloat64()
		if i%10 != 0 {
			rows[i].X = &x
		}
	}
	path := writeParquet(b, rows)
	b.SetBytes(16 * int64(len(rows)))
	for b.Loop() {
		_, _, err := Read(
			context.Background(),
			path,
			numericSchema("x", "i"),
			ReadOptions{},
		)
		if err != nil {
			b.Fatal(err)
		}
	}
}
