package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/tablefile"
)

// Validate checks r against the names of the columns: every column in the recipe must exist, and there must be
// enough columns. It is total on any header.
//
// The first line of a table without a header contains data, so no message quotes a name from header unless the
// recipe and the header have at least one column in common, up to letter case and surrounding space.
func (r *Recipe) Validate(header []string) Problems {
	h := &headerCheck{
		r:       r,
		names:   nameSet(header),
		columns: nameSet(header),
		header:  header,
	}
	h.dates()
	folded := map[string]bool{}
	for name := range h.names {
		folded[foldName(name)] = true
	}
	h.trusted = slices.ContainsFunc(r.mentioned(), func(name string) bool {
		return folded[foldName(name)]
	})
	h.checkSameColumns()
	h.present()
	if r.Task != TaskCausal && r.Task != TaskDescribe {
		h.checkColumnCount()
		h.declared()
	}
	return h.ps.sorted()
}

// dates adds the names of the parts of dates.
func (h *headerCheck) dates() {
	h.ranged = map[string]bool{}
	excluded := nameSet(h.r.Data.Exclude)
	for name, d := range h.r.Data.Columns {
		if d.Date == "" || !h.names[name] || excluded[name] {
			continue
		}
		for _, part := range dateColumns(name, d) {
			if h.columns[part.Name] {
				h.mismatch(
					h.r.src.atKey(child("data.columns", name),
						"the table has a column "+quoted(part.Name)+
							", which is also the name of a date part",
						"rename one in the table, or leave out that part with parts"))
			}
			h.names[part.Name], h.ranged[part.Name] = true, part.Ranged
		}
	}
}

// dateNames lists the names of the parts of dates.
func dateNames(name string, d Column) []string {
	var out []string
	for _, part := range dateColumns(name, d) {
		out = append(out, part.Name)
	}
	return out
}

// checkSameColumns checks that the table has exactly the columns of data.header.
func (h *headerCheck) checkSameColumns() {
	want := h.r.Data.Header
	if len(want) == 0 || slices.Equal(want, h.header) {
		return
	}
	at := "data.header"
	what := fmt.Sprintf("data.header lists %d columns, but the table has %d", len(want),
		len(h.header))
	for i := range want[:min(len(want), len(h.header))] {
		if want[i] != h.header[i] {
			at, what = item("data.header", i),
				fmt.Sprintf("column %d of the table should be %s according to data.header", i+1,
					quoted(want[i]))
			break
		}
	}
	h.mismatch(
		h.r.src.problem(at, what,
			"names and order must match exactly; remove data.header to use the columns of the table"))
}

// mentioned lists every column the recipe names.
func (r *Recipe) mentioned() []string {
	names := slices.Concat(
		[]string{r.Data.Target, r.unitColumn(), r.GroupColumn()},
		r.Data.Exclude,
		r.Data.Header,
	)
	for _, c := range r.named() {
		names = append(names, c.name)
	}
	for name := range r.Data.Columns {
		names = append(names, name)
	}
	return names
}

type headerCheck struct {
	r       *Recipe
	header  []string
	columns map[string]bool // the names in the header
	names   map[string]bool // these, and the parts of dates
	ranged  map[string]bool // parts of dates with a public range
	trusted bool            // header and recipe share a name: header holds names, not data
	ps      Problems
}

// nameSet returns the set of names in a list, in which a wide table looks up every column.
func nameSet(names []string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}

// mismatch adds a problem about the columns of the table.
func (h *headerCheck) mismatch(p Problem) {
	p.Header = true
	h.ps = append(h.ps, p)
}

func (h *headerCheck) present() {
	if t := h.r.Data.Target; t != "" && !h.names[t] {
		h.absent(h.r.src.problem, "data.target", "the target", t)
	}
	if u := h.r.unitColumn(); u != "" && !h.names[u] {
		h.absent(h.r.src.problem, "privacy.unit.column", "the unit column", u)
	}
	if by := h.r.GroupColumn(); by != "" && !h.names[by] {
		h.absent(h.r.src.problem, "evaluate.by", "the column of groups", by)
	}
	for i, name := range h.r.Data.Exclude {
		if !h.columns[name] {
			h.absent(
				h.r.src.problem,
				item("data.exclude", i),
				"the excluded column",
				name,
			)
		}
	}
	for name := range h.r.Data.Columns {
		if !h.columns[name] {
			h.absent(
				h.r.src.atKey,
				child("data.columns", name),
				"the declared column",
				name,
			)
		}
	}
	for _, c := range h.r.named() {
		problem := h.r.src.problem
		if c.key {
			problem = h.r.src.atKey
		}
		if !h.names[c.name] {
			h.absent(problem, c.path, c.what, c.name)
		} else if d := h.r.Data.Columns[c.name]; d.Date != "" {
			h.mismatch(
				problem(c.path, c.what+" "+quoted(c.name)+" holds dates",
					"name its parts: "+oneOf(dateNames(c.name, d))))
		}
	}
}

