package baseline

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/internal/mechanism"
)

const (
	pateNode = "pate"
	// agreementLeaf: how often teachers vote for class 1, by true class.
	agreementLeaf = "agreement"
	// answersLeaf: the votes on all queries.
	answersLeaf = "answers"

	agreementShare = .1
	// studentOf: one record of so many is a student's.
	studentOf = 4
	// MaxQueries bounds the public number of answers, and MaxBuckets that of
	// teachers.
	MaxQueries, MaxBuckets = 1 << 20, 1 << 14
)

// PATE answers a public number of queries by the votes of teachers that know only
// private columns, together with a student that knows only public ones.
//
// # The extension as the paper has it, and what is sound of it
//
// Section 7 of the paper trains teachers on buckets of the private features, lets
// them vote on the label of every data point, and gives the winning label to the
// student as one more feature. Two things about it cost more than one noisy vote:
//
//   - The winning label of a training record is a function of that record's own
//     private columns. If they change all M teachers may vote otherwise, so the
//     difference of the votes moves by 2M, and noise that hides this is larger than
//     any vote: the label is randomised response, with mu/2 for the ratio of signal
//     to noise whatever M is.
//   - A record to be predicted needs a winning label too, so there is no model to
//     publish: every prediction is a release about the teachers' records.
//
// Here no label of a training record is released. One record of four, chosen
// without looking, is a student's; the others are dealt to buckets by their coins.
// Of the student's records two numbers are released: the share of votes for class 1
// among those of either class, which is all that the student has to know about the
// teachers. Then the votes on a public number of queries are released, each with
// noise, and the student adds their log-likelihood ratio to its own log odds. After
// those queries the budget is spent.
//
// # Privacy
//
// The private columns of one record change. Which records are the student's, and
// which bucket a record is in, do not depend on them.
//
//   - A teacher's record: the teacher of one bucket changes. Its votes on Q queries
//     turn from one set into another: the counts move by at most sqrt(Q)
//     ([mechanism.Votes]). Its two shares of votes lie in [0, 1]: their sums over
//     teachers move by at most sqrt2 ([mechanism.Sums], a bucket counting as a
//     record under substitution).
//   - A student's record of class c, one of S_c: no teacher changes, so no answer
//     does. Each teacher's share in class c moves by at most 1/S_c, and the sum over
//     M teachers by M/S_c. It is multiplied by the public factor min(1, S_c/M), so
//     that it moves by at most 1 (and M 2^-28 for rounding), below sqrt2.
//
// The queries are other people's records, as in the prediction of any model: their
// private columns are seen by the one who answers and are not protected.
type PATE struct {
	// Columns are the features in order and then the target, of two classes.
	Columns []dataset.Column
	// Buckets is M, the number of teachers: a public number.
	Buckets int
	// Queries is Q, the number of records to be answered: a public number.
	Queries int
}

// Plan returns the leaves of the agreement and of the answers. Errors: [ErrColumns],
// [ErrSetting].
func (t PATE) Plan() (budget.Node, error) {
	if err := check(t.Columns); err != nil {
		return budget.Node{}, err
	}
	if t.Buckets < 1 || t.Buckets > MaxBuckets || t.Queries < 1 || t.Queries > MaxQueries {
		return budget.Node{}, fmt.Errorf("%w: %d buckets and %d queries; choose 1 to %d and 1 to %d", ErrSetting, t.Buckets, t.Queries, MaxBuckets, MaxQueries)
	}
	return budget.Seq(pateNode,
		budget.GaussianLeaf(agreementLeaf, agreementShare, 1),
		budget.GaussianLeaf(answersLeaf, 1-agreementShare, 1)), nil
}

// Run trains on the records of v and answers the first t.Queries records of
// queries, of which it returns the classes. Both views have t.Columns. s is the
// session of the parent of the node that Plan returned.
func (t PATE) Run(ctx context.Context, s *mechanism.Session, v, queries dataset.View) ([]int32, error) {
	if err := checkRelation(s); err != nil {
		return nil, err
	}
	if queries.Len() > t.Queries {
		queries = queries.Select(upTo(t.Queries))
	}
	s = s.Sub(pateNode)
	_, public := sides(t.Columns)
	student, err := FitOpen(ctx, nonprivate.NonprivateLogistic, v, public)
	if err != nil {
		return nil, err
	}
	odds, err := student.Scores(queries)
	if err != nil {
		return nil, err
	}
	votes, err := t.vote(ctx, s, v, queries)
	if err != nil {
		return nil, err
	}
	shares, err := votes.releaseShares(s)
	if err != nil {
		return nil, err
	}
	counts, err := mechanism.Gaussian(s, answersLeaf, votes.answers.Counts())
	if err != nil {
		return nil, err
	}
	half := float64(t.Buckets) / 2
	for i := range odds {
		odds[i] += evidence((counts.Value()[i]-half)/half, s.Scale(answersLeaf)/half, shares)
	}
	return signs(odds), nil
}

