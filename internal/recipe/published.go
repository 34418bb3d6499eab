package recipe

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// Names of a model and of the recipe published with it.
const (
	modelName  = "model.json"
	recipeName = "recipe.yaml"
)

// PublishedData returns the data section of the recipe published with a model. The error is [fs.ErrNotExist] if there
// is no recipe or the model is not named as in a release, and otherwise that of the file or of the recipe.
func PublishedData(model string) (Data, error) {
	if filepath.Base(model) != modelName {
		return Data{}, fs.ErrNotExist
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(model), recipeName))
	if err != nil {
		return Data{}, err
	}
	r, problems := Parse(recipeName, text)
	if err := problems.Err(); err != nil {
		return Data{}, err
	}
	return r.Data, nil
}

// Describe sets the readings of a model from the section. It is for models of earlier versions, whose files
// lack them; a model that has readings is unchanged.
func (d Data) Describe(m regression.Model) {
	if slices.ContainsFunc(m.Inputs(), func(c regression.Column) bool {
		return !c.Reading.IsZero()
	}) {
		return
	}
	numeric := map[string]bool{}
	for _, c := range m.Inputs() {
		numeric[c.Name] = !c.Text()
	}
	o := d.Reading()
	s := dataset.Schema{Numbers: o.Format.Numbers()}
	for name, declared := range d.Columns {
		if declared.Date == "" {
			continue
		}
		for _, part := range dateColumns(name, declared) {
			if numeric[part.Name] {
				s.Columns = append(s.Columns, part)
			}
		}
	}
	pipeline.RecordReading(m, s)
}

// SetNumbers changes how numbers are written.
func (d *Data) SetNumbers(n dataset.Numbers) {
	o := d.Reading()
	o.Format.SetNumbers(n)
	header := d.Header
	d.SetReading(o)
	d.Header = header
}
