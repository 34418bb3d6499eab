package regression

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ErrModelFormat is wrapped by the [DecodeError] of a file that is not of a
// format or kind this version reads, for example because a later version
// wrote it.
var ErrModelFormat = errors.New("unsupported model format")

// DecodeModel reads a model file. It reads r to its end. A refused file gives a
// [*DecodeError], a file that is too long [ErrModelSize]; other errors are
// those of r.
func DecodeModel(r io.Reader) (Model, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxModelBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxModelBytes {
		return nil, ErrModelSize
	}
	if err := checkSyntax(data); err != nil {
		return nil, err
	}
	kind, version, err := readHeader(data)
	if err != nil {
		return nil, err
	}
	d := newJSONReader(data)
	d.version = version
	if kind == KindClassifier {
		return d.classifier()
	}
	var task string
	var common head
	m, err := d.body(kind, &common, append(d.sinceVersion2(
		field{name: "interval", read: func() error { return d.intervals(&common.intervals) }}),
		field{name: "format", read: d.ignoreText},
		field{name: "kind", read: d.ignoreText},
		field{name: "task", read: func() error { return d.oneOf(&task, TaskRegression) }},
		field{name: "target", read: d.textInto(&common.target)},
		field{name: "guarantee", read: func() error { return d.guarantee(&common.guarantee) }})...)
	if err != nil {
		return nil, err
	}
	if err := m.(interface{ Validate() error }).Validate(); err != nil {
		return nil, d.locate(err)
	}
	return m, nil
}

// head is what models of all kinds have, and the scores of a classifier have
// from it.
type head struct {
	target    string
	intervals []Interval
	guarantee *Guarantee
}

// body reads an object with the members that a kind of model has and the given
// ones, which fill common. The model is not validated yet. A new kind has a case
// here and in [document.body].
func (d *jsonReader) body(kind string, common *head, fields ...field) (Model, error) {
	switch kind {
	case KindClippedLinear:
		return d.clipped(common, fields)
	case KindAdditive:
		return d.additive(common, fields)
	case KindVotes:
		return d.votes(common, fields)
	}
	m := &Linear{}
	if err := d.members(m, common, fields); err != nil {
		return nil, err
	}
	return m, nil
}

// scoreKinds lists the kinds that a score of a classifier may have: all but
// classifier.
func scoreKinds() []string { return []string{KindLinear, KindClippedLinear, KindAdditive, KindVotes} }

// classifier reads a document of kind classifier. The scores are read last:
// they are about the classifier's target.
func (d *jsonReader) classifier() (Model, error) {
	var task string
	var parts []*jsonReader
	m := &Classifier{}
	err := d.object(append(d.sinceVersion2(
		field{name: "probability", read: func() error { return d.probability(&m.Probability) }}),
		field{name: "format", read: d.ignoreText},
		field{name: "kind", read: d.ignoreText},
		field{name: "task", read: func() error { return d.oneOf(&task, TaskClassification) }},
		field{name: "target", read: d.textInto(&m.Target)},
		field{name: "classes", read: func() error { return d.categories(&m.Classes) }},
		field{name: "cutoff", read: d.numberInto(&m.Cutoff)},
		field{name: "scores", read: func() error {
			return d.array(func() error {
				from := d.position()
				err := d.skip()
				if err == nil {
					parts = append(parts, d.part(from, d.position()))
				}
				return err
			})
		}},
		field{name: "guarantee", read: func() error { return d.guarantee(&m.Guarantee) }},
	), refuseUnknown)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		score, err := part.scoreOf(m.Target)
		if err != nil {
			return nil, err
		}
		m.Scores = append(m.Scores, score)
	}
	if err := m.Validate(); err != nil {
		return nil, d.locate(err)
	}
	return m, nil
}

// scoreOf reads one score, all that d is a reader of.
func (d *jsonReader) scoreOf(target string) (Model, error) {
	var kind string
	first := d.part(d.base, d.base+d.size)
	if err := first.object([]field{{name: "kind", read: first.known(&kind, scoreKinds()...)}}, skipUnknown); err != nil {
		return nil, err
	}
	return d.body(kind, &head{target: target}, field{name: "kind", read: d.ignoreText})
}

