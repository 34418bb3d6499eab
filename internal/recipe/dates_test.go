package recipe

import (
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/tablefile/celltypes"
)

// TestUndeclaredDates checks which columns of stored dates are named, and that a stored date is no target of a regression.
func TestUndeclaredDates(t *testing.T) {
	const text = `data:
  path: t.parquet
  target: y
  exclude: [out]
  columns:
    declared: {date: auto}
    listed: {categories: ["2024-01-01"]}
    hashed: {hash: 8}
privacy: {epsilon: 1, unit: {column: who, max_rows: 2}}
`
	r, problems := Parse("r.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	header := strings.Fields("seen declared listed hashed out who born age y")
	types := map[string]celltypes.Type{"age": celltypes.Numbers}
	for _, name := range header {
		if name != "age" {
			types[name] = celltypes.Dates
		}
	}
	got := r.UndeclaredDates(header, types)
	if !slices.Equal(got, []string{"seen", "born"}) {
		t.Errorf("%q", got)
	}
	if got := r.UndeclaredDates(header, nil); got != nil {
		t.Errorf("without a schema: %q", got)
	}
	problems = r.CheckTypes(types)
	if len(problems) != 1 ||
		!strings.Contains(problems[0].Error(), `stores the target "y" as dates`) {
		t.Errorf("a target of dates: %v", problems)
	}
}