func upTo(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// ballots are the votes of all teachers.
type ballots struct {
	answers *mechanism.Votes
	shares  *mechanism.Sums
	factor  [2]float64 // what each share was multiplied with
	buckets int
}

// vote trains the teachers and collects their votes.
func (t PATE) vote(ctx context.Context, s *mechanism.Session, v, queries dataset.View) (*ballots, error) {
	roles, coins := s.PublicStream("roles"), s.Coins("buckets")
	// The rows are numbered in an order that no private column decides.
	var students []int32
	teachers := make([][]int32, t.Buckets)
	labels := Labels(v)
	var size [2]float64
	for i, label := range labels {
		student := roles.Uniform(studentOf) == 0
		switch {
		case int(label) > 1: // in no class: neither's
		case student:
			students = append(students, int32(i))
			size[label]++
		default:
			b := coins.Uniform(v.ID(i), t.Buckets)
			teachers[b] = append(teachers[b], int32(i))
		}
	}
	asked := v.Select(students)
	out := &ballots{answers: s.NewVotes(t.Queries, t.Queries), shares: s.NewSums([]float64{0, 0}, []float64{1, 1}), buckets: t.Buckets}
	for c := range size {
		out.factor[c] = min(1, size[c]/float64(t.Buckets))
	}
	for _, rows := range teachers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(rows) == 0 { // votes for class 0 throughout
			out.answers.Add(nil)
			continue
		}
		if err := t.teach(ctx, out, v.Select(rows), asked, queries, size); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// teach adds the votes of one teacher.
func (t PATE) teach(ctx context.Context, out *ballots, bucket, students, queries dataset.View, size [2]float64) error {
	private, _ := sides(t.Columns)
	teacher, err := FitOpen(ctx, nonprivate.NonprivateLogistic, bucket, private)
	if err != nil {
		return err
	}
	said, err := teacher.Predict(students)
	if err != nil {
		return err
	}
	var ones [2]float64
	for i, label := range Labels(students) {
		ones[label] += float64(said[i])
	}
	row := make([][]float64, 2)
	for c := range row {
		row[c] = []float64{out.factor[c] * ones[c] / max(size[c], 1)}
	}
	out.shares.Add(row)
	if said, err = teacher.Predict(queries); err != nil {
		return err
	}
	var positive []int
	for i, c := range said {
		if c == 1 {
			positive = append(positive, i)
		}
	}
	out.answers.Add(positive)
	return nil
}

// releaseShares returns the share of votes for class 1 among records of class 0 and
// of class 1.
func (b *ballots) releaseShares(s *mechanism.Session) ([2]float64, error) {
	noisy, err := mechanism.Gaussian(s, agreementLeaf, b.shares.Bound())
	if err != nil {
		return [2]float64{}, err
	}
	var p [2]float64
	for c, sum := range noisy.Value() {
		p[c] = .5
		if b.factor[c] > 0 {
			p[c] = min(max(sum/(float64(b.buckets)*b.factor[c]), .01), .99)
		}
	}
	if p[1] < p[0] { // teachers are no worse than chance
		p[0] = (p[0] + p[1]) / 2
		p[1] = p[0]
	}
	return p, nil
}

// evidence is the log-likelihood ratio of class 1 that the mean vote x, in [-1, 1]
// and with normal noise of deviation sigma, is worth, if all teachers agree and
// vote for class 1 with probability p[c] in class c.
func evidence(x, sigma float64, p [2]float64) float64 {
	// log (p e^up + (1-p) e^down), without the squares and the larger of the two
	// exponents, which both classes share.
	up, down := x/(sigma*sigma), -x/(sigma*sigma)
	top := max(up, down)
	log := func(p float64) float64 { return math.Log(p*math.Exp(up-top) + (1-p)*math.Exp(down-top)) }
	return log(p[1]) - log(p[0])
}
