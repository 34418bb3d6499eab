package boosting

import (
	"context"
	"math"
	"runtime"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/numeric/dense"
	"github.com/dptrain/dptrain/internal/numeric/gram"
	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
	"github.com/dptrain/dptrain/internal/sys/parallel"
)

const (
	// Landmarks are the first synthetic records: landmarkRate per unit of the number of records times mu,
	// within bounds. About six times the number of directions that exceed the noise suffices.
	leastLandmarks = 240
	mostLandmarks  = 600
	landmarkRate   = .3
	// directionFloor times the noise of a stage is the smallest eigenvalue of its features.
	directionFloor = .7
	// whitening is the exponent of an eigenvalue by which its direction is divided.
	whitening = .4
	// mostFeatures limits the features of a map; mostFeaturesLarge does so with more than largeRecords records.
	mostFeatures      = 400
	mostFeaturesLarge = 256
	largeRecords      = 100_000
	// A map has one and a half times as many features as directions were counted, plus moreFeatures.
	moreFeatures = 20
	// enoughDirections is the number of directions that gives a map of a large table the maximum number of
	// features.
	enoughDirections = (mostFeaturesLarge - moreFeatures) * 2 / 3
	// kernelRidge, as a share of the largest eigenvalue, is added to the kernel matrix of the landmarks.
	kernelRidge = 1e-6
)

// kernelStage is a feature map with the coefficients of its features while they are learned.
//
// With e the eigenvalues of n E[phi phi'] in the basis R, estimated from synthetic records, a release at
// coefficients theta gives an observation of e beta plus noise, as e theta + R' sums, with beta the best
// coefficients. The observations are averaged with weights 1/sigma^2. As the synthetic records may misrepresent
// the size of features, e is scaled by rho, the observed decrease of the sums from release to release relative
// to the expected one. The prior of beta_i is N(0, t/e_i), with t of highest marginal likelihood for each group
// of neighbouring directions; beta is estimated by the posterior mean.
type kernelStage struct {
	plan     stagePlan
	features *kernelmap.Map
	coords   []coordinate
	metric   *mat.Dense // coordinates x dimensions: the distance is that of points x metric
	expected int        // approximate number of features that exceed the noise

	basis *mat.Dense // features x directions
	eigen []float64
	theta []float64 // coefficients of the directions
	seen  []observation
}

// An observation is a release: the sums in the basis at coefficients theta, with weight 1/sigma^2. bias is
// sigma^2 times the expected contribution of noise to the next decrease of the sums.
type observation struct {
	theta  []float64
	sums   []float64
	weight float64
	bias   float64
}

// coefficients converts coefficients of directions to those of the features.
func (s *kernelStage) coefficients(theta []float64) []float64 {
	out := mat.NewVecDense(s.features.Features(), nil)
	out.MulVec(s.basis, mat.NewVecDense(len(theta), theta))
	return out.RawVector().Data
}

const (
	mostScale = 3 // maximum of rho
	// Size of the first group of directions with a common prior, and the growth factor of later groups.
	firstGroup  = 8
	groupGrowth = 1.5
)

// learn updates the stage with a release whose noise has standard deviation sigma, and returns the change of
// the coefficients of the features.
func (s *kernelStage) learn(sums []float64, sigma float64) []float64 {
	turned := mat.NewVecDense(len(s.eigen), nil)
	turned.MulVec(s.basis.T(), mat.NewVecDense(len(sums), sums))
	s.seen = append(s.seen,
		observation{
			theta:  s.theta,
			sums:   turned.RawVector().Data,
			weight: 1 / (sigma * sigma),
		})
	rho := s.scale()
	weight := 0.
	mean := make([]float64, len(s.eigen))
	e := make([]float64, len(s.eigen))
	for i, v := range s.eigen {
		e[i] = v * rho
	}
	for _, o := range s.seen {
		weight += o.weight
		for i := range mean {
			mean[i] += o.weight * (e[i]*o.theta[i] + o.sums[i])
		}
	}
	next := make([]float64, len(e))
	step := make([]float64, len(e))
	shrinkage := 0.
	size := firstGroup
	for i := 0; i < len(e); {
		j := min(i+size, len(e))
		if len(e)-j < size/2 {
			j = len(e)
		}
		signal := make([]float64, j-i)
		energy := make([]float64, j-i)
		sum := 0.
		for d := range signal {
			mean[i+d] /= weight
			signal[d] = e[i+d] * weight
			energy[d] = mean[i+d] * mean[i+d] * weight
			sum += signal[d] / float64(len(signal))
		}
		t, _ := mostLikelyVariance(geometricGrid(.03/sum, 1e4/sum, 25), signal, energy)
		for d, x := range signal {
			shrink := t * weight / (1 + t*x)
			shrinkage += shrink
			next[i+d] = shrink * mean[i+d]
		}
		i = j
		size = int(float64(size) * groupGrowth)
	}
	for i := range step {
		step[i] = next[i] - s.theta[i]
	}
	s.seen[len(s.seen)-1].bias = shrinkage / weight
	s.theta = next
	return s.coefficients(step)
}

