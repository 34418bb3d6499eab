package scaling

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"runtime"
	"testing"

	"github.com/dptrain/dptrain/dataset"
)

// TestSameRowsOnEveryMachine checks that the integers of an encoded record, from which all sums are computed, are the
// same on every processor for the same ranges. scripts/long.sh runs it for amd64, 386 and, emulated, arm64, which
// fuses a product and a sum unless a conversion prevents it.
func TestSameRowsOnEveryMachine(t *testing.T) {
	const path = "../../../testdata/houses.csv"
	header, err := dataset.Header(path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var schema dataset.Schema
	var ranges []Range
	for j, name := range header {
		schema.Columns = append(schema.Columns, dataset.Column{Name: name})
		whole := interval{-1. / 3, float64(j+1) * 1e4 / 7}
		ranges = append(
			ranges,
			widenInterval(
				outerQuantiles(
					[]float64{3, 1. / 3, 7, 11, .1},
					whole, .05,
				),
				1.1,
			),
		)
	}
	table, _, err := dataset.Read(
		context.Background(),
		path,
		schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	encoder := NewEncoder(schema.Columns, ranges)
	rows := make([][]int16, len(encoder.Slots()))
	for i := range rows {
		rows[i] = make([]int16, table.Len())
	}
	var buf Scratch
	encoder.Encode(table.View().Block(0, table.Len()), rows, &buf)
	hash := fnv.New64a()
	for _, row := range rows {
		if err := binary.Write(hash, binary.LittleEndian, row); err != nil {
			t.Fatal(err)
		}
	}
	const want = "efea6d99e449488c"
	got := fmt.Sprintf("%x", hash.Sum64())
	if got != want {
		t.Errorf(
			"%s: the rows have the hash %s, not %s",
			runtime.GOARCH, got, want,
		)
	}
}
