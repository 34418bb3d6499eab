package pipeline

import (
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/selection"
)

// Records without a target that can be read: a number that is missing and has no
// declared value, a class that is not listed. There is nothing to learn from such a
// record, and so it adds nothing to any statistic of a selector or a model: they are
// handed the other records alone. Its features count in the histograms of ranges, which
// see all records; there a missing target is in no bin.
//
// This is the one place where the training part is narrowed, and the bounds of the
// mechanisms hold as they are. Whether a record stays depends on that record alone, so
// of the training parts of two neighbouring tables the narrowed ones
//
//   - differ, if a record is added or removed, by that record or not at all;
//   - differ, if one is replaced, by one that is replaced, by one that is added or
//     removed, or not at all.
//
// So under substitution a bound has to cover one record added or removed as well. Every
// bound of package mechanism does: that of a replaced record is nowhere below that of an
// added one (TestSubstitutionCoversRemoval). And no statistic may take the number of these
// records for public; see [publicCount].
type records struct {
	all   mechanism.Records
	known mechanism.Records // those with a target that can be read
}

// recordsOf narrows the training part, whose last column is the target.
func recordsOf(all mechanism.Records) records {
	return records{all, all.Known(len(all.Schema().Columns) - 1)}
}

// columns returns the records with the given columns.
func (r records) columns(index []int) records {
	return records{r.all.Columns(index), r.known.Columns(index)}
}

// of returns the records that a trainer is handed: all, if its method leaves those in no
// class out by itself. [boosting.BRC] divides by a number of records, which is public
// where a record may be replaced.
func (r records) of(t method.Trainer) (mechanism.Records, error) {
	m, err := methodOf(t)
	if m.AllRecords {
		return r.all, err
	}
	return r.known, err
}

// publicCount reports whether the number of records with a target that can be read is
// public. Where records are replaced that of all records is, but a replaced one may have
// lost its target: only a declared value for missing targets makes the two equal. Under
// private columns the target is public itself.
func publicCount(f selection.Facts) bool {
	switch f.Relation {
	case budget.Substitute:
		return f.Target.Kind == dataset.Numeric && f.Target.HasMissing
	case budget.SubstitutePrivateColumns:
		return true
	}
	return false
}
