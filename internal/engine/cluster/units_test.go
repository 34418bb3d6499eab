package cluster

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/noise/secret"
)

// elsewhere is like [here] with a separate process for each task.
type elsewhere struct{}

const asWorker = "DPTRAIN_TEST_WORKER"

func (elsewhere) Run(ctx context.Context, order []byte, tasks [][]byte) ([][]byte, error) {
	var answers [][]byte
	for _, task := range tasks {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, self)
		cmd.Env = append(os.Environ(), asWorker+"=1")
		cmd.Stdin = bytes.NewReader(slices.Concat(
			order, []byte{'\n'}, task,
		))
		out, err := cmd.Output()
		if err != nil {
			return nil, err
		}
		answers = append(answers, bytes.Split(
			bytes.TrimSpace(out),
			[]byte("\n"),
		)...)
	}
	return answers, nil
}

func TestMain(m *testing.M) {
	if os.Getenv(asWorker) == "" {
		os.Exit(m.Run()) //nolint:forbidigo // a TestMain ends its process
	}
	if Work(context.Background(), os.Stdin, os.Stdout) != nil {
		os.Exit(1) //nolint:forbidigo // a worker ends its process
	}
}

// peopleEngine writes two files with records of units. Some units have many records, and some records have no unit.
func peopleEngine(t *testing.T) (*Engine, *dataset.Table) {
	t.Helper()
	dir := t.TempDir()
	for f := range 2 {
		var text strings.Builder
		text.WriteString("who,note,kind,y\n")
		for i := range 1000 * (f + 1) {
			who := fmt.Sprint("p", i*i%170)
			if i%50 == 7 {
				who = ""
			}
			fmt.Fprintf(
				&text,
				"%s,%s,%s,%d\n",
				who,
				[]string{
					"red", "7", "",
					"x\x01",
					fmt.Sprint("id ", i),
				}[i*7%5],
				[]string{"a", "", "Grün"}[i%3],
				i%3,
			)
		}
		err := os.WriteFile(
			filepath.Join(dir, fmt.Sprint(f, ".csv")),
			[]byte(text.String()),
			0o600,
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "*.csv")
	schema := dataset.Schema{
		Columns: []dataset.Column{
			{Name: "note", Found: true},
			{Name: "y"},
			{
				Name:  "kind",
				Kind:  dataset.Category,
				Found: true,
			},
		},
		Unit: "who",
	}
	e, _, err := Open(
		t.Context(), elsewhere{}, path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	table, _, err := dataset.Read(
		t.Context(), path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	return e, table
}

// newLots returns the lots of a run.
func newLots(t *testing.T) mechanism.Lots {
	t.Helper()
	plan, err := budget.Calibrate(
		budget.GaussianLeaf("a", 1, 1).
			WithStatistic(mechanism.StatHistogram),
		budget.Target{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: budget.AddRemove,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(plan)
	if err != nil {
		t.Fatal(err)
	}
	return s.Lots("unit")
}

// TestUnits checks that the records kept for units are those of a table in memory, with one share of the units or
// several, and that tasks of later passes name the records left out.
func TestUnits(t *testing.T) {
	e, table := peopleEngine(t)
	l := newLots(t)
	columns := []int{1, 0, 2}
	for _, most := range []int{1, 3, 9, 1 << 20} {
		want := table.View().Columns(columns).Cap(most, l.Draw)
		for _, shares := range []int{1, 5} {
			limited, err := e.limitIn(t.Context(), shares, columns, most, l)
			if err != nil {
				t.Fatal(err)
			}
			got, err := limited.Gather(t.Context(), mechanism.Part{Columns: columns})
			if err != nil {
				t.Fatal(err)
			}
			a := got.Block(0, got.Len())
			b := want.Block(0, want.Len())
			same := a.Len() == b.Len() && slices.Equal(a.Float(0, nil), b.Float(0, nil))
			for k := 0; same && k < a.Len(); k++ {
				same = a.ID(k) == b.ID(k)
			}
			if !same ||
				want.Len() == 0 ||
				want.Len() == table.Len() {
				t.Errorf(
					"at most %d, %d shares: other records are kept: %d, want %d",
					most,
					shares,
					a.Len(),
					b.Len(),
				)
			}
		}
	}
}

// TestPackedPositionsRoundTrip checks that packed positions are unpacked unchanged, batch by batch.
func TestPackedPositionsRoundTrip(t *testing.T) {
	for range 200 {
		n := rand.IntN(300)
		var places []int
		ids := make([]uint64, n)
		kept := []int32{}
		for i := range n {
			switch rand.IntN(4) {
			case 0:
				places = append(places, i)
			case 1:
				ids[i] = dataset.NoUnit
			default:
				kept = append(kept, int32(i))
			}
		}
		k := rowFilter{left: packPlaces(places)}
		got := []int32{}
		for at := 0; at < n; {
			end := min(n, at+rand.IntN(100))
			for _, i := range k.keptRows(ids[at:end]) {
				got = append(got, int32(at)+i)
			}
			at = end
		}
		if !slices.Equal(got, kept) {
			t.Fatalf(
				"%v without %v: %v",
				kept, places, got,
			)
		}
	}
}

// TestWords checks that the text categories counted in a part are those of a table in memory, in one share or
// several, and that the categories found are read as in memory.
func TestWords(t *testing.T) {
	e, table := peopleEngine(t)
	p := mechanism.Part{Columns: []int{1, 0, 2}}
	want := []map[string]int64{{}, {}}
	for k, j := range []int{0, 2} {
		words, counts := table.View().CountWords(j)
		for i, word := range words {
			if counts[i] > 0 {
				want[k][word] = counts[i]
			}
		}
	}
	for _, shares := range []uint64{1, 7} {
		got := []map[string]int64{{}, {}}
		for i := range shares {
			some, err := e.countWords(
				t.Context(),
				order{
					Asks:    asksWords,
					Pass:    mechanism.Pass{Part: p},
					Columns: []int{1, 2},
					Share:   hashShare{Index: i, Count: shares},
				},
			)
			if err != nil {
				t.Fatal(err)
			}
			for k, c := range some {
				for at, word := range c.Words {
					_, twice := got[k][word]
					if twice {
						t.Errorf("%q is in two shares", word)
					}
					got[k][word] = c.Counts[at]
				}
			}
		}
		if len(got[0]) < 300 ||
			!maps.Equal(got[0], want[0]) ||
			!maps.Equal(got[1], want[1]) {
			t.Errorf(
				"%d shares: %d and %d words, want %d and %d",
				shares,
				len(got[0]),
				len(got[1]),
				len(want[0]),
				len(want[1]),
			)
		}
	}
	found := []dataset.Column{
		{
			Name:       "note",
			Kind:       dataset.Category,
			Categories: []string{"id 4", "red"},
			Other:      true,
			Found:      true,
		},
		{Name: "y"},
		{
			Name:       "kind",
			Kind:       dataset.Category,
			Categories: []string{"Grün", "a"},
			Other:      true,
			Found:      true,
		},
	}
	resolved, err := e.Resolve(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	got, err := resolved.(*Engine).Gather(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	memory := table.View().Resolve(found).Columns(p.Columns)
	for j := 1; j < 3; j++ {
		if !slices.Equal(got.Block(0, got.Len()).Codes(j, nil),
			memory.Block(0, memory.Len()).Codes(j, nil)) {
			t.Errorf("other codes in column %d", j)
		}
	}
}

// TestGather checks that gathering more records than the limit is an error, and that an answer in pieces must be
// complete.
func TestGather(t *testing.T) {
	e, table := peopleEngine(t)
	p := mechanism.Part{Columns: []int{1}}
	e.most = 8*int64(table.Len()) - 1
	_, err := e.Gather(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "more records") {
		t.Errorf("room for one record fewer: %v", err)
	}
	e.most = 8 * int64(table.Len())
	if v, err := e.Gather(t.Context(), p); err != nil || v.Len() != table.Len() {
		t.Errorf(
			"%d records: %v",
			v.Len(), err,
		)
	}
	var key [secret.KeySize]byte
	long := bytes.Repeat([]byte{answerPacked}, 2*pieceBytes+1)
	lines := func() [][]byte {
		return bytes.Split(
			bytes.TrimSpace((&task{Index: 1}).encodeAnswer(key, long)),
			[]byte("\n"),
		)
	}
	contents, err := sortAnswers(key, lines(), 1, 2)
	if err != nil || !bytes.Equal(contents[0], long) {
		t.Errorf("3 pieces: %v", err)
	}
	a := lines()
	for name, some := range map[string][][]byte{
		"lost":       a[1:],
		"last lost":  a[:2],
		"doubled":    append(a, a[2]),
		"of another": {a[0], a[1], a[1]},
	} {
		if _, err := sortAnswers(key, some, 1, 2); err == nil {
			t.Errorf("a piece %s: no error", name)
		}
	}
}
