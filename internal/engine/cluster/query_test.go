package cluster

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/noise/secret"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

// keeping is a cluster that has the rows of a query in parts, as lines of CSV, and stores blocks. swapped replaces
// the heads that it reports.
type keeping struct {
	here
	parts   []string
	task    []byte
	kept    map[string][]byte
	pause   bool // rows come one after the other
	swapped func(heads [][]byte) [][]byte
}

// slow returns one byte at a time.
type slow struct{ from *strings.Reader }

func (s slow) Read(p []byte) (int, error) {
	return s.from.Read(p[:1])
}

func (k *keeping) Keep(
	ctx context.Context,
	_ Query,
	task []byte,
	begin int,
) ([][]byte, error) {
	k.task = task
	k.kept = map[string][]byte{}
	var heads [][]byte
	for n := range k.parts {
		for _, block := range k.workerBlocks(ctx, n) {
			k.kept[string(block[:nameText])] = block
			heads = append(heads, block[:begin])
		}
	}
	rand.Shuffle(len(heads), func(i, j int) {
		heads[i], heads[j] = heads[j], heads[i]
	})
	if k.swapped != nil {
		heads = k.swapped(heads)
	}
	return heads, nil
}

// workerBlocks returns the blocks that a worker makes of a part.
func (k *keeping) workerBlocks(ctx context.Context, part int) [][]byte {
	if k.parts[part] == "" {
		return nil
	}
	var out bytes.Buffer
	text := fmt.Sprintf(
		"%s %d\n%s",
		k.task, part, k.parts[part],
	)
	var err error
	if k.pause {
		err = Work(ctx, slow{strings.NewReader(text)}, &out)
	} else {
		err = Work(ctx, strings.NewReader(text), &out)
	}
	if err != nil {
		panic(err)
	}
	return bytes.Split(
		bytes.TrimSuffix(out.Bytes(), []byte("\n")),
		[]byte("\n"),
	)
}

func (k *keeping) RunKept(
	ctx context.Context, order []byte, tasks [][]byte, workers int,
) ([][]byte, error) {
	if workers != 1 {
		return nil, fmt.Errorf("%d workers for a few records", workers)
	}

	var lines [][]byte
	for _, task := range tasks {
		name, rest, _ := bytes.Cut(task, []byte{' '})
		block := k.kept[string(name)]
		if block != nil {
			lines = append(lines, slices.Concat(rest, []byte{' '}, block))
		}
	}
	return k.Run(ctx, order, lines)
}

