package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestScores checks that binary columns have the predictions of the same records as text, in blocks of several sizes,
// and that input which ends early or is no such input is an error of the data.
func TestScores(t *testing.T) {
	chdirTemp(t)
	var train strings.Builder
	train.WriteString("area,kind,price\n")
	for i := range 2000 {
		fmt.Fprintf(
			&train,
			"%d,%s,%d\n",
			i%90,
			[]string{"a", "b"}[i%2],
			(i%90)*(i%90)+300*(i%2),
		)
	}
	writeFile(t, "train.csv", train.String())
	if got := dptrain(t, "fit", "--data", "train.csv", "--target", "price", "--epsilon", "5",
		"--categories", "kind=a,b", "--method", "boosted-kernel"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	const model = "out/release/model.json"
	var table strings.Builder
	table.WriteString("area,kind\n")
	var input bytes.Buffer
	input.WriteString(
		`{"columns":[{"name":"area","categories":null},{"name":"kind","categories":["a","b"]}]}` + "\n")
	record := 0
	for _, n := range []int{1, 300, 7} {
		var numbers, codes []byte
		for range n {
			record++
			area := []float64{
				float64(record % 90),
				math.NaN(),
				math.Inf(1), -1e300,
			}[min(record%17, 3)]
			code := []int32{0, 1, -1}[record%3]
			fmt.Fprintf(
				&table, "%v,%s\n",
				area,
				[]string{"a", "b", "c"}[record%3],
			)
			numbers = binary.LittleEndian.AppendUint64(numbers, math.Float64bits(area))
			codes = binary.LittleEndian.AppendUint32(codes, uint32(code))
		}
		input.Write(binary.LittleEndian.AppendUint32(nil, uint32(n)))
		input.Write(numbers)
		input.Write(codes)
	}
	writeFile(t, "new.csv", table.String())
	want := strings.Fields(dptrain(
		t, "predict", model, "new.csv",
	).stdout)[1:]
	got := dptrainIn(t, input.String(), "scores", model)
	if got.code != exitOK || len(got.stdout) != 8*len(want) {
		t.Fatalf(
			"exit code %d, %d bytes for %d records: %s",
			got.code,
			len(got.stdout),
			len(want),
			got.stderr,
		)
	}
	for i, text := range want {
		v := math.Float64frombits(binary.LittleEndian.Uint64([]byte(got.stdout[8*i:])))
		if fmt.Sprint(v) != text {
			t.Errorf(
				"record %d: %v, want %s",
				i, v, text,
			)
		}
	}
	for _, wrong := range []string{
		"",
		"area\n",
		input.String()[:input.Len()-1],
		input.String() + "\x01",
		input.String() + "\xff\xff\xff\xff",
		`{"columns":[{"name":"area","categories":null}]}` + "\n\x00\x00\x00\x00",
	} {
		got := dptrainIn(t, wrong, "scores", model)
		if got.code != exitData {
			t.Errorf(
				"%.60q: exit code %d",
				wrong, got.code,
			)
		}
	}
}
