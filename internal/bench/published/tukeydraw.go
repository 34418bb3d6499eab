package published

import "math"

// The draw as published. The weight of depth q = t, t+1, ... is its exact volume times exp(e q), from the
// models with t-1 trimmed from either end; the point is then drawn from the models with t trimmed, as the
// (q-t+1)-th depth of these, which is depth q+1 of all. At the end of the range this overruns: depth m/2+1 is
// empty, and the result is one depth short of the middle.

// depthLogs returns the logarithms of the weights of q = t, t+1, ...
func (s *Depths) depthLogs() []float64 {
	logs := make([]float64, len(s.exact)-s.t+1)
	for i := range logs {
		logs[i] = s.exact[s.t+i-1] + s.epsilon*float64(s.t+i)
	}
	return logs
}

// drawPoint draws a point, given that the check has passed.
func (s *Depths) drawPoint(d dice) []float64 {
	r := s.t + d.drawWeighted(s.depthLogs()) + 1
	first := 0
	if logs := s.firstLogs(r); logs != nil {
		first = d.drawWeighted(logs)
	}
	point := make([]float64, len(s.x))
	for j := range point {
		switch {
		case j < first:
			point[j] = d.uniformBetween(s.coefficientAt(j, r+1), s.coefficientAt(j, s.m-r))
		case j > first:
			point[j] = d.uniformBetween(s.coefficientAt(j, r), s.coefficientAt(j, s.m-r+1))
		default:
			left, right := s.gapLengths(j, r)
			if d.uniform()*(left+right) < left {
				point[j] = s.coefficientAt(j, r) + left*d.uniform()
			} else {
				point[j] = s.coefficientAt(j, s.m-r) + right*d.uniform()
			}
		}
	}
	return point
}

// gapLengths returns the lengths of the two parts of depth r in coefficient j.
func (s *Depths) gapLengths(j, r int) (left, right float64) {
	return s.coefficientAt(j, r+1) - s.coefficientAt(j, r),
		s.coefficientAt(j, s.m-r+1) - s.coefficientAt(j, s.m-r)
}

// firstLogs returns the logarithms of the weights of the first coefficient that
// has depth r exactly, those before it being deeper. As published those behind
// it count with the lengths of depth r+1 as well, where r is meant. It returns
// nil where depth r+1 is past the middle or empty: the script's numbers are then
// not numbers or all 0, and its choice falls on the first coefficient.
func (s *Depths) firstLogs(r int) []float64 {
	if 2*(r+1) > s.m+1 {
		return nil
	}
	logs := make([]float64, len(s.x))
	for j := range logs {
		logs[j] = math.Log(s.regionLength(j, r) - s.regionLength(j, r+1))
		for other := range s.x {
			if other != j {
				logs[j] += math.Log(s.regionLength(other, r+1))
			}
		}
	}
	if math.IsInf(logSum(logs), -1) {
		return nil
	}
	return logs
}

// depthOf returns the number of models on the side of y with fewer models in coefficient j.
func (s *Depths) depthOf(j int, y float64) int {
	below := 0
	above := 0
	for _, v := range s.x[j] {
		if v <= y {
			below++
		}
		if v >= y {
			above++
		}
	}
	return min(below, above)
}

// LogDensity returns the logarithm of the density of the published draw at a point, given that the check has
// passed; -Inf where the density is 0. m must be even (an odd m puts weight on single points) and the point
// must differ from the models.
func (s *Depths) LogDensity(point []float64) float64 {
	weights := s.depthLogs()
	total := logSum(weights)
	logs := make([]float64, 0, len(weights))
	for i, w := range weights {
		logs = append(logs, w-total+s.logAt(s.t+i+1, point))
	}
	return logSum(logs)
}

// logAt is the logarithm of the density at a point of a draw from depth r.
func (s *Depths) logAt(r int, point []float64) float64 {
	impossible := math.Inf(-1)
	first := 0
	log := 0.0
	want := min(r, s.m-r) // the depth between models r and r+1
	if logs := s.firstLogs(r); logs != nil {
		for first < len(point) && s.depthOf(first, point[first]) != want {
			first++
		}
		if first == len(point) {
			return impossible
		}
		log = logs[first] - logSum(logs)
	}
	for j, y := range point {
		switch depth := s.depthOf(j, y); {
		case j == first && depth == want:
			// The middle gap is both its parts.
			left, right := s.gapLengths(j, r)
			if log -= math.Log(left + right); 2*r == s.m {
				log += math.Ln2
			}
		case j < first && depth > r:
			log -= math.Log(s.regionLength(j, r+1))
		case j > first && depth >= min(r, s.m/2):
			log -= math.Log(math.Abs(s.regionLength(j, r)))
		default:
			return impossible
		}
	}
	return log
}

// LogIntended returns the logarithm of the density that the paper describes: in
// proportion to exp(e T) over the points of depth T >= t; -Inf elsewhere. The
// point must be off the models.
func (s *Depths) LogIntended(point []float64) float64 {
	least := s.m
	for j, y := range point {
		least = min(least, s.depthOf(j, y))
	}
	if least < s.t {
		return math.Inf(-1)
	}
	return s.epsilon*float64(least) - logSum(s.depthLogs())
}
