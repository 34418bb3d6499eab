package golearn

import (
	"math"

	"github.com/sjwhitworth/golearn/base"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/regression"
)

// cells holds one attribute of a grid, as numbers or as categories.
type cells struct {
	floats     []float64
	codes      []int32 // positions in categories; len(categories) for any other value
	categories []string
}

// request asks for an attribute as numbers or as categories.
type request struct {
	attribute base.Attribute
	category  bool
}

var binaryCategories = []string{"0", "1"}

// decoder returns the function that stores the cell of a row, and allocates
// room for n rows in c. A cell without bytes is missing.
func (r request) decoder(c *cells, n int) (func(row int, cell []byte), error) {
	values := 0
	switch a := r.attribute.(type) {
	case *base.FloatAttribute:
		if !r.category {
			c.floats = make([]float64, n)
			return func(row int, cell []byte) {
				c.floats[row] = math.NaN()
				if len(cell) == 8 {
					c.floats[row] = base.UnpackBytesToFloat(cell)
				}
			}, nil
		}
	case *base.BinaryAttribute:
		if !r.category {
			c.floats = make([]float64, n)
			return func(row int, cell []byte) {
				switch {
				case len(cell) == 0:
					c.floats[row] = math.NaN()
				case cell[0] > 0:
					c.floats[row] = 1
				}
			}, nil
		}
		c.codes = make([]int32, n)
		c.categories = binaryCategories
		return func(row int, cell []byte) {
			switch {
			case len(cell) == 0:
				c.codes[row] = int32(len(binaryCategories))
			case cell[0] > 0:
				c.codes[row] = 1
			}
		}, nil
	case *base.CategoricalAttribute:
		if r.category {
			c.codes, c.categories = make([]int32, n), a.GetValues()
			values = len(c.categories)
			return func(row int, cell []byte) {
				c.codes[row] = int32(values)
				if len(cell) == 8 {
					c.codes[row] = int32(min(base.UnpackBytesToU64(cell), uint64(values)))
				}
			}, nil
		}
	}
	return nil, &AttributeError{r.attribute.GetName(), ErrAttributeType}
}

// read reads the requested attributes.
func read(grid base.FixedDataGrid, requests []request) ([]cells, error) {
	_, n := grid.Size()
	list := make([]cells, len(requests))
	specs := make([]base.AttributeSpec, len(requests))
	decoders := make([]func(int, []byte), len(requests))
	for i, r := range requests {
		var err error
		if specs[i], err = grid.GetAttribute(r.attribute); err != nil {
			return nil, &AttributeError{r.attribute.GetName(), ErrAttributeAbsent}
		}
		if decoders[i], err = r.decoder(&list[i], n); err != nil {
			return nil, err
		}
	}
	dense, ok := grid.(*base.DenseInstances)
	if !ok { // see the package comment
		for i, store := range decoders {
			for row := range n {
				store(row, grid.Get(specs[i], row))
			}
		}
		return list, nil
	}
	return list, dense.MapOverRows(specs, func(row [][]byte, at int) (bool, error) {
		for i, store := range decoders {
			store(at, row[i])
		}
		return true, nil
	})
}

// named returns the attribute of that name.
func named(grid base.FixedDataGrid, name string) (base.Attribute, error) {
	var found base.Attribute
	for _, a := range grid.AllAttributes() {
		if a.GetName() != name {
			continue
		}
		if found != nil {
			return nil, &AttributeError{name, ErrAttributeTwice}
		}
		found = a
	}
	if found == nil {
		return nil, &AttributeError{name, ErrAttributeAbsent}
	}
	return found, nil
}

