//go:build replay

package audit

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/cluster"
)

// keptInProcess is a cluster in this process: the text of a query is the path of a CSV file, whose rows are returned
// in parts.
type keptInProcess struct {
	inProcess
	kept map[string][]byte
}

func (k *keptInProcess) Keep(
	ctx context.Context, q cluster.Query, task []byte, begin int,
) ([][]byte, error) {
	text, err := os.ReadFile(q.Text)
	if err != nil {
		return nil, err
	}
	rows := bytes.SplitAfter(
		bytes.TrimSuffix(text, []byte("\n")),
		[]byte("\n"),
	)[1:]
	k.kept = map[string][]byte{}
	var begun [][]byte
	const parts = 5
	for n := range parts {
		some := rows[len(rows)*n*n/(parts*parts) : len(rows)*(n+1)*(n+1)/(parts*parts)]
		var out bytes.Buffer
		in := slices.Concat(
			task,
			[]byte(" "+strconv.Itoa(n)+"\n"),
			bytes.Join(some, nil),
		)
		err := cluster.Work(ctx, bytes.NewReader(in), &out)
		if err != nil {
			return nil, err
		}
		for _, block := range bytes.Split(
			bytes.TrimSpace(out.Bytes()),
			[]byte("\n"),
		) {
			k.kept[string(block[:16])] = block
			begun = append(begun, block[:begin])
		}
	}
	slices.Reverse(begun)
	return begun, nil
}

func (k *keptInProcess) RunKept(
	ctx context.Context, order []byte, tasks [][]byte, _ int,
) ([][]byte, error) {
	var lines [][]byte
	for _, task := range tasks {
		name, rest, _ := bytes.Cut(task, []byte{' '})
		lines = append(
			lines,
			slices.Concat(rest, []byte{' '}, k.kept[string(name)]),
		)
	}
	return k.Run(ctx, order, lines)
}

// TestQueriesAgree checks that the rows of a query, which a cluster stores as blocks, give the release of a table in
// memory with the same records under the same key, byte for byte. Without -full, declared text categories are those of
// boosted-kernel, and texts found privately those of words-units. With DPTRAIN_SPARK the cluster is a Spark cluster;
// see [TestClusterAgrees]. DPTRAIN_SPARK_TABLE names a table of its catalogs with the rows of the example and
// [placeColumn].
func TestQueriesAgree(t *testing.T) {
	names := strings.Fields(os.Getenv("DPTRAIN_SPARK_EXAMPLES"))
	if len(names) == 0 {
		names = []string{"auto-few-records", "boosted-additive", "boosted-kernel", "classes-three",
			"logistic", "prototypes", "unit", "words-units"}
		if *full {
			names = append(names, "categories", "found")
		}
	}
	var keeper cluster.Keeper = &keptInProcess{}
	query := func(_ *testing.T, path string, _ []string) string {
		return path
	}
	address := os.Getenv("DPTRAIN_SPARK")
	if address != "" {
		keeper = dialSpark(t, address).(cluster.Keeper)
		query = queryOf
	}
	if table := os.Getenv("DPTRAIN_SPARK_TABLE"); table != "" {
		query = func(_ *testing.T, _ string, header []string) string {
			return fmt.Sprintf(
				"SELECT `%s` FROM %s ORDER BY `%s`",
				strings.Join(header, "`, `"),
				table,
				placeColumn,
			)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			m := memoryRunOf(t, "../../examples/"+name+".yaml")
			r := m.r
			p := m.p
			header, err := dataset.Header(r.DataFile(), dataset.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			q := cluster.Query{Text: query(t, r.DataFile(), header), Columns: header}
			e, stats, err := cluster.OpenQuery(
				t.Context(),
				keeper,
				q,
				p.Schema,
				dataset.ReadOptions{},
			)
			if err != nil {
				t.Fatal(err)
			}
			m.compareOn(t, e, stats, "query")
		})
	}
}

// placeColumn contains the position of a row in the file.
const placeColumn = "place"

// queryOf writes a CSV file as Parquet, in an unrelated order and with the position of each row, and returns a query
// for the rows in their original order, in four parts.
func queryOf(t *testing.T, path string, header []string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	group := parquet.Group{placeColumn: parquet.Leaf(parquet.Int64Type)}
	for _, name := range header {
		group[name] = parquet.String()
	}
	schema := parquet.NewSchema("table", group)
	var out bytes.Buffer
	w := parquet.NewWriter(&out, schema, parquet.MaxRowsPerRowGroup(1000))
	n := len(rows) - 1
	for i := range n {
		place := (i*7919 + 13) % n // 7919 is prime and divides no number of rows of an example
		row := make(parquet.Row, len(header)+1)
		for k, field := range schema.Fields() {
			if field.Name() == placeColumn {
				row[k] = parquet.ValueOf(int64(place)).Level(0, 0, k)
			} else {
				row[k] = parquet.ValueOf(rows[1+place][slices.Index(header, field.Name())]).Level(
					0,
					0,
					k,
				)
			}
		}
		_, err := w.WriteRows([]parquet.Row{row})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "rows.parquet")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(
		"WITH t AS (SELECT /*+ REPARTITION_BY_RANGE(4, `%[1]s`) */ * FROM parquet.`%[2]s`)\nSELECT `%[3]s` FROM t SORT BY `%[1]s`",
		placeColumn,
		file,
		strings.Join(header, "`, `"),
	)
}
