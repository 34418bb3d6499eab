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
	// agreementLeaf is the frequency with which teachers vote for class 1, by true class.
	agreementLeaf = "agreement"
	// answersLeaf holds the votes on all queries.
	answersLeaf = "answers"

	agreementShare = .1
	// studentOf determines the student's share: one record in studentOf.
	studentOf = 4
	// MaxQueries bounds the public number of answers, and MaxBuckets the number of teachers.
	MaxQueries, MaxBuckets = 1 << 20, 1 << 14
)

// PATE answers a public number of queries by the votes of teachers that use only private columns, together with a
// student that uses only public ones.
//
// # Differences from the published extension
//
// Section 7 of the paper trains teachers on buckets of the private features, lets them vote on the label of every data
// point, and gives the winning label to the student as an additional feature. This costs more than one noisy vote for
// two reasons:
//
//   - The winning label of a training record is a function of that record's own private columns. If they change, all M
//     teachers may change their votes, so the difference of the votes moves by 2M, and noise that hides this is larger
//     than any vote: the label is randomised response, with a signal-to-noise ratio of mu/2 for every M.
//   - A record to be predicted needs a winning label too, so there is no model to publish: every prediction is a
//     release about the teachers' records.
//
// This version releases no label of a training record. One record in four, chosen independently of the data, belongs to
// the student; the others are assigned to buckets by their coins. Two numbers about the student's records are released:
// the share of votes for class 1 among the records of either class, which is all the student needs to know about the
// teachers. Then the votes on a public number of queries are released, each with noise, and the student adds their
// log-likelihood ratio to its own log odds. After those queries the budget is spent.
//
// # Privacy
//
// Suppose that the private columns of one record change. The student's records, and the bucket of each record, do not
// depend on them.
//
//   - A teacher's record: the teacher of one bucket changes. Its votes on Q queries are replaced by others, so the
//     counts move by at most sqrt(Q) ([mechanism.Votes]). Its two shares of votes are in [0, 1], so their sums over
//     teachers move by at most sqrt2 ([mechanism.Sums], with a bucket as a record under substitution).
//   - A student's record of class c, one of S_c: no teacher changes, so no answer changes. Each teacher's share in class
//     c moves by at most 1/S_c, and the sum over M teachers by M/S_c. It is multiplied by the public factor
//     min(1, S_c/M), so that it moves by at most 1 (and M 2^-28 for rounding), which is below sqrt2.
//
// The queries are other people's records, as in the prediction of any model: their private columns are visible to the
// party that answers and are not protected.
type PATE struct {
	// Columns are the features in order and then the target, of two classes.
	Columns []dataset.Column
	// Buckets is M, the number of teachers: a public number.
	Buckets int
	// Queries is Q, the number of records to be answered: a public number.
	Queries int
}

// Plan returns the leaves of the agreement and of the answers, or [ErrColumns] or [ErrSetting].
func (t PATE) Plan() (budget.Node, error) {
	if err := check(t.Columns); err != nil {
		return budget.Node{}, err
	}
	if t.Buckets < 1 || t.Buckets > MaxBuckets || t.Queries < 1 || t.Queries > MaxQueries {
		return budget.Node{},
			fmt.Errorf("%w: %d buckets and %d queries; choose 1 to %d and 1 to %d", ErrSetting,
				t.Buckets, t.Queries, MaxBuckets, MaxQueries)
	}
	return budget.Sequence(pateNode,
		budget.GaussianLeaf(agreementLeaf, agreementShare, 1),
		budget.GaussianLeaf(answersLeaf, 1-agreementShare, 1)), nil
}

// Run trains on the records of v and returns the classes of the first t.Queries records of queries. Both views have
// the columns t.Columns. The session s is that of the parent of the node that Plan returned.
func (t PATE) Run(
	ctx context.Context,
	s *mechanism.Session,
	v, queries dataset.View,
) ([]int32, error) {
	if err := checkRelation(s); err != nil {
		return nil, err
	}
	if queries.Len() > t.Queries {
		queries = queries.Select(upTo(t.Queries))
	}
	s = s.Sub(pateNode)
	_, public := splitFeatures(t.Columns)
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
		odds[i] += evidence(
			(counts.Value()[i]-half)/half,
			s.Scale(answersLeaf)/half,
			shares,
		)
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
	factor  [2]float64 // by which each share was multiplied
	buckets int
}

// vote trains the teachers and collects their votes.
func (t PATE) vote(
	ctx context.Context,
	s *mechanism.Session,
	v, queries dataset.View,
) (*ballots, error) {
	roles := s.PublicStream("roles")
	coins := s.Coins("buckets")
	// The order of the rows does not depend on any private column.
	var students []int32
	teachers := make([][]int32, t.Buckets)
	labels := Labels(v)
	var size [2]float64
	for i, label := range labels {
		student := roles.Uniform(studentOf) == 0
		switch {
		case int(label) > 1: // in no class, so left out
		case student:
			students = append(students, int32(i))
			size[label]++
		default:
			b := coins.Uniform(v.ID(i), t.Buckets)
			teachers[b] = append(teachers[b], int32(i))
		}
	}
	asked := v.Select(students)
	out := &ballots{
		answers: s.NewVotes(t.Queries, t.Queries),
		shares:  s.NewSums([]float64{0, 0}, []float64{1, 1}),
		buckets: t.Buckets,
	}
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
		if err := t.addTeacherVotes(ctx, out, v.Select(rows), asked, queries, size); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// addTeacherVotes adds the votes of one teacher.
func (t PATE) addTeacherVotes(
	ctx context.Context,
	out *ballots,
	bucket, students, queries dataset.View,
	size [2]float64,
) error {
	private, _ := splitFeatures(t.Columns)
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
	if p[1] < p[0] { // assumes that teachers are no worse than chance
		p[0] = (p[0] + p[1]) / 2
		p[1] = p[0]
	}
	return p, nil
}

// evidence returns the log-likelihood ratio of class 1 for a mean vote x in [-1, 1] with normal noise of standard
// deviation sigma, assuming that all teachers agree and vote for class 1 with probability p[c] in class c.
func evidence(x, sigma float64, p [2]float64) float64 {
	// These are the exponents of log (p e^up + (1-p) e^down), without the squares and without the larger exponent,
	// which both classes share.
	up := x / (sigma * sigma)
	down := -x / (sigma * sigma)
	top := max(up, down)
	log := func(p float64) float64 {
		return math.Log(p*math.Exp(up-top) + (1-p)*math.Exp(down-top))
	}
	return log(p[1]) - log(p[0])
}