// Rows reads the input columns of a model from a grid, by name; other attributes, including the class, are
// ignored. Errors are [*AttributeError].
func Rows(
	grid base.FixedDataGrid,
	inputs []regression.Column,
) (regression.Rows, error) {
	requests := make([]request, len(inputs))
	for i, c := range inputs {
		a, err := named(grid, c.Name)
		if err != nil {
			return regression.Rows{}, err
		}
		requests[i] = request{a, c.Text()}
	}
	list, err := read(grid, requests)
	if err != nil {
		return regression.Rows{}, err
	}
	_, n := grid.Size()
	rows := regression.Rows{
		N:       n,
		Numeric: map[string][]float64{},
		Codes:   map[string]regression.Codes{},
	}
	for i, c := range inputs {
		if requests[i].category {
			rows.Codes[c.Name] = regression.Codes{
				Values:     list[i].codes,
				Categories: list[i].categories,
			}
		} else {
			rows.Numeric[c.Name] = list[i].floats
		}
	}
	return rows, nil
}

// Table reads the declared columns, including the target, from a grid and returns the input table of a private
// fit. Categories are matched with the declared lists by name. ids gives the privacy unit of each row, see
// dataset.NewTable; nil if every row is a unit of its own. Errors are [*AttributeError] and those of
// dataset.NewTable, and never depend on a cell.
func Table(
	grid base.FixedDataGrid,
	schema dataset.Schema,
	ids []uint64,
) (*dataset.Table, error) {
	requests := make([]request, len(schema.Columns))
	for i, c := range schema.Columns {
		a, err := named(grid, c.Name)
		if err != nil {
			return nil, err
		}
		requests[i] = request{a, c.Kind == dataset.Category}
	}
	list, err := read(grid, requests)
	if err != nil {
		return nil, err
	}
	columns := make([]dataset.ColumnData, len(list))
	for i, c := range list {
		columns[i].Floats = c.floats
		if requests[i].category {
			columns[i].Codes = recode(c, schema.Columns[i].Categories)
		}
	}
	if len(columns) == 0 && ids == nil {
		_, n := grid.Size()
		ids = make([]uint64, n)
		for i := range ids {
			ids[i] = uint64(i)
		}
	}
	return dataset.NewTable(schema, columns, ids)
}

// recode converts indexes into the grid's list to indexes into the declared list.
func recode(c cells, declared []string) []int32 {
	position := make(map[string]int32, len(declared))
	for i, name := range declared {
		position[name] = int32(i)
	}
	other := int32(len(declared))
	code := make([]int32, len(c.categories)+1)
	for i, name := range c.categories {
		at, ok := position[name]
		if !ok {
			at = other
		}
		code[i] = at
	}
	code[len(c.categories)] = other
	for i, v := range c.codes {
		c.codes[i] = code[v]
	}
	return c.codes
}

// Design reads every attribute that is not a class as a numeric column, and the one class attribute as the
// target, in the form that package nonprivate's baselines fit. Errors: [ErrClass], [*AttributeError] (a
// categorical attribute has no number).
func Design(grid base.FixedDataGrid) (regression.Design, error) {
	class, err := classOf(grid)
	if err != nil {
		return regression.Design{}, err
	}
	d := regression.Design{Target: class.GetName()}
	requests := []request{{attribute: class}}
	for _, a := range grid.AllAttributes() {
		if !a.Equals(class) {
			requests = append(requests, request{attribute: a})
			d.Names = append(d.Names, a.GetName())
		}
	}
	list, err := read(grid, requests)
	if err != nil {
		return regression.Design{}, err
	}
	d.Y = list[0].floats
	for _, c := range list[1:] {
		d.X = append(d.X, c.floats)
	}
	return d, nil
}

// Target reads the one class attribute as numbers: the true values of a grid,
// or the predictions in one that [Classifier.Predict] returned. Errors:
// [ErrClass], [*AttributeError].
func Target(grid base.FixedDataGrid) ([]float64, error) {
	class, err := classOf(grid)
	if err != nil {
		return nil, err
	}
	list, err := read(grid, []request{{attribute: class}})
	if err != nil {
		return nil, err
	}
	return list[0].floats, nil
}

// classOf returns the only class attribute.
func classOf(grid base.FixedDataGrid) (base.Attribute, error) {
	classes := grid.AllClassAttributes()
	if len(classes) != 1 {
		return nil, ErrClass
	}
	return classes[0], nil
}
