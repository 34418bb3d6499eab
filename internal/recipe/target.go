package recipe

import (
	"slices"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/regression"
)

// A recipe may declare its target in one place:
//
//	target: {column: price, lower: 100, upper: 20000, transform: log}
//
// which is equivalent to target: price with the other keys below data.columns.price. Only the parser of the
// text knows this form.

// columnKey is the key that names the column in such a target.
const columnKey = "column"

// targetKeys are the keys of such a target.
var targetKeys = []string{columnKey, "lower", "upper", "transform"}

// spreadTarget converts such a target to the separate form, and reports its problems.
func spreadTarget(root *node, file string) Problems {
	data := root.get("data")
	target := data.get("target")
	if target == nil || target.kind != mapping {
		return nil
	}
	var ps Problems
	add := func(at *node, msg, hint string) {
		ps = append(ps,
			Problem{
				File:   file,
				Line:   at.line,
				Column: at.col,
				Path:   "data.target",
				Msg:    msg,
				Hint:   hint,
			})
	}
	name := target.get(columnKey)
	if name == nil || name.kind == mapping || name.kind == list || name.kind == null {
		add(target, "data.target: column is required: the name of the column to predict",
			"write target: {column: price, transform: log}")
		*target = node{kind: text, literal: columnKey, line: target.line, col: target.col} // its problem has been reported
		return ps
	}
	declared := &node{kind: mapping, line: target.line, col: target.col}
	columns := data.get("columns")
	if columns == nil || columns.kind != mapping {
		columns = &node{kind: mapping, line: target.line, col: target.col}
		if data.get("columns") == nil {
			data.keys, data.kids = append(data.keys,
				&node{kind: text, literal: "columns", line: target.line, col: target.col}),
				append(data.kids, columns)
		}
	}
	before := columns.get(name.literal)
	if before != nil && before.kind == mapping {
		declared = before
	}
	for i, k := range target.keys {
		switch {
		case k.literal == columnKey:
		case !slices.Contains(targetKeys, k.literal):
			hint := "allowed here: " + oneOf(targetKeys)
			if best, ok := nearest(k.literal, targetKeys); ok {
				hint = "did you mean " + best + "?"
			}
			add(k, "unknown key "+quoted(k.literal), hint)
		case declared.get(k.literal) != nil:
			add(k, "data.target: "+k.literal+" is also declared in data.columns",
				"keep one of them")
		default:
			declared.keys, declared.kids = append(declared.keys, k),
				append(declared.kids, target.kids[i])
		}
	}
	if before == nil && len(declared.keys) > 0 {
		columns.keys, columns.kids = append(columns.keys, name), append(columns.kids, declared)
	}
	*target = *name
	return ps
}

// transform returns the transform of the target.
func (d *Data) transform() rescale.Transform {
	if word := d.Columns[d.Target].Transform; word != rescale.NoneWord {
		return rescale.Transform(word)
	}
	return rescale.None
}

// transforms validates the transforms of columns; the pipeline validates that of the target.
func (c *checker) transforms(name, path string, col Column) {
	if col.Transform == "" {
		return
	}
	at := fault.Child(path, "transform")
	switch words := rescale.Words(); {
	case !slices.Contains(words, col.Transform):
		c.name(at, col.Transform, words, words)
	case c.r.Task != regression.TaskRegression:
	case name != c.r.Data.Target && c.r.Data.Target != "":
		c.add(at, shortPath(path)+": transform is only for the target",
			"features do not need one, because curves adapt to them")
	}
}
