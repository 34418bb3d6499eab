package recipe

import "maps"

// published is the form of the recipe in release/recipe.yaml. It omits the paths of the data, the ledger and
// the output, and the engine, on which the release does not depend.
type published struct {
	Version   int           `yaml:"version"`
	Task      string        `yaml:"task"`
	Data      publishedData `yaml:"data"`
	Privacy   Privacy       `yaml:"privacy"`
	Holdout   float64       `yaml:"holdout"`
	Evaluate  *Evaluate     `yaml:"evaluate,omitempty"`
	Scaling   Scaling       `yaml:"scaling"`
	Budget    *Budget       `yaml:"budget,omitempty"`
	Count     *Count        `yaml:"count,omitempty"`
	Selection *Selection    `yaml:"selection,omitempty"`
	Model     *Model        `yaml:"model,omitempty"`
	Search    *Search       `yaml:"search,omitempty"`
	Ledger    *struct {
		Dataset string `yaml:"dataset"`
	} `yaml:"ledger,omitempty"`
	About *About `yaml:"about,omitempty"`
}

// publishedData is the section data of a published recipe.
type publishedData struct {
	Target          string            `yaml:"target,omitempty"`
	Header          []string          `yaml:"header,omitempty"`
	Exclude         []string          `yaml:"exclude,omitempty"`
	MultilineQuotes bool              `yaml:"multiline_quotes"`
	Format          *Format           `yaml:"format,omitempty"`
	Numbers         string            `yaml:"numbers,omitempty"`
	Undeclared      string            `yaml:"undeclared,omitempty"`
	Fold            string            `yaml:"fold,omitempty"`
	Columns         map[string]Column `yaml:"columns,omitempty"`
	Classes         Names             `yaml:"classes,omitempty"`
	MostClasses     int               `yaml:"most_classes,omitempty"`
}

// published returns the keys that the published recipes of all tasks have: how the table is read, and the declarations.
func (d *Data) published() publishedData {
	return publishedData{
		Header:          d.Header,
		MultilineQuotes: d.MultilineQuotes,
		Format:          d.Format,
		Numbers:         d.Numbers,
		Columns:         d.Columns,
	}
}

// Public returns the recipe as published with the model: YAML with every value resolved, defaults included, and
// without data.path, ledger.path, engine, output and comments. With data.header it can be planned; a run needs
// data.path too. A header that would make it longer than [MaxSize] is left out. The bytes depend only on the values
// of r.
func (r *Recipe) Public() ([]byte, error) {
	if r.Task == TaskCausal {
		return r.publicCausal(), nil
	}
	var p published
	p.Version = r.Version
	p.Task = r.Task
	p.Data = r.Data.published()
	p.Data.Target = r.Data.Target
	p.Data.Exclude = r.Data.Exclude
	p.Data.Classes, p.Data.Undeclared = r.Classes(), r.Undeclared()
	p.Data.Fold = r.Data.Fold
	if p.Data.Classes.Found {
		p.Data.MostClasses = r.mostClasses()
	}
	p.Privacy = r.Privacy
	p.Holdout = r.Holdout
	p.Evaluate = r.Evaluate
	p.Scaling = r.Scaling
	p.Budget = r.Budget
	p.Count = r.Count
	if p.Search = r.Search; p.Search == nil {
		selection := r.Selection
		if r.movesShare() {
			shares, _ := r.divided()
			budget := Budget(shares)
			selection.Keys = maps.Clone(selection.Keys)
			p.Budget = &budget
			delete(selection.Keys, "share")
		}
		p.Selection = &selection
		p.Model = &r.Model
	}
	if r.Ledger != nil {
		p.Ledger = &struct {
			Dataset string `yaml:"dataset"`
		}{r.Ledger.Dataset}
	}
	p.About = r.About
	text := encode(p)
	if len(text) > MaxSize {
		p.Data.Header = nil
		text = encode(p)
	}
	return text, nil
}