// scale returns rho.
func (s *kernelStage) scale() float64 {
	fall := 0.
	want := 0.
	for t := 1; t < len(s.seen); t++ {
		a, b := s.seen[t-1], s.seen[t]
		weight := 1 / (1/a.weight + 1/b.weight)
		fall -= weight * a.bias
		for i, e := range s.eigen {
			d := b.theta[i] - a.theta[i]
			fall += weight * (a.sums[i] - b.sums[i]) * d
			want += weight * e * d * d
		}
	}
	if !(want > 0) {
		return 1
	}
	most := float64(mostScale)
	if s.plan.alone {
		most = pairScale
	}
	return min(max(fall/want, 1), most)
}

// begin creates the next stage.
func (k *kernelBooster) begin(plan stagePlan) error {
	if k.public == nil {
		k.synthesize()
		if err := k.plantLandmarks(); err != nil {
			return err
		}
	}
	s := &kernelStage{plan: plan, coords: k.coordinates()}
	noise := 1 / (k.mu * math.Sqrt(k.stageShare(plan)))
	points, err := k.gradientPoints()
	if err != nil {
		return err
	}
	var shape *mat.Dense
	if plan.alone {
		s.coords, shape = k.pairCoordinates(s.coords, plan.pair)
	} else {
		shape = metric(k.slopes(s, points), plan.power, plan.full)
	}
	s.features = k.bareMap(s.coords)
	if err := k.chooseLength(s, shape, noise); err != nil {
		return err
	}
	k.span(s, noise)
	k.stages = append(k.stages, s)
	k.state.Moves = append(k.state.Moves, move{Map: s.features})
	return k.ctx.Err()
}

// stageShare returns the share of the total budget that a stage gets.
func (k *kernelBooster) stageShare(plan stagePlan) float64 {
	return (linearShare + shapesShareOf(k.classes)) * k.share * plan.share
}

// bareMap returns a map with coordinates only.
func (k *kernelBooster) bareMap(coords []coordinate) *kernelmap.Map {
	m := &kernelmap.Map{}
	for _, c := range coords {
		x := kernelmap.Coordinate{
			Input:  c.input,
			Values: make([]int16, len(c.values)),
		}
		for b, v := range c.values {
			x.Values[b] = kernelmap.Number(v, kernelmap.CoordinateBits)
		}
		m.Coordinates = append(m.Coordinates, x)
	}
	return m
}

// withMetric returns a map with metric and landmarks. The map's kernel is a power of 2.
func withMetric(
	m *kernelmap.Map,
	metric *mat.Dense,
	landmarks [][]uint8,
) *kernelmap.Map {
	rows, cols := metric.Dims()
	out := &kernelmap.Map{
		Coordinates: m.Coordinates,
		Metric:      make([][]int16, rows),
		Landmarks:   landmarks,
	}
	for i := range rows {
		out.Metric[i] = make([]int16, cols)
		for j := range cols {
			out.Metric[i][j] = kernelmap.Number(metric.At(i, j)*math.Sqrt(math.Log2E/2),
				kernelmap.MetricBits)
		}
	}
	return out
}

// lengths returns the candidate length scales of the kernel, in units of the metric.
func lengths() []float64 {
	return []float64{.1, .13, .17, .22, .28, .36, .46, .6, .8}
}

// lengthRecords is the number of records per landmark at which length scales are compared, with half of the
// landmarks.
const lengthRecords = 4

// chooseLength sets the map's metric and landmarks: the length scale for which the most directions exceed the
// noise, the largest of several. Directions beyond the number that a large table's map can have do not count.
func (k *kernelBooster) chooseLength(
	s *kernelStage,
	shape *mat.Dense,
	noise float64,
) error {
	all := lengths()
	if s.plan.alone {
		all = []float64{1}
	}
	few := k.marks / 2
	marks := k.public.landmarks(few)
	counts := make([]int, len(all))
	err := parallel.ForEach(k.ctx, len(all), runtime.GOMAXPROCS(0), func(i int) {
		var scaled mat.Dense
		scaled.Scale(1/all[i], shape)
		m := withMetric(s.features, &scaled, marks)
		counts[i] = k.visible(m.Kernel(k.public.sliced(0, few+lengthRecords*few)),
			directionFloor*noise)
	})
	if err != nil {
		return err
	}
	at := 0.
	for i, n := range counts {
		if k.total > largeRecords {
			n = min(n, enoughDirections)
		}
		if n >= s.expected {
			s.expected = n
			at = all[i]
		}
	}
	s.metric = &mat.Dense{}
	s.metric.Scale(1/at, shape)
	s.features = withMetric(s.features, s.metric, k.public.landmarks(k.marks))
	return nil
}