// readHeader reads format and kind, wherever they stand among the keys, so
// that a file of a later version is refused as such and not for its first
// unknown key. It returns the kind and the version of the format.
func readHeader(data []byte) (kind string, version int, err error) {
	d := newJSONReader(data)
	var format string
	err = d.object([]field{
		{name: "format", read: d.known(&format, modelFormat1, ModelFormat)},
		{name: "kind", read: d.known(&kind, append(scoreKinds(), KindClassifier)...)},
	}, skipUnknown)
	version = 2
	if format == modelFormat1 {
		version = 1
	}
	return kind, version, err
}

// sinceVersion2 returns optional members that version 1 does not have: none in a
// file of version 1.
func (d *jsonReader) sinceVersion2(fields ...field) []field {
	if d.version < 2 {
		return nil
	}
	for i := range fields {
		fields[i].optional = true
	}
	return fields
}

// known reads one of the names that this version knows into s; another one is
// [ErrModelFormat].
func (d *jsonReader) known(s *string, want ...string) func() error {
	return func() (err error) {
		at := d.position()
		*s, err = d.text()
		if err == nil && !slices.Contains(want, *s) {
			reads := quote(want[0])
			for _, w := range want[1:] {
				reads += " or " + quote(w)
			}
			problem := newDecodeError(d.data, at, strings.Join(d.path, ""), fmt.Sprintf("is %s, this version reads %s", quote(*s), reads))
			problem.err = ErrModelFormat
			return problem
		}
		return err
	}
}

func (d *jsonReader) clipped(common *head, fields []field) (Model, error) {
	m := &ClippedLinear{}
	clip := field{name: "clip", read: func() error {
		return d.object([]field{
			{name: "constant", read: d.numberInto(&m.Constant)},
			{name: "norm", read: d.numberInto(&m.Norm)},
		}, refuseUnknown)
	}}
	if err := d.members(&m.Linear, common, append(fields, clip)); err != nil {
		return nil, err
	}
	return m, nil
}

func (d *jsonReader) additive(common *head, fields []field) (Model, error) {
	m := &Additive{}
	var columns []string
	shapes := field{name: "shapes", read: func() error { return d.shapes(&m.Shapes, &columns) }}
	score := field{name: "score", read: func() error { return d.score(&m.Score) }}
	if err := d.members(&m.Linear, common, append(fields, shapes, score)); err != nil {
		return nil, err
	}
	index := m.columnIndex()
	for i, name := range columns {
		m.Shapes[i].Column = index(name)
	}
	return m, nil
}

func (d *jsonReader) votes(common *head, fields []field) (Model, error) {
	m := &Votes{}
	var columns [][]string
	members := field{name: "members", read: func() error {
		return d.array(func() error {
			var v Member
			var names []string
			err := d.object([]field{
				{name: "weight", read: d.numberInto(&v.Weight)},
				{name: "intercept", read: d.numberInto(&v.Intercept)},
				{name: "terms", read: func() error { return d.terms(&v.Terms, &names) }},
			}, refuseUnknown)
			if err == nil {
				m.Members, columns = append(m.Members, v), append(columns, names)
			}
			return err
		})
	}}
	if err := d.members(&m.Linear, common, append(fields, members)); err != nil {
		return nil, err
	}
	index := m.columnIndex()
	for i, names := range columns {
		for k, name := range names {
			m.Members[i].Terms[k].Column = index(name)
		}
	}
	return m, nil
}

func (d *jsonReader) shapes(list *[]Shape, columns *[]string) error {
	return d.array(func() error {
		var s Shape
		var column string
		err := d.object([]field{
			{name: "column", read: d.textInto(&column)},
			{name: "edges", read: d.numbersInto(&s.Edges)},
			{name: "values", read: d.numbersInto(&s.Values)},
		}, refuseUnknown)
		if err == nil {
			*list = append(*list, s)
			*columns = append(*columns, column)
		}
		return err
	})
}

func (d *jsonReader) score(s **Score) error {
	if null, err := d.null(); null || err != nil {
		return err
	}
	*s = &Score{}
	return d.object([]field{
		{name: "intercept", read: d.numberInto(&(*s).Intercept)},
		{name: "coefficients", read: d.numbersInto(&(*s).Coefficients)},
		{name: "edges", read: d.numbersInto(&(*s).Edges)},
		{name: "values", read: d.numbersInto(&(*s).Values)},
	}, refuseUnknown)
}

