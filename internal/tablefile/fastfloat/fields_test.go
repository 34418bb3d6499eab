package fastfloat

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// readFields compares every field that Fields reads from a line, and its end, with Scan. It returns the number
// of fields.
func readFields(t testing.TB, line []byte, room int) int {
	t.Helper()
	out := make([]float64, room+1)
	out[room] = math.Pi
	count, next := Fields(out[:room], line, ',')
	if out[room] != math.Pi {
		t.Fatalf("%q: a number beyond the room", line)
	}
	at := 0
	for k, v := range out[:count] {
		if at > len(line) {
			t.Fatalf(
				"%q: %d fields of %d",
				line, count, k,
			)
		}
		field, _, _ := bytes.Cut(line[at:], []byte{','})
		want, n, ok := Scan(field)
		if !ok ||
			n != len(field) ||
			math.Float64bits(v) != math.Float64bits(want) {
			t.Fatalf(
				"%q: field %d, %q, is %v, want %v (%v)",
				line, k, field, v, want, ok,
			)
		}
		at += n + 1
	}
	if at != next {
		t.Fatalf(
			"%q: the next field begins at %d, want %d",
			line, next, at,
		)
	}
	return count
}

// lineInBuffer returns the line as the start of a longer buffer.
func lineInBuffer(line, rest string) []byte {
	return []byte(line + rest)[:len(line)]
}

func TestFieldsAreThoseOfScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []string{"0", "-0", "1", "-1.5", "12.25", ".5", "5.", "-.25", "123456789012345",
		"1234567.12345678", "-12345678.1234567", "999999999999999",
		"", "-", ".", "-.", "1.2.3", "..", "1e5", "+1", "abc", "1234567890123456",
		"0.12345678901234567", " 1", "1 ", "--1", "\"1\"", "1\r", "0.000000000001", "00012"}
	read := 0
	for range 200_000 {
		var fields []string
		for range 1 + rng.IntN(12) {
			switch rng.IntN(8) {
			case 0:
				fields = append(fields, parts[rng.IntN(len(parts))])
			case 1:
				fields = append(fields, strconv.Itoa(rng.IntN(2000)-1000))
			default:
				fields = append(
					fields,
					strconv.FormatFloat(
						rng.NormFloat64()*math.Pow(10, float64(rng.IntN(6)-2)),
						'f',
						rng.IntN(9),
						64,
					),
				)
			}
		}
		line := strings.Join(fields, ",")
		read += readFields(
			t,
			lineInBuffer(line, "\n123,456.5,7777777777777777"[:rng.IntN(26)]),
			rng.IntN(len(fields)+2),
		)
	}
	if fieldsAvailable() && read < 400_000 {
		t.Errorf("only %d fields were read", read)
	}
}

// TestFieldsReadsALine checks that common numbers are read up to the end of the line, but not those of the
// next line.
func TestFieldsReadsALine(t *testing.T) {
	if !fieldsAvailable() {
		t.Skip("this build or processor reads field by field")
	}
	line := "1,-2.5,.25,3.,-0,12345.678901,999999999999999"
	n := readFields(
		t,
		lineInBuffer(
			line,
			"\n1.5,2.5,3.5,4.5,5.5",
		),
		20,
	)
	if n != 7 {
		t.Errorf("%d fields of 7", n)
	}
	n = readFields(
		t,
		lineInBuffer(
			line,
			"99,1.5,2.5,3.5,4.5,5.5",
		),
		20,
	)
	if n != 6 {
		t.Errorf(
			"%d fields before one that seems to go on, want 6",
			n,
		)
	}
}

func fieldsAvailable() bool {
	_, next := Fields(
		make([]float64, 1),
		lineInBuffer("1", strings.Repeat(" ", 40)),
		',',
	)
	return next > 0
}

func FuzzFields(f *testing.F) {
	f.Add(
		"1,2.5,-3",
		"\n4,5,6,7,8,9,10,11,12",
		5,
	)
	f.Fuzz(func(t *testing.T, line, rest string, room int) {
		readFields(t, lineInBuffer(line, rest), min(max(room, 0), 100))
	})
}

func BenchmarkFields(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var fields []string
	for range 90 {
		fields = append(
			fields,
			strconv.FormatFloat(rng.NormFloat64()*10, 'g', 7, 64),
		)
	}
	line := lineInBuffer(
		strings.Join(fields, ","),
		"\n"+strings.Repeat("1", 20),
	)
	b.Run("fields", func(b *testing.B) {
		out := make([]float64, 90)
		for b.Loop() {
			n, _ := Fields(out, line, ',')
			if n != 90 && fieldsAvailable() {
				b.Fatal(n)
			}
		}
	})
	b.Run("one by one", func(b *testing.B) {
		out := make([]float64, 90)
		for b.Loop() {
			for k, i := 0, 0; k < 90; k++ {
				v, n, _ := Scan(line[i:])
				out[k] = v
				i = i + n + 1
			}
		}
	})
}
