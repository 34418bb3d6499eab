package pipeline

import (
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// Records without a usable target: a missing number without a declared substitute, or a class that is not
// listed. Such a record cannot be used for training and is excluded from all statistics of a selector or a
// model, which get the other records only. Its features count in the histograms of ranges, which use all
// records; there a missing target is in no bin.
//
// This is the only place where the training part is restricted, and the bounds of the mechanisms remain valid.
// Whether a record stays depends on that record only, so for the training parts of two neighbouring tables the
// restricted parts
//
//   - differ by at most that record, if a record is added or removed;
//   - differ by one record replaced, added or removed, or not at all, if one is replaced.
//
// So under substitution a bound must also cover one record added or removed. Every bound of package mechanism
// does: that of a replaced record is never below that of an added one (TestSubstitutionCoversRemoval). And no
// statistic may treat the number of these records as public; see [publicCount].
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

// forTrainer returns the records for a trainer: every record if its method itself leaves out those
// in no class, or uses exact statistics of public features with a private target, and otherwise those of known
// classes. [boosting.BRC] divides by a number of records, which is public where a record may be replaced.
func (r records) forTrainer(
	t method.Trainer,
	labelOnly bool,
) (mechanism.Records, error) {
	m, err := methodOf(t)
	if m.AllRecords || m.PublicFeatures && labelOnly {
		return r.all, err
	}
	return r.known, err
}

// forSelector returns the records for a selector. If the target alone is private, pairs of public columns are scored exactly,
// so over all records; a missing target then counts as the statistic has it: in no class, below every number, or in the
// middle of its range.
func (r records) forSelector(
	x selection.Selector,
	labelOnly bool,
) mechanism.Records {
	if m, _ := SelectorNamed(x.Name()); labelOnly && m.PublicFeatures && ownSelector(x) {
		return r.all
	}
	return r.known
}

// publicCount reports whether the number of records with a usable target is public. Under substitution the
// number of all records is, but a replaced record may have lost its target: the two are equal only if missing
// targets have a declared value. Under private columns the target itself may be public.
func publicCount(f selection.Facts) bool {
	switch {
	case f.Relation == budget.AddRemove:
		return false
	case method.PublicTarget(f.Relation, f.Target):
		return true
	}
	return f.Target.Kind == dataset.Numeric && f.Target.HasMissing
}
