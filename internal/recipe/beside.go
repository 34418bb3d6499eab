package recipe

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/regression"
)

// Names of a model and of the recipe published with it.
const (
	modelName  = "model.json"
	recipeName = "recipe.yaml"
)

// Beside returns the data section of the recipe published with a model. ok is false if there is no recipe.
func Beside(model string) (d Data, ok bool) {
	if filepath.Base(model) != modelName {
		return Data{}, false
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(model), recipeName))
	if err != nil {
		return Data{}, false
	}
	r, problems := Parse(recipeName, text)
	if len(problems) > 0 {
		return Data{}, false
	}
	return r.Data, true
}

// Describe sets the readings of a model from the section. It is for models of earlier versions, whose files
// lack them; a model that has readings is unchanged.
func (d Data) Describe(m regression.Model) {
	if slices.ContainsFunc(m.Inputs(), func(c regression.Column) bool {
		return !c.Reading.IsZero()
	}) {
		return
	}
	dates := map[string]dataset.Column{}
	for name, declared := range d.Columns {
		if declared.Date == "" {
			continue
		}
		for _, part := range dateColumns(name, declared) {
			dates[part.Name] = part
		}
	}
	numeric := map[string]bool{}
	for _, c := range m.Inputs() {
		numeric[c.Name] = !c.Text()
	}
	o := d.Reading()
	regression.SetReading(m, func(column string, r *regression.Reading) {
		r.Decimal = o.Format.Decimal
		r.Thousands = o.Format.Thousands
		r.Strict = o.Format.Strict
		r.Missing = o.Format.Missing
		if c, found := dates[column]; found && numeric[column] {
			r.Source = c.Source
			r.Part = c.Part
			r.Date = c.Date
		}
	})
}

// SetNumbers changes how numbers are written.
func (d *Data) SetNumbers(n dataset.Numbers) {
	o := d.Reading()
	o.Format.SetNumbers(n)
	header := d.Header
	d.SetReading(o)
	d.Header = header
}