// visitorParts returns the rows of people in parts, and a file with the same rows.
func visitorParts(t *testing.T, lengths ...int) (*keeping, Query, dataset.Schema, string) {
	t.Helper()
	k := &keeping{}
	q := Query{
		"SELECT 4711",
		[]string{
			"who", "a,b", "note",
			"kind", "y",
		},
	}
	var all strings.Builder
	all.WriteString("who,\"a,b\",note,kind,y\n")
	i := 0
	for _, n := range lengths {
		var text strings.Builder
		for range n {
			i++
			who := fmt.Sprint("p", i*i%170)
			if i%50 == 7 {
				who = ""
			}
			fmt.Fprintf(
				&text,
				"%q,%v,\"%s\",%s,%d\n",
				who,
				float64(i)/7,
				[]string{
					"red", "7", "",
					"secret words",
					fmt.Sprint("id ", i),
				}[i*7%5],
				[]string{"a", "", "Grün"}[i%3],
				i%3,
			)
		}
		k.parts = append(k.parts, text.String())
		all.WriteString(text.String())
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	err := os.WriteFile(path, []byte(all.String()), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	schema := dataset.Schema{Unit: "who", Columns: []dataset.Column{
		{Name: "note", Found: true},
		{Name: "y"},
		{
			Name:  "kind",
			Kind:  dataset.Category,
			Found: true,
		},
		{Name: "a,b"},
	}}
	return k, q, schema, path
}

// TestQueryRecordsMatchMemory checks that the records of a query are those of a table in memory with the parts in
// sequence, including units and text categories, regardless of how the rows are distributed to the workers.
func TestQueryRecordsMatchMemory(t *testing.T) {
	for _, pause := range []bool{false, true} {
		k, q, schema, path := visitorParts(t, 3, 0, 700, 1)
		k.pause = pause
		e, stats, err := OpenQuery(
			t.Context(), k, q, schema,
			dataset.ReadOptions{},
		)
		if err != nil {
			t.Fatal(err)
		}
		table, read, err := dataset.Read(
			t.Context(), path, schema,
			dataset.ReadOptions{},
		)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(stats, read) {
			t.Errorf(
				"the workers counted %+v, want %+v",
				stats, read,
			)
		}
		columns := []int{3, 0, 1, 2}
		l := newLots(t)
		limited, err := e.limitIn(t.Context(), 2, columns, 3, l)
		if err != nil {
			t.Fatal(err)
		}
		as := slices.Clone(schema.Columns)
		as[2] = dataset.Column{
			Name:       "kind",
			Kind:       dataset.Category,
			Categories: []string{"Grün", "a"},
		}
		as[0] = dataset.Column{
			Name:       "note",
			Kind:       dataset.Category,
			Categories: []string{"secret words", "red", "7"},
		}
		resolved, err := limited.Resolve(t.Context(), as)
		if err != nil {
			t.Fatal(err)
		}
		want := table.View().Columns(columns).Cap(3, l.Draw).Resolve([]dataset.Column{
			as[3],
			as[0],
			as[1],
			as[2],
		})
		got, err := resolved.(*Engine).Gather(
			t.Context(),
			mechanism.Part{Columns: columns},
		)
		if err != nil {
			t.Fatal(err)
		}
		a := got.Block(0, got.Len())
		b := want.Block(0, want.Len())
		if a.Len() != b.Len() || a.Len() < 100 {
			t.Fatalf(
				"%d records, want %d",
				a.Len(), b.Len(),
			)
		}
		for i := range a.Len() {
			if a.ID(i) != b.ID(i) {
				t.Fatalf("record %d is of another unit", i)
			}
		}
		for j := range columns {
			if !slices.Equal(a.Float(j, nil), b.Float(j, nil)) ||
				!slices.Equal(a.Codes(j, nil), b.Codes(j, nil)) {
				t.Errorf("column %d differs", j)
			}
		}
	}
}

// TestStoredBlocksRevealNothing checks that the stored blocks reveal no record and no key, and that blocks made again
// from the same records have the same bytes.
func TestStoredBlocksRevealNothing(t *testing.T) {
	k, q, schema, _ := visitorParts(t, 2*blockMost, 5)
	e, _, err := OpenQuery(
		t.Context(), k, q, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.splits) != 3 ||
		e.splits[1].First != blockMost ||
		e.splits[2].First != 2*blockMost {
		t.Errorf("the blocks are %+v", e.splits)
	}
	var all []byte
	for _, block := range k.kept {
		text := block[headText:]
		for _, field := range bytes.Fields(text) {
			data, err := base64.StdEncoding.AppendDecode(nil, field)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, data...)
		}
	}
	for _, word := range []string{
		"secret words", "Grün",
		"Missing",
		string(e.blocks[:8]),
	} {
		if bytes.Contains(all, []byte(word)) {
			t.Errorf("a block holds %q", word)
		}
	}
	ones := 0
	for _, b := range all {
		for ; b > 0; b &= b - 1 {
			ones++
		}
	}
	// 8 standard deviations of the number of ones among as many fair bits: once in 10^15 runs.
	n := float64(8 * len(all))
	if math.Abs(float64(ones)-n/2) > 8*math.Sqrt(n)/2 {
		t.Errorf("%d of %v bits are ones", ones, n)
	}
	k.pause = true
	for n := range k.parts {
		for _, block := range k.workerBlocks(t.Context(), n) {
			if !bytes.Equal(block, k.kept[string(block[:nameText])]) {
				t.Error("a block that is made again has other bytes")
			}
		}
	}
}

// TestAlteredBlockEndsRun checks that a block that is lost, duplicated, damaged or rebuilt from other rows ends the
// run.
func TestAlteredBlockEndsRun(t *testing.T) {
	for name, swapped := range map[string]func([][]byte) [][]byte{
		"lost": func(h [][]byte) [][]byte {
			return h[1:]
		},
		"doubled": func(h [][]byte) [][]byte {
			return append(h, h[0])
		},
		"cut": func(h [][]byte) [][]byte {
			h[0] = h[0][:headText-1]
			return h
		},
		"no head": func(h [][]byte) [][]byte {
			h[0] = bytes.Repeat([]byte("x"), headText)
			return h
		},
		"not the last": func(h [][]byte) [][]byte {
			i := lastOf(h)
			h[i][nameText+8] = '0'
			return h
		},
		"more records": func(h [][]byte) [][]byte {
			h[0][nameText+7] ^= 1
			return h
		},
		"another number": func(h [][]byte) [][]byte {
			h[0][7] ^= 4
			return h
		},
	} {
		k, q, schema, _ := visitorParts(t, blockMost+7)
		k.swapped = func(h [][]byte) [][]byte {
			for i := range h {
				h[i] = bytes.Clone(h[i])
			}
			return swapped(h)
		}
		e, _, err := OpenQuery(
			t.Context(), k, q, schema,
			dataset.ReadOptions{},
		)
		var wrong *fault.Error
		if e != nil ||
			!errors.As(err, &wrong) ||
			wrong.Kind != fault.Data {
			t.Errorf("%s: %v", name, err)
		}
	}
	k, q, schema, _ := visitorParts(t, 20, 30)
	e, _, err := OpenQuery(
		t.Context(), k, q, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	pass := mechanism.Pass{
		Part:      mechanism.Part{Columns: []int{1}},
		Statistic: mechanism.Number{},
	}
	name := e.splits[1].Block[:nameText]
	good := k.kept[name]
	sum := func(block []byte) error {
		k.kept[name] = block
		values, err := e.Sum(t.Context(), pass)
		if (err == nil) == (values == nil) {
			t.Errorf("%v with %v", values, err)
		}
		return err
	}
	at := bytes.IndexByte(good[headText+1:], ' ') + headText + 10 // in the second field
	spoilt := bytes.Clone(good)
	spoilt[at] ^= 1
	if err := sum(spoilt); !errors.Is(err, errFile[answerSpoilt]) {
		t.Errorf("a damaged block: %v", err)
	}
	if err := sum(good[:len(good)/2]); err == nil {
		t.Error("half a block passes")
	}
	if err := sum(nil); err == nil {
		t.Error("a lost block passes")
	}
	rows := k.parts[1]
	for what, other := range map[string]string{
		"fewer": rows[strings.IndexByte(rows, '\n')+1:],
		"others": strings.Replace(
			rows, ",1\n",
			",2\n", 1,
		),
	} {
		k.parts[1] = other
		err := sum(k.workerBlocks(t.Context(), 1)[0])
		if !errors.Is(err, errFile[answerOther]) {
			t.Errorf("%s rows: %v", what, err)
		}
	}
	if err := sum(good); err != nil {
		t.Errorf("after that, unspoilt: %v", err)
	}
}

// lastOf returns the index of a head that is marked as the last.
func lastOf(heads [][]byte) int {
	return slices.IndexFunc(heads, func(h []byte) bool {
		return h[nameText+8] == '1'
	})
}

// TestNoRows checks that a query without rows is an empty table.
func TestNoRows(t *testing.T) {
	k, q, schema, _ := visitorParts(t, 0)
	e, stats, err := OpenQuery(
		t.Context(), k, q, schema,
		dataset.ReadOptions{},
	)
	if err != nil || stats.Rows != 0 || len(stats.Columns) != 4 {
		t.Fatalf("%+v: %v", stats, err)
	}
	got, err := e.Sum(
		t.Context(),
		mechanism.Pass{
			Part:      mechanism.Part{Columns: []int{1}},
			Statistic: mechanism.Number{},
		},
	)
	if err != nil || !slices.Equal(got, []int64{0}) {
		t.Errorf("%d: %v", got, err)
	}
}

// FuzzBlock checks that an invalid block is an error.
func FuzzBlock(f *testing.F) {
	schema := dataset.Schema{Columns: []dataset.Column{{Name: "x"}}}
	cells := schema.Kept(
		2, 0, nil,
		[]dataset.ColumnData{{Floats: []float64{1, 2}}},
	)
	var out bytes.Buffer
	p := newPacker(&order{Schema: schema}, 0, &out)
	err := errors.Join(
		p.addBatch(&dataset.Batch{Table: cells, Stats: &p.stats}),
		p.writeBlock(false),
	)
	if err != nil {
		f.Fatal(err)
	}
	line := out.Bytes()
	f.Add(bytes.TrimSpace(line), string(line[:headText]))
	f.Fuzz(func(t *testing.T, text []byte, of string) {
		b, err := openBlock(text, of, [secret.KeySize]byte{})
		if err != nil {
			return
		}
		batch, err := b.readBatch(schema, schema)
		if err == nil && batch.Table.Len() != int(b.head.rows) {
			t.Errorf(
				"%d records, and the head says %d",
				batch.Table.Len(), b.head.rows,
			)
		}
	})
}