// foldName returns a name without differences in letter case and surrounding space.
func foldName(name string) string {
	return strings.ToLower(strings.TrimSpace(name))
}

// absent reports a column of the recipe that the header lacks.
func (h *headerCheck) absent(
	problem func(path, msg, hint string) Problem,
	path, what, name string,
) {
	hint := "names must match exactly"
	if !h.trusted {
		hint += "; if the table has no header line, list its columns with --header"
	}
	if len(h.header) == 1 {
		hint = "the header is a single field: set data.format.separator (--separator), or skip lines before it (--skip)"
		if kind, _, _ := tablefile.ParsePath(h.r.Data.Path); kind.Packed == tablefile.Sheet {
			hint = "the header is a single field: name the sheet with data.format.sheet (--sheet), or skip rows before it (--skip)"
		}
	}
	if at := slices.IndexFunc(h.header, func(s string) bool {
		return foldName(s) == foldName(name)
	}); at >= 0 {
		hint = quoted(h.header[at]) + " differs only in case"
		if !strings.EqualFold(h.header[at], name) {
			hint = quoted(h.header[at]) + " differs only in case and surrounding space"
		}
	} else if best, ok := nearest(name, h.header); ok && h.trusted {
		hint = "did you mean " + quoted(best) + "?"
	}
	h.mismatch(problem(path, what+" "+quoted(name)+" is not in the header of the table", hint))
}

// candidates lists the columns that can become features, without repetition.
func (h *headerCheck) candidates() []string {
	target := h.r.Data.Target
	if target == "" && len(h.header) > 0 { // an experiment takes the last column
		target = h.header[len(h.header)-1]
	}
	var out []string
	seen := map[string]bool{
		target:           true,
		h.r.unitColumn(): true,
	}
	for _, name := range h.r.Data.Exclude {
		seen[name] = true
	}
	for _, name := range h.header {
		if !seen[name] {
			seen[name] = true
			if d := h.r.Data.Columns[name]; d.Date != "" {
				out = append(out, dateNames(name, d)...)
				continue
			}
			out = append(out, name)
		}
	}
	return out
}

// checkColumnCount checks that there are enough columns to train on, and at least k of them for the selection.
func (h *headerCheck) checkColumnCount() {
	n := len(h.candidates())
	if n == 0 {
		h.ps = append(h.ps,
			h.r.src.problem("data", "no feature column is left",
				"the table has only the target and excluded columns"))
		return
	}
	for _, x := range h.r.choices() {
		path := x.path + "selection.sizes"
		if sizes := x.selection.Keys.Wholes("sizes"); len(sizes) > 0 && sizes[len(sizes)-1] > n {
			h.ps = append(h.ps,
				h.r.src.problem(item(path, len(sizes)-1),
					fmt.Sprintf("%s goes up to %d, but only %d columns can be selected", path,
						sizes[len(sizes)-1], n),
					"a category column counts as one; the target and excluded columns do not count"))
		}
		path = x.path + "selection.k"
		switch k := x.selection.K(); {
		case k == n:
			h.ps = append(h.ps,
				h.r.src.problem(path,
					fmt.Sprintf("%s is %d, but there are only %d columns to select from", path, k,
						n), "method none keeps all columns at no cost"))
		case k > n:
			h.ps = append(h.ps,
				h.r.src.problem(path,
					fmt.Sprintf("%s is %d, but only %d columns can be selected", path, k, n),
					"a category column counts as one; the target and excluded columns do not count"))
		}
	}
}

// declared checks that declared scaling finds a range for every numeric
// feature; the target was checked with the recipe.
func (h *headerCheck) declared() {
	if h.r.Scaling.Method != "declared" || !h.trusted {
		return
	}
	columns := h.candidates()
	if x := h.r.choices(); len(x) == 1 && x[0].selection.Method == "fixed" {
		columns = x[0].selection.Keys.Names("features")
	}
	var bare []string
	for _, name := range columns {
		if c := h.r.Data.Columns[name]; !c.Categories.Declared() && c.Hash == 0 && c.Lower == nil &&
			h.names[name] && !h.ranged[name] {
			bare = append(bare, quoted(name))
		}
	}
	if len(bare) == 0 {
		return
	}
	const most = 5
	list := strings.Join(bare[:min(most, len(bare))], ", ")
	if len(bare) > most {
		list += fmt.Sprintf(" and %d more", len(bare)-most)
	}
	h.ps = append(h.ps,
		h.r.src.problem("scaling.method",
			"with scaling declared, all numeric columns need lower and upper; they are missing for "+
				list,
			"declare them in data.columns, or use scaling private"))
}
