package cluster

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

// here carries out tasks in this process, some on one line of a worker's input and some on the next, and returns
// their answers in another order. spoil changes the answers.
type here struct {
	spoil  func(answers [][]byte) [][]byte
	passes int
}

func (h *here) Run(ctx context.Context, order []byte, tasks [][]byte) ([][]byte, error) {
	h.passes++
	var out bytes.Buffer
	for i := range tasks {
		err := Work(
			ctx,
			bytes.NewReader(slices.Concat(
				order, []byte{'\n'},
				tasks[i],
				[]byte{'\n'},
			)),
			&out,
		)
		if err != nil {
			return nil, err
		}
	}
	answers := bytes.Split(
		bytes.TrimSuffix(out.Bytes(), []byte("\n")),
		[]byte("\n"),
	)
	rand.Shuffle(len(answers), func(i, j int) {
		answers[i], answers[j] = answers[j], answers[i]
	})
	if h.spoil != nil {
		answers = h.spoil(answers)
	}
	return answers, nil
}

// writeTable writes three files of unequal length, with 10 records, and returns their pattern.
func writeTable(t *testing.T) (string, dataset.Schema) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.csv": "x,y\n1,2\n3,4\n5,\n",
		"b.csv": "x,y\n",
		"c.csv": "x,y\n6,7\n8,9\n1,1\n2,2\n3,3\n4,4\n5,5\n",
	} {
		err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "*.csv"),
		dataset.Schema{Columns: []dataset.Column{
			{
				Name:  "y",
				Lower: 0,
				Upper: 10,
			},
			{
				Name:  "x",
				Lower: 0,
				Upper: 10,
			},
		}}
}

