package regression

import "math"

// guarantee reads a guarantee, or null.
func (d *jsonReader) guarantee(g **Guarantee) error {
	if null, err := d.null(); null || err != nil {
		return err
	}
	*g = &Guarantee{}
	return d.object([]field{
		{name: "epsilon", read: d.numberInto(&(*g).Epsilon)},
		{name: "delta", read: d.numberInto(&(*g).Delta)},
		{name: "mu", read: d.numberInto(&(*g).Mu)},
		{name: "relation", read: d.textInto(&(*g).Relation)},
		{name: "unit", optional: true, read: func() error { return d.unit(&(*g).Unit) }},
	}, refuseUnknown)
}

// unit reads the privacy unit of a guarantee.
func (d *jsonReader) unit(u **Unit) error {
	*u = &Unit{}
	return d.object([]field{
		{name: "column", read: d.textInto(&(*u).Column)},
		{name: "max_rows", read: func() error {
			at, rows := d.position(), 0.
			if err := d.numberInto(&rows)(); err != nil {
				return err
			}
			if !(rows >= 1 && rows <= math.MaxInt32 && rows == math.Trunc(rows)) {
				return d.errorAt(at, "must be a whole number of at least 1")
			}
			(*u).MaxRows = int(rows)
			return nil
		}},
	}, refuseUnknown)
}