func (d *jsonReader) numbersInto(list *[]float64) func() error {
	return func() error {
		return d.array(func() error {
			var v float64
			err := d.numberInto(&v)()
			if err == nil {
				*list = append(*list, v)
			}
			return err
		})
	}
}

// members reads an object with the members of a linear model, into m, and
// further ones, which fill common, and turns the names of columns in terms into
// indices.
func (d *jsonReader) members(m *Linear, common *head, further []field) error {
	var termColumns []string
	err := d.object(append([]field{
		{name: "columns", read: func() error { return d.columns(&m.Columns) }},
		{name: "terms", read: func() error { return d.terms(&m.Terms, &termColumns) }},
		{name: "intercept", read: func() error {
			return d.object([]field{
				{name: "coefficient", read: d.numberInto(&m.Intercept)},
				{name: "std_error", read: d.numberInto(&m.InterceptStdError)},
			}, refuseUnknown)
		}},
		{name: "prediction", read: func() error {
			return d.object([]field{
				{name: "lower", read: d.numberInto(&m.Lower)},
				{name: "upper", read: d.numberInto(&m.Upper)},
			}, refuseUnknown)
		}},
	}, further...), refuseUnknown)
	if err != nil {
		return err
	}
	m.Target, m.Intervals, m.Guarantee = common.target, common.intervals, common.guarantee
	index := m.columnIndex()
	for i, name := range termColumns {
		m.Terms[i].Column = index(name)
	}
	return nil
}

// columnIndex returns the function from the name of a column to its index: -1,
// which Validate refuses, where there is none.
func (m *Linear) columnIndex() func(name string) int {
	index := make(map[string]int, len(m.Columns))
	for i := range m.Columns {
		index[m.Columns[i].Name] = i
	}
	return func(name string) int {
		if i, ok := index[name]; ok {
			return i
		}
		return -1
	}
}

func (d *jsonReader) columns(list *[]Column) error {
	return d.array(func() error {
		var c Column
		var typ string
		at := d.position()
		given, err := d.fields([]field{
			{name: "name", read: d.textInto(&c.Name)},
			{name: "type", read: func() error { return d.oneOf(&typ, Numeric.String(), Category.String()) }},
			{name: "lower", optional: true, read: d.numberInto(&c.Lower)},
			{name: "upper", optional: true, read: d.numberInto(&c.Upper)},
			{name: "missing", optional: true, read: d.numberInto(&c.Missing)},
			{name: "categories", optional: true, read: func() error { return d.categories(&c.Categories) }},
			{name: "other", optional: true, read: d.booleanInto(&c.Other)},
		}, refuseUnknown)
		if err != nil {
			return err
		}
		numeric, category := []string{"lower", "upper", "missing"}, []string{"categories", "other"}
		if typ == Category.String() {
			c.Type = Category
			numeric, category = category, numeric
		}
		if !given.all(numeric) || given.any(category) {
			return d.errorAt(at, fmt.Sprintf("a %s column has the keys name, type, %s",
				typ, strings.Join(numeric, ", ")))
		}
		*list = append(*list, c)
		return nil
	})
}

func (d *jsonReader) categories(list *[]string) error {
	return d.array(func() error {
		name, err := d.text()
		if err == nil {
			*list = append(*list, name)
		}
		return err
	})
}

func (d *jsonReader) terms(list *[]Term, columns *[]string) error {
	return d.array(func() error {
		var t Term
		var column string
		err := d.object(append(d.sinceVersion2(field{name: "missing", read: d.booleanInto(&t.Missing)}),
			field{name: "column", read: d.textInto(&column)},
			field{name: "category", optional: true, read: d.textInto(&t.Category)},
			field{name: "other", optional: true, read: d.booleanInto(&t.Other)},
			field{name: "coefficient", read: d.numberInto(&t.Coefficient)},
			field{name: "std_error", read: d.numberInto(&t.StdError)},
		), refuseUnknown)
		if err == nil {
			*list = append(*list, t)
			*columns = append(*columns, column)
		}
		return err
	})
}