// TestClusterRecordsFollowFiles checks that the records of the files follow one another, and that a pass over any part
// has the sums of a table in memory.
func TestClusterRecordsFollowFiles(t *testing.T) {
	path, schema := writeTable(t)
	e, stats, err := Open(
		t.Context(), &here{}, path,
		schema, dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	want, read, err := dataset.Read(
		t.Context(), path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	if stats.Rows != 10 || !slices.Equal(stats.Columns, read.Columns) {
		t.Errorf(
			"the workers counted %+v, want %+v",
			stats, read,
		)
	}
	firsts := []uint64{}
	for _, s := range e.splits {
		firsts = append(firsts, s.First)
	}
	if !slices.Equal(firsts, []uint64{0, 3, 3}) {
		t.Errorf("the splits begin at %d", firsts)
	}
	for _, part := range []mechanism.Part{
		{Columns: []int{0, 1}},
		{Columns: []int{1}, Cuts: []mechanism.Cut{{Known: 0}}},
		{Cuts: []mechanism.Cut{{None: true}}},
	} {
		p := mechanism.Pass{Part: part, Statistic: mechanism.Number{}}
		got, err := e.Sum(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		inMemory, err := memory.New(want.View()).Sum(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, inMemory) {
			t.Errorf(
				"part %+v: %d records, want %d",
				part, got, inMemory,
			)
		}
	}
}

// TestFailClosed checks that a pass ends with an error worded by this package unless there is exactly one complete
// answer to each of its tasks.
func TestFailClosed(t *testing.T) {
	path, schema := writeTable(t)
	h := &here{}
	e, _, err := Open(
		t.Context(), h, path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	pass := mechanism.Pass{
		Part:      mechanism.Part{Columns: []int{0, 1}},
		Statistic: mechanism.Number{},
	}
	var before [][]byte
	h.spoil = func(a [][]byte) [][]byte {
		before = a
		return a
	}
	if _, err := e.Sum(t.Context(), pass); err != nil {
		t.Fatal(err)
	}
	bit := func(at int) func(a [][]byte) [][]byte {
		return func(a [][]byte) [][]byte {
			data, _ := base64.StdEncoding.DecodeString(string(a[0]))
			data[(at+len(data))%len(data)] ^= 1
			a[0] = base64.StdEncoding.AppendEncode(nil, data)
			return a
		}
	}
	for name, spoil := range map[string]func([][]byte) [][]byte{
		"lost": func(a [][]byte) [][]byte {
			return a[1:]
		},
		"all lost": func([][]byte) [][]byte {
			return nil
		},
		"doubled": func(a [][]byte) [][]byte {
			return append(a, a[0])
		},
		"one for another": func(a [][]byte) [][]byte {
			a[0] = a[1]
			return a
		},
		"of another pass": func(a [][]byte) [][]byte {
			return before
		},
		"cut": func(a [][]byte) [][]byte {
			a[0] = a[0][:len(a[0])-4]
			return a
		},
		"cut in the middle": func(a [][]byte) [][]byte {
			a[0] = a[0][:len(a[0])/8*4]
			return a
		},
		"empty": func(a [][]byte) [][]byte {
			a[0] = nil
			return a
		},
		"no base64": func(a [][]byte) [][]byte {
			a[0] = []byte("an exception quotes 4711")
			return a
		},
		"longer": func(a [][]byte) [][]byte {
			a[0] = append(a[0], "AAAA"...)
			return a
		},
		"one more": func(a [][]byte) [][]byte {
			return append(a, []byte("x"))
		},
		"format": bit(0),
		"number": bit(len(format)),
		"piece":  bit(len(format) + 4),
		"pieces": bit(len(format) + 8),
		"length": bit(len(format) + 12),
		"sum":    bit(headBytes + 1),
		"MAC":    bit(-1),
	} {
		h.spoil = func(a [][]byte) [][]byte {
			return spoil(slices.Clone(a))
		}
		values, err := e.Sum(t.Context(), pass)
		var wrong *fault.Error
		if !errors.As(err, &wrong) ||
			wrong.Kind != fault.Data ||
			strings.Contains(wrong.Message, "4711") {
			t.Errorf("%s: %v", name, err)
		}
		if values != nil {
			t.Errorf("%s: there are sums", name)
		}
	}
	h.spoil = nil
	if got, err := e.Sum(t.Context(), pass); err != nil || got[0] != 10 {
		t.Errorf(
			"after that, unspoilt: %d, %v",
			got, err,
		)
	}
}

// TestAnswersInTurn checks that tasks with large answers are sent a few at a time, and that each is carried out once.
func TestAnswersInTurn(t *testing.T) {
	path, schema := writeTable(t)
	h := &here{}
	e, _, err := Open(
		t.Context(), h, path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	pass := mechanism.Pass{
		Part:      mechanism.Part{Columns: []int{0}},
		Statistic: mechanism.Number{},
	}
	begun := 0
	e.Passing = func() {
		begun++
	}
	if _, err := e.Sum(t.Context(), pass); err != nil || begun != 1 {
		t.Errorf("%d passes begin: %v", begun, err)
	}
	for bytes, want := range map[int]int{
		0:               1,
		8:               1,
		answerBytes / 3: 1,
		answerBytes / 2: 2,
		answerBytes:     3,
		4 * answerBytes: 3,
	} {
		h.passes = 0
		var counts []int64
		err := e.forEachAnswer(
			t.Context(),
			order{Asks: asksSums, Pass: pass},
			nil,
			bytes,
			func(i int, content []byte) error {
				n, err := readSums(content, 1)
				if i != len(counts) {
					t.Errorf(
						"answer %d comes after %d",
						i, len(counts),
					)
				}
				counts = append(counts, n...)
				return err
			},
		)
		if err != nil ||
			h.passes != want ||
			!slices.Equal(counts, []int64{3, 0, 7}) {
			t.Errorf(
				"%d bytes: %d queries, want %d; %d records: %v",
				bytes,
				h.passes,
				want,
				counts,
				err,
			)
		}
	}
}

// TestFileChanged checks that a pass ends with an error if a file has been replaced or removed.
func TestFileChanged(t *testing.T) {
	path, schema := writeTable(t)
	e, _, err := Open(
		t.Context(), &here{}, path,
		schema, dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	pass := mechanism.Pass{
		Part:      mechanism.Part{Columns: []int{0}},
		Statistic: mechanism.Number{},
	}
	file := e.splits[0].Path
	for _, text := range []string{"x,y\n1,2\n3,4\n", "x,y\n1,2\n3,4\n\n\n"} { // the second has the size of before
		err := os.WriteFile(file, []byte(text), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Sum(t.Context(), pass)
		if !errors.Is(err, errFile[answerChanged]) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Sum(t.Context(), pass); !errors.Is(err, errFile[answerNoFile]) {
		t.Error(err)
	}
}

// TestSameBytes checks that a task that is carried out again has the same answer.
func TestSameBytes(t *testing.T) {
	path, schema := writeTable(t)
	e, _, err := Open(
		t.Context(), &here{}, path,
		schema, dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	first, err := (&order{
		Schema: schema,
		Asks:   asksSums,
		Pass: mechanism.Pass{
			Part:      mechanism.Part{Columns: []int{0}},
			Statistic: mechanism.Number{},
		},
	}).encodeLine()
	if err != nil {
		t.Fatal(err)
	}
	second, err := (&task{
		Format: format,
		Count:  1,
		Split:  e.splits[0],
	}).encodeLine()
	if err != nil {
		t.Fatal(err)
	}
	work := func(lines ...[]byte) []byte {
		var out bytes.Buffer
		err := Work(
			t.Context(),
			bytes.NewReader(bytes.Join(lines, []byte("\n"))),
			&out,
		)
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	once := work(first, second)
	twice := work(first, second, second)
	if len(once) == 0 ||
		!bytes.Equal(twice, slices.Concat(once, once)) {
		t.Errorf("%q, then %q", once, twice)
	}
	other := work(first, first, second)
	if !bytes.Equal(other, once) {
		t.Errorf(
			"%q behind two orders, %q behind one",
			other, once,
		)
	}
	for _, lines := range [][][]byte{
		{second},
		{second, first},
		{first[:len(first)/2], second},
		{append(slices.Clone(first), '!'), second},
	} {
		var out bytes.Buffer
		err := Work(
			t.Context(),
			bytes.NewReader(bytes.Join(lines, []byte("\n"))),
			&out,
		)
		if !errors.Is(err, ErrVersion) || out.Len() > 0 {
			t.Errorf(
				"%v, %q",
				err, out.String(),
			)
		}
	}
}

// TestInvalidTaskEndsWorker checks that an invalid task ends a worker without an answer.
func TestInvalidTaskEndsWorker(t *testing.T) {
	var out bytes.Buffer
	err := Work(t.Context(), strings.NewReader("4711\n"), &out)
	if err == nil ||
		strings.Contains(err.Error(), "4711") ||
		out.Len() > 0 {
		t.Errorf(
			"%v, %q",
			err, out.String(),
		)
	}
}

// TestAddress checks that an address outside this machine requires TLS and a token, and that the address itself never
// contains the token.
func TestAddress(t *testing.T) {
	t.Setenv("SPARK_TOKEN_OF_TEST", "secret")
	good := map[string]Address{
		"sc://localhost":   {"localhost:15002", false, ""},
		"sc://127.0.0.1:4": {"127.0.0.1:4", false, ""},
		"sc://[::1]:4":     {"[::1]:4", false, ""},
		"sc://[::1]":       {"[::1]:15002", false, ""},
		"sc://a.example:7/;use_ssl=true;token=env:SPARK_TOKEN_OF_TEST": {
			"a.example:7",
			true,
			"secret",
		},
	}
	for text, want := range good {
		got, err := ParseAddress(text)
		if err != nil || got != want {
			t.Errorf(
				"%s: %+v, %v",
				text, got, err,
			)
		}
	}
	for _, text := range []string{
		"",
		"localhost:15002",
		"sc://",
		"http://localhost",
		"sc://localhost/x",
		"sc://localhost/;user_id=me",
		"sc://a.example",
		"sc://10.0.0.1:15002",
		"sc://localhost.example",
		"sc://a.example/;use_ssl=true",
		"sc://a.example/;token=env:SPARK_TOKEN_OF_TEST",
		"sc://a.example/;use_ssl=true;token=secret",
		"sc://localhost/;token=env:SPARK_TOKEN_OF_TEST",
		"sc://localhost/;use_ssl=yes",
		"sc://a.example/;use_ssl=true;token=env:NOT_THERE_OF_TEST",
		"sc://a.example/;use_ssl=true;token=file:/not/there",
	} {
		var wrong *fault.Error
		_, err := ParseAddress(text)
		if !errors.As(err, &wrong) ||
			wrong.Kind != fault.Usage ||
			wrong.Hint == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestSplitsAreWholeRowGroups checks that splits consist of whole row groups, and that together they have the records
// of the file, each with its position.
func TestSplitsAreWholeRowGroups(t *testing.T) {
	type row struct {
		X float64 `parquet:"x"`
	}
	var data bytes.Buffer
	w := parquet.NewGenericWriter[row](&data, parquet.MaxRowsPerRowGroup(3))
	for i := range 10 {
		_, err := w.Write([]row{{float64(i)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	err := os.WriteFile(path, data.Bytes(), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for least, want := range map[int64][][2]int{
		1: {
			{0, 1}, {1, 2},
			{2, 3}, {3, 4},
		},
		4:   {{0, 2}, {2, 4}},
		7:   {{0, 3}, {3, 4}},
		100: {{0, 4}},
	} {
		splits, err := splitTable(path, least)
		if err != nil {
			t.Fatal(err)
		}
		var groups [][2]int
		var cells []float64
		o := &order{Schema: dataset.Schema{Columns: []dataset.Column{{Name: "x"}}}}
		for _, s := range splits {
			groups = append(groups, s.Groups)
			err := s.forEachBatch(t.Context(), o, o.Schema, func(b *dataset.Batch) error {
				cells = append(cells, b.Table.Float(0)...)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(groups, want) ||
			!slices.Equal(
				cells,
				[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
			) {
			t.Errorf(
				"at least %d: groups %v with %v",
				least, groups, cells,
			)
		}
	}
}
