package regression

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/sys/strictjson"
)

// withoutPrivacy describes the training in the file of a [Neighbours].
const withoutPrivacy = "without privacy: the vectors are training records or began as such and may lie near them; nothing is guaranteed"

// neighboursKind is the kind of a [Neighbours].
type neighboursKind struct{}

type neighboursFile struct {
	Format     string       `json:"format"`
	Kind       string       `json:"kind"`
	Task       string       `json:"task"`
	Training   string       `json:"training"`
	Target     string       `json:"target"`
	Classes    []string     `json:"classes"`
	Columns    []columnFile `json:"columns"`
	Center     []float64    `json:"center"`
	Scale      []float64    `json:"scale"`
	Map        [][]float64  `json:"map,omitempty"`
	Neighbours int          `json:"neighbours"`
	Gamma2     float64      `json:"gamma2"`
	Vectors    []vectorFile `json:"vectors"`
	Reading    *readingFile `json:"reading" format:"3?" layout:"line"`
	Guarantee  *Guarantee   `json:"guarantee" layout:"line"`
}

type vectorFile struct {
	Class string    `json:"class"`
	At    []float64 `json:"at"`
}

func (neighboursKind) name() string {
	return kindNeighbours
}

func (neighboursKind) matches(m Model) bool {
	_, ok := m.(*Neighbours)
	return ok
}

func (neighboursKind) encode(m Model) (any, error) {
	n := m.(*Neighbours)
	f := &neighboursFile{
		Format:     formatOf(m),
		Kind:       kindNeighbours,
		Task:       TaskClassification,
		Training:   withoutPrivacy,
		Target:     n.Target,
		Classes:    n.Classes,
		Center:     n.Center,
		Scale:      n.Scale,
		Map:        n.Map,
		Neighbours: n.K,
		Gamma2:     n.Gamma2,
		Reading:    readingOf(m),
	}
	for i := range n.Columns {
		f.Columns = append(f.Columns, n.Columns[i].toFile())
	}
	for i, v := range n.Vectors {
		f.Vectors = append(f.Vectors, vectorFile{n.Classes[n.Labels[i]], v})
	}
	return f, nil
}

func (neighboursKind) decode(
	doc strictjson.Value,
	version string,
) (Model, error) {
	var f neighboursFile
	if err := doc.Decode(&f, version); err != nil {
		return nil, err
	}
	switch {
	case f.Task != TaskClassification:
		return nil, taskError(f.Task, TaskClassification)
	case f.Training != withoutPrivacy:
		return nil, &ModelError{"training", fmt.Sprintf("must be %q", withoutPrivacy)}
	case f.Guarantee != nil:
		return nil,
			&ModelError{"guarantee",
				"must be null: models of this kind are trained without privacy"}
	}
	m := &Neighbours{
		Target:  f.Target,
		Classes: nilIfEmpty(f.Classes),
		Center:  nilIfEmpty(f.Center),
		Scale:   nilIfEmpty(f.Scale),
		Map:     nilIfEmpty(f.Map),
		K:       f.Neighbours,
		Gamma2:  f.Gamma2,
	}
	for i := range f.Columns {
		c, err := f.Columns[i].toColumn()
		if err != nil {
			return nil, prefixPath(fmt.Sprintf("columns[%d]", i), err)
		}
		m.Columns = append(m.Columns, c)
	}
	for _, v := range f.Vectors {
		m.Vectors = append(m.Vectors, v.At)
		m.Labels = append(m.Labels, slices.Index(m.Classes, v.Class))
	}
	return m, f.Reading.applyTo(m)
}

func (neighboursKind) compile(
	m Model,
	places func([]Column) []int,
) (program, error) {
	n := m.(*Neighbours)
	return n.newProgram(places(n.Columns)), nil
}