// secondMoment returns scale times the sums of the products of numbers on the grid 2^-14.
func secondMoment(columns [][]int16, scale float64) dense.Matrix {
	p := len(columns)
	n := len(columns[0])
	parts := make([][]int64, (n+secondRows-1)/secondRows)
	_ = parallel.ForEach(context.Background(), len(parts), parallel.Workers(n*p*p/2), func(i int) { // the background context never ends
		some := make([][]int16, p)
		for j, c := range columns {
			some[j] = c[i*secondRows : min((i+1)*secondRows, n)]
		}
		parts[i] = make([]int64, gram.Len(p))
		gram.Accumulate(parts[i], some)
	})
	out := dense.New(p, p)
	for i, at := 0, 0; i < p; i++ {
		for j := i; j < p; j, at = j+1, at+1 {
			sum := int64(0)
			for _, part := range parts {
				sum += part[at]
			}
			out.Set(i, j, scale*(float64(sum)/(gram.MaxAbs*gram.MaxAbs)))
		}
	}
	out.Symmetric()
	return out
}

// secondRows is the number of records that secondMoment processes at a time.
const secondRows = 1536

// visible returns the number of eigenvalues of n E[phi phi'] that exceed a cut, with phi the features of the
// kernel whose values at all landmarks are given, one list each, the landmarks' own first: by Sylvester's law
// of inertia this is the number of positive pivots of n E[k k'] - cut K.
func (k *kernelBooster) visible(kernel [][]int16, cut float64) int {
	marks := len(kernel)
	own := make([][]int16, marks)
	others := make([][]int16, marks)
	for i := range kernel {
		own[i], others[i] = kernel[i][:marks], kernel[i][marks:]
	}
	a := secondMoment(others, k.total/float64(len(others[0])))
	for i := range marks {
		for j := i; j < marks; j++ {
			a.Set(i, j, a.Entry(i, j)-float64(cut*float64(own[i][j])/gram.MaxAbs))
		}
		a.Set(i, i, a.Entry(i, i)-float64(cut*kernelRidge*float64(marks)))
	}
	return dense.PositivePivots(a)
}

// span sets the features of the stage. With K the kernel matrix of the landmarks and U'U = K, they are those of
// U'^-1 k(u), with k(u) the kernel between u and the landmarks, in the directions of largest variance, divided
// by a power of the variance, which makes them of similar size, and stretched to length 1 by the map. It then
// sets the directions in which they are learned.
func (k *kernelBooster) span(s *kernelStage, noise float64) {
	kernel := s.features.Kernel(k.public.sliced(0, syntheticCount))
	own := dense.New(k.marks, k.marks)
	ridge := kernelRidge * float64(k.marks)
	for i := range k.marks {
		for j := i; j < k.marks; j++ {
			own.Set(i, j, float64(kernel[i][j])/gram.MaxAbs)
		}
		own.Set(i, i, own.Entry(i, i)+ridge)
	}
	upper := factored(own, ridge)
	inner := secondMoment(kernel, k.total/syntheticCount)
	dense.SolveTransposed(upper, inner)
	inner = inner.T().Clone()
	dense.SolveTransposed(upper, inner)
	inner.Symmetric()
	most := mostFeatures
	if k.total > largeRecords {
		most = mostFeaturesLarge
	}
	values, vectors := leading(inner, min(most, s.expected+s.expected/2+moreFeatures))
	features := 0
	floor := directionFloor * noise
	for features < len(values) && (features == 0 || values[features] > floor) {
		features++
	}
	size := 0.
	for i, e := range values[:features] {
		values[i] = max(e, floor*1e-3)
		size += math.Pow(values[i], 1-2*whitening) / k.total
	}
	weights := vectors.Slice(0, features, 0, k.marks).T().Clone()
	reach := make([]float64, features)
	for i := range features {
		reach[i] = math.Pow(values[i], -whitening) / math.Sqrt(size)
		for l := range k.marks {
			weights.Set(l, i, weights.Entry(l, i)*reach[i])
		}
	}
	dense.Solve(upper, weights)
	weights = weights.T().Clone()
	rows := make([][]float64, features)
	for i := range rows {
		rows[i] = weights.Row(i)
	}
	s.features = s.features.Weighted(rows, reach)
	k.directions(s, floor)
}

// directions sets the basis of the features and the eigenvalues.
func (k *kernelBooster) directions(s *kernelStage, floor float64) {
	features := s.features.Features()
	values, vectors := spectrum(secondMoment(k.public.features(s.features), k.total/syntheticCount))
	count := 1
	for count < features && values[count] > floor {
		count++
	}
	s.eigen, s.basis = values[:count], vectors.Slice(0, count, 0, features).T().Clone().Dense()
	s.eigen[0] = max(s.eigen[0], floor*1e-3)
	s.theta = make([]float64, count)
}
