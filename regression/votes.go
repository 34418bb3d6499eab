package regression

import (
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// kindVotes is the kind of a [Votes] model.
const kindVotes = "votes"

// Votes is a linear model plus the votes of linear classifiers:
//
//	clamp(Intercept + sum of Coefficient x
//	      + sum over Members of Weight sign(score), Lower, Upper),
//
// where sign(score) is +1 if the member's score is at least 0 and -1 otherwise. Boosting of classifiers
// produces such a model: the sign of the prediction is the weighted majority. The embedded Linear holds the
// columns, the clamps and a linear part, which is often empty; used alone, it predicts without the votes. Terms
// of members treat cells as those of the linear part do.
//
// A Votes must not be changed while it is in use.
type Votes struct {
	Linear

	Members []Member
}

// A Member is one linear classifier of a [Votes] model.
type Member struct {
	Weight    float64
	Intercept float64
	Terms     []Term // with StdError 0: members are not estimated with noise
}

var _ Model = (*Votes)(nil)

// Kind returns "votes".
func (m *Votes) Kind() string {
	return kindVotes
}

// Sums returns nil: a vote is not a sum over columns.
func (m *Votes) Sums() []*Additive {
	return nil
}

// Validate reports the first inconsistency in the model as a [*ModelError]: those of [Linear.Validate], for the
// linear part and for every member, and a weight that is not finite.
func (m *Votes) Validate() error {
	if err := m.Linear.Validate(); err != nil {
		return err
	}
	for i := range m.Members {
		path := fmt.Sprintf("members[%d].", i)
		if !isFinite(m.Members[i].Weight) {
			return &ModelError{path + "weight", "is not finite"}
		}
		if !isFinite(m.Members[i].Intercept) {
			return &ModelError{path + "intercept", "is not finite"}
		}
		scored := m.scoreModel(i)
		if err := scored.validateTerms(); err != nil {
			var problem *ModelError
			if errors.As(err, &problem) {
				return &ModelError{path + problem.Path, problem.Problem}
			}
			return err
		}
		for k, t := range scored.Terms {
			if t.StdError != 0 {
				return &ModelError{fmt.Sprintf("%sterms[%d].std_error", path, k), "must be 0"}
			}
		}
	}
	return nil
}

// scoreModel returns the linear model that predicts the score of member i.
func (m *Votes) scoreModel(i int) *Linear {
	return &Linear{
		Columns: m.Columns,
		Terms:   m.Members[i].Terms,
	}
}

// Predict implements [Model]; see [Linear.Predict].
func (m *Votes) Predict(dst []float64, rows Rows) ([]float64, error) {
	work := len(m.Terms) + 1
	for i := range m.Members {
		work += len(m.Members[i].Terms) + 2
	}
	return m.predictWith(dst, rows, parallel.Workers(rows.N*work))
}

func (m *Votes) predictWith(
	dst []float64,
	rows Rows,
	workers int,
) ([]float64, error) {
	return m.predictBlocks(m, dst, rows, workers, func(rows Rows) blockFiller {
		terms := blockAdders(m.compileAddends(nil), rows)
		members := make([][]blockAdder, len(m.Members))
		for i := range members {
			members[i] = blockAdders(m.scoreModel(i).compileAddends(nil), rows)
		}
		return func(sums []float64, first int) {
			addAll(sums, m.Intercept, terms, first)
			scores := make([]float64, len(sums))
			for i, member := range m.Members {
				addAll(scores, member.Intercept, members[i], first)
				for k, x := range scores {
					sums[k] += member.vote(x)
				}
			}
		}
	})
}

// vote returns the contribution of a member with this score.
func (m *Member) vote(score float64) float64 {
	if score >= 0 {
		return m.Weight
	}
	return -m.Weight
}

func (m *Votes) newProgram(places []int) program {
	p := &votesProgram{
		total:  recordSum{m.Intercept, m.compileAddends(places)},
		model:  m,
		limits: m.outputLimits(),
	}
	for i := range m.Members {
		p.scores = append(p.scores,
			recordSum{m.Members[i].Intercept, m.scoreModel(i).compileAddends(places)})
	}
	return p
}

type votesProgram struct {
	total  recordSum
	scores []recordSum // one per member
	model  *Votes
	limits limits
}

func (p *votesProgram) evaluate(record []value) float64 {
	sum := p.total.evaluate(record)
	for i := range p.scores {
		sum += p.model.Members[i].vote(p.scores[i].evaluate(record))
	}
	return p.limits.clamp(sum)
}

func votesKind() scoreKind {
	return numberKind[*Votes, votesFile]{
		kindVotes,
		func(m *Votes) votesFile {
			f := votesFile{
				base:       m.baseFile(),
				Prediction: m.outputLimits(),
			}
			for _, v := range m.Members {
				f.Members = append(f.Members,
					memberFile{v.Weight, v.Intercept, m.termFiles(v.Terms)})
			}
			return f
		},
		func(f votesFile) (*Votes, error) {
			l, err := f.toLinear(f.Prediction)
			m := &Votes{Linear: l}
			index := m.columnIndex()
			for _, v := range f.Members {
				m.Members = append(m.Members,
					Member{v.Weight, v.Intercept, termsOf(v.Terms, index)})
			}
			return m, err
		},
	}
}

type votesFile struct {
	base
	Members    []memberFile `json:"members"`
	Prediction limits       `json:"prediction"`
}

type memberFile struct {
	Weight    float64    `json:"weight"`
	Intercept float64    `json:"intercept"`
	Terms     []termFile `json:"terms"`
}
