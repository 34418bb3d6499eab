//go:build replay

package audit

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/cluster"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// inProcess carries out tasks in this process.
type inProcess struct{}

func (inProcess) Run(ctx context.Context, order []byte, tasks [][]byte) ([][]byte, error) {
	slices.Reverse(tasks)
	tasks = slices.Insert(tasks, 0, order)
	var out bytes.Buffer
	err := cluster.Work(
		ctx,
		bytes.NewReader(bytes.Join(tasks, []byte("\n"))),
		&out,
	)
	if err != nil {
		return nil, err
	}
	return bytes.Split(
		bytes.TrimSpace(out.Bytes()),
		[]byte("\n"),
	), nil
}

// TestClusterAgrees checks, for the examples whose statistics are sums, that the workers of a cluster give the release
// of a table in memory under the same key, byte for byte. The table is read from files of CSV and from files of
// Parquet. Without -full, an example is left out if earlier ones have all its statistics.
//
// With DPTRAIN_SPARK, an address, the cluster is a Spark cluster whose workers are the program DPTRAIN_SPARK_WORKER,
// and DPTRAIN_SPARK_EXAMPLES names the examples. .ci/spark sets these variables.
func TestClusterAgrees(t *testing.T) {
	var runner cluster.Runner = inProcess{}
	only := strings.Fields(os.Getenv("DPTRAIN_SPARK_EXAMPLES"))
	several := []string{"boosted-additive", "classes-three", "declared", "fixed", "unit",
		"words-units"} // in 17 files of CSV
	address := os.Getenv("DPTRAIN_SPARK")
	if address != "" {
		runner = dialSpark(t, address)
		several = nil
	}
	var refused []string
	covered := map[budget.Statistic]bool{}
	for _, file := range recipeFiles(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			m := memoryRunOf(t, file)
			r := m.r
			p := m.p
			plan := m.plan
			err := p.CheckEngine(plan, cluster.NewPlanEngine(p.Schema))
			if err != nil {
				if !errors.Is(err, pipeline.ErrEngine) {
					t.Error(err)
				}
				refused = append(refused, name)
				return
			}
			more := addStatistics(covered, plan)
			if !more &&
				len(only) == 0 &&
				!*full &&
				!slices.Contains(several, name) {
				return
			}
			cuts := map[int]func(t *testing.T, path string, parts int) string{3: cutParquet}
			if slices.Contains(several, name) {
				cuts[17] = cutFile
				if !*full {
					delete(cuts, 3)
				}
			}
			for parts, cut := range cuts {
				e, stats, err := cluster.Open(
					t.Context(),
					runner,
					cut(t, r.DataFile(), parts),
					p.Schema,
					dataset.ReadOptions{},
				)
				if err != nil {
					t.Fatal(err)
				}
				m.compareOn(t, e, stats, fmt.Sprintf("%d files", parts))
			}
		})
	}
	want := strings.Fields(
		"brc-paper brc-pure brc classes-kendall dpfs-substitute dpfsdr-sizes kendall-substitute kendall logistic-output " +
			"private-columns-brc private-target-classes search-dpfsdr search sis-tau-substitute " +
			"sublasso-substitute sublasso svm transform-substitute transform tukey-fallback tukey " +
			"groups-transform keys-brc keys-svm keys-tukey pure-gram pure-logistic-substitute pure-svm")
	slices.Sort(want)
	slices.Sort(refused)
	if len(only) == 0 && !slices.Equal(refused, want) {
		t.Errorf(
			"these examples need another engine: %q, want %q",
			refused, want,
		)
	}
}

// addStatistics adds the statistics that a plan releases. It reports whether any is new.
func addStatistics(covered map[budget.Statistic]bool, plan *pipeline.Plan) bool {
	more := false
	for _, leaf := range plan.Leaves() {
		more = more || !covered[leaf.Statistic]
		covered[leaf.Statistic] = true
	}
	return more
}

// dialSpark starts a Spark session.
func dialSpark(t *testing.T, address string) cluster.Runner {
	t.Helper()
	a, err := cluster.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	s, err := cluster.Dial(t.Context(), a, os.Getenv("DPTRAIN_SPARK_WORKER"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
	})
	return s
}

// cutParquet writes a CSV file as several Parquet files with texts, in row groups of 1,000 records, and returns their
// pattern.
func cutParquet(t *testing.T, path string, parts int) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	names := rows[0]
	rows = rows[1:]
	group := parquet.Group{}
	for _, name := range names {
		group[name] = parquet.String()
	}
	schema := parquet.NewSchema("table", group)
	dir := t.TempDir()
	at := 0
	for i := range parts {
		end := len(rows) * (i + 1) * (i + 1) / (parts * parts)
		var out bytes.Buffer
		w := parquet.NewWriter(&out, schema, parquet.MaxRowsPerRowGroup(1000))
		for _, cells := range rows[at:end] {
			row := make(parquet.Row, len(names))
			for k, field := range schema.Fields() {
				row[k] = parquet.ValueOf(cells[slices.Index(names, field.Name())]).Level(
					0,
					0,
					k,
				)
			}
			_, err := w.WriteRows([]parquet.Row{row})
			if err != nil {
				t.Fatal(err)
			}
		}
		at = end
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(
			filepath.Join(dir, fmt.Sprintf("part-%02d.parquet", i)),
			out.Bytes(),
			0o644,
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "part-*.parquet")
}
