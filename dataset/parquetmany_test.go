package dataset

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/internal/tablefile/parquetfile"
	"github.com/parquet-go/parquet-go/format"
)

// TestParquetMany checks that numbers read in bulk equal those read one by one, and are counted in the same
// classes.
func TestParquetMany(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	special := []uint64{
		0,
		1 << 63,
		math.Float64bits(math.NaN()),
		math.Float64bits(math.Inf(1)),
		math.Float64bits(math.Inf(-1)),
		1,
		math.MaxUint64,
		math.Float64bits(math.MaxFloat64),
		uint64(math.Float32bits(float32(math.Inf(-1)))),
		0x7fc00001,
		0x7f7fffff,
		1 << 31,
	}
	for _, c := range []struct {
		name  string
		conv  *converter
		width int
	}{
		{"doubles", doubleConverter(), 8},
		{"floats", floatConverter(), 4},
		{"integers", integerConverter(format.Int32, false), 4},
		{"long integers", integerConverter(format.Int64, false), 8},
	} {
		const missing = -7.5
		n := 3000
		data := []byte(nil)
		want := make([]float64, n)
		var tally, counted [parquetfile.Classes]int
		for k := range want {
			bits := r.Uint64()
			if k%3 == 0 {
				bits = special[r.IntN(len(special))]
			}
			stored := binary.LittleEndian.AppendUint64(nil, bits)[:c.width]
			data = append(data, stored...)
			x, what := c.conv.number(
				parquetfile.Value{Bits: binary.LittleEndian.Uint64(
					append(stored[:c.width:c.width], 0, 0, 0, 0))})
			if want[k] = x; what != good {
				want[k] = missing
			}
			tally[what]++
		}
		got := make([]float64, n)
		c.conv.many(missing)(got, data, &counted)
		for k := range got {
			if math.Float64bits(got[k]) != math.Float64bits(want[k]) {
				t.Fatalf(
					"%s: %v, want %v",
					c.name, got[k], want[k],
				)
			}
		}
		if counted != tally {
			t.Errorf(
				"%s: counts %v, want %v",
				c.name, counted, tally,
			)
		}
	}
}
