package report

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/publish/chart"
	"github.com/dptrain/dptrain/internal/publish/document"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// Groups are the metrics of the held-out records by the values of a column. Every interval of a group has its level by
// itself; the differences hold jointly.
type Groups struct {
	Column string  `json:"column"`
	Metric string  `json:"metric"` // by which groups are compared: "accuracy" or "r2"
	Groups []Group `json:"groups"` // that of all other records last
	// Reference is the position of the group that the others are compared with: that with most records by the noisy
	// numbers; -1 if all have too few.
	Reference int `json:"reference"`
	// DifferenceLevel is the confidence level of each difference by itself, and JointLevel that of all together.
	DifferenceLevel float64 `json:"difference_level"`
	JointLevel      float64 `json:"joint_level"`
	// ErrorLimit is the size, in units of the target, above which an error counts as that size; of a regression.
	ErrorLimit float64        `json:"error_limit" format:"4+?"`
	Released   GroupsReleased `json:"released"`
}

// A Group is the quality of the model on the held-out records of one group.
type Group struct {
	Name    string `json:"name"`  // a value of the column; empty if Other
	Other   bool   `json:"other"` // the group of all records without one of the names
	Records Count  `json:"records"`
	// TooFew reports that the noise hides how many records the group has. Then it has no metrics.
	TooFew     bool             `json:"too_few"`
	Accuracy   *Share           `json:"accuracy" format:"4+?"`
	Recalls    []Recall         `json:"recalls" format:"4+?"` // one a class
	R2         *Quality         `json:"r2" format:"4+?"`      // around the mean of the group, in [-1, 1]
	MAE        *Quality         `json:"mae" format:"4+?"`
	RMSE       *Quality         `json:"rmse" format:"4+?"`
	Bias       *Quality         `json:"bias" format:"4+?"`       // mean of the target minus the prediction
	Difference *GroupDifference `json:"difference" format:"4+?"` // from the reference group
}

// A GroupDifference is the metric of a group minus that of the reference group.
type GroupDifference struct {
	Value float64 `json:"value"`
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
	Seen  bool    `json:"seen"` // the interval does not contain 0
}

// GroupsReleased are the released numbers from which everything else in [Groups] is computed, by group.
type GroupsReleased struct {
	// Of a classification: noisy, rounded numbers of records by class, of each class first those that are classified
	// wrongly and then those classified correctly, and last those with another label. Right has, of more than two
	// classes, those of all classes together. Scale and RightScale are the standard deviations of the noise in each.
	Counts     [][]int `json:"counts" format:"4+?"`
	Right      [][]int `json:"right" format:"4+?"`
	RightScale float64 `json:"right_scale" format:"4+?"`
	// Of a regression: noisy sums. With t the target and r the error of a record, in units of TargetLimit and
	// ErrorLimit, which are in units of Unit: the number of records, the sums of t, t², r², r and |r|, and the number
	// of records without a target. Scale is the noise of a sum with weight 1.
	Sums           [][]float64 `json:"sums" format:"4+?"`
	Unit           float64     `json:"unit" format:"4+?"`
	TargetLimit    float64     `json:"target_limit" format:"4+?"`
	ErrorLimit     float64     `json:"error_limit" format:"4+?"`
	TargetKurtosis float64     `json:"target_kurtosis" format:"4+?"` // of all records, from which sampling errors are computed
	ErrorKurtosis  float64     `json:"error_kurtosis" format:"4+?"`
	Scale          float64     `json:"scale"`
}

// The values of [Groups.Metric].
const (
	accuracyMetric = "accuracy"
	r2Metric       = "r2"
)

// groupsOf converts the metrics by group; nil for none. classes are those of a classification.
func groupsOf(b *evaluate.ByGroup, classes []string) *Groups {
	if b == nil {
		return nil
	}
	out := &Groups{
		Column:          b.Column,
		Metric:          accuracyMetric,
		Reference:       b.Reference,
		DifferenceLevel: b.DifferenceLevel,
		JointLevel:      evaluate.Level,
		ErrorLimit:      b.ErrorLimit,
	}
	if x := b.Tables; x != nil {
		out.Released = GroupsReleased{
			Counts:     x.Counts,
			RightScale: x.RightScale,
			Scale:      x.Scale,
		}
		for _, pair := range x.Right {
			out.Released.Right = append(out.Released.Right, pair[:])
		}
	}
	if x := b.Sums; x != nil {
		out.Metric = r2Metric
		out.Released = GroupsReleased{
			Unit:           x.Unit,
			TargetLimit:    x.TargetLimit,
			ErrorLimit:     x.ErrorLimit,
			TargetKurtosis: x.TargetKurtosis,
			ErrorKurtosis:  x.ErrorKurtosis,
			Scale:          x.Scale,
		}
		for _, s := range x.Sums {
			out.Released.Sums = append(out.Released.Sums,
				[]float64{s.Count, s.Sum, s.Target, s.Residual, s.Signed, s.Absolute, s.Missing})
		}
	}
	for _, g := range b.Groups {
		out.Groups = append(out.Groups, groupOf(g, classes))
	}
	return out
}

func groupOf(g evaluate.Group, classes []string) Group {
	out := Group{
		Name:   g.Name,
		Other:  g.Other,
		TooFew: g.TooFew,
		Records: Count{
			Value:   g.Records.Value,
			Scale:   g.Records.Sigma,
			Private: true,
			Part:    pipeline.HoldoutName,
		},
	}
	if g.Accuracy != nil {
		out.Accuracy = share(*g.Accuracy)
	}
	for k, s := range g.Recalls {
		out.Recalls = append(out.Recalls,
			Recall{
				Class: classes[k],
				Value: s.Value,
				Lower: s.Lower,
				Upper: s.Upper,
				Level: s.Level,
			})
	}
	quality := func(q *evaluate.Quality) *Quality {
		if q == nil {
			return nil
		}
		return &Quality{
			Value:   q.Value,
			Lower:   q.Lower,
			Upper:   q.Upper,
			Level:   q.Level,
			Private: true,
			Part:    pipeline.HoldoutName,
		}
	}
	out.R2, out.MAE, out.RMSE, out.Bias = quality(g.R2), quality(g.MAE), quality(g.RMSE),
		quality(g.Bias)
	if d := g.Difference; d != nil {
		out.Difference = &GroupDifference{d.Value, d.Lower, d.Upper, d.Seen()}
	}
	return out
}

// recomputed returns the metrics computed from the released numbers. classes are those of the report. ok is false if
// the numbers are not those of as many groups and classes.
func (g *Groups) recomputed(classes []string) (again *Groups, ok bool) {
	var names []string
	for _, x := range g.Groups[:max(len(g.Groups)-1, 0)] {
		names = append(names, x.Name)
	}
	x := g.Released
	if len(g.Groups) == 0 || !(x.Scale > 0) {
		return nil, false
	}
	switch g.Metric {
	case accuracyMetric:
		table := &evaluate.ReleasedTable{
			Classes:    len(classes),
			Counts:     x.Counts,
			Scale:      x.Scale,
			RightScale: x.RightScale,
		}
		for _, pair := range x.Right {
			if len(pair) != 2 {
				return nil, false
			}
			table.Right = append(table.Right, [2]int(pair))
		}
		for _, row := range x.Counts {
			if len(row) != 2*len(classes)+1 {
				return nil, false
			}
		}
		if len(classes) < 2 || len(x.Counts) != len(g.Groups) ||
			len(classes) > 2 && (len(x.Right) != len(g.Groups) || !(x.RightScale > 0)) {
			return nil, false
		}
		return groupsOf(evaluate.ClassGroups(g.Column, names, table), classes), true
	case r2Metric:
		sums := &evaluate.ReleasedSums{
			Unit:           x.Unit,
			TargetLimit:    x.TargetLimit,
			ErrorLimit:     x.ErrorLimit,
			ErrorKurtosis:  x.ErrorKurtosis,
			TargetKurtosis: x.TargetKurtosis,
			Scale:          x.Scale,
		}
		for _, row := range x.Sums {
			if len(row) != 7 {
				return nil, false
			}
			sums.Sums = append(sums.Sums, mechanism.GroupSquares{
				Count: row[0], Sum: row[1], Target: row[2], Residual: row[3], Signed: row[4],
				Absolute: row[5], Missing: row[6],
			})
		}
		if len(x.Sums) != len(g.Groups) {
			return nil, false
		}
		return groupsOf(evaluate.RegressionGroups(g.Column, names, sums), nil), true
	}
	return nil, false
}

// scaleTolerance is the largest relative difference between the noise of numbers of groups and that of their step,
// whose noise is rounded up to its grid.
const scaleTolerance = 1e-4

// groups recomputes the metrics by group from the released numbers, and compares their noise with that of the step.
func (v *verifier) groups() {
	const sound = "the metrics by group follow from the released numbers, and their noise matches their step"
	g := v.report.Metrics.Groups
	if g == nil {
		if v.report.groupColumn() != nil && v.report.Model.Kind != "" {
			v.add(
				"groups",
				sound,
				[]string{"the recipe requests metrics by group, but there are none"},
			)
		}
		return
	}
	var problems []string
	var classes []string
	if c := v.report.Metrics.Confusion; c != nil {
		classes = c.Classes
	}
	again, ok := g.recomputed(classes)
	switch {
	case !ok:
		problems = append(problems, "the released numbers do not match these groups")
	case !equalValues(reflect.ValueOf(*g), reflect.ValueOf(*again)):
		problems = append(problems, "the metrics do not follow from the released numbers")
	}
	leaf := map[string]string{
		accuracyMetric: "/holdout/accuracy/confusion",
		r2Metric:       "/holdout/r2/sums",
	}[g.Metric]
	found := false
	for _, e := range v.report.Events {
		if leaf != "" && strings.HasSuffix(e.ID, leaf) && e.Released > 0 {
			want := e.Scale / math.Sqrt(.5)
			if g.Metric == accuracyMetric && len(g.Released.Right) > 0 {
				want = e.Scale / math.Sqrt(.25)
			}
			found = found || math.Abs(g.Released.Scale-want) <= scaleTolerance*want
		}
	}
	if !found {
		problems = append(problems,
			fmt.Sprintf(
				"the noise of the released numbers is %s, which does not match the step that released them",
				number(g.Released.Scale)))
	}
	if v.report.groupColumn() != g.Column {
		problems = append(problems,
			"unprotected does not contain the column of groups")
	}
	v.add("groups", sound, problems)
}

// groupColumn returns the column of groups as it is among the facts that are not protected; nil if it is not.
func (r *Report) groupColumn() any {
	for _, f := range r.Unprotected {
		if f.Name == pipeline.GroupsFact {
			return f.Value
		}
	}
	return nil
}

// equalValues reports whether two values are equal, numbers up to the rounding of processors.
func equalValues(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equalValues(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equalValues(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if !equalValues(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Float64:
		return nearlyEqual(a.Float(), b.Float()) || math.Abs(a.Float()-b.Float()) < computedTolerance
	}
	return a.Equal(b)
}

// metricName is the name of the metric that groups are compared by.
func (g *Groups) metricName() string {
	if g.Metric == r2Metric {
		return "R²"
	}
	return "accuracy"
}

// label names a group.
func (x Group) label() string {
	if x.Other {
		return "other values"
	}
	return printableName(x.Name)
}

// main returns the metric that groups are compared by; nil if it is not measured.
func (x Group) main() *Quality {
	switch {
	case x.R2 != nil && evaluate.R2Measured(x.R2.Lower, x.R2.Upper):
		return x.R2
	case x.Accuracy != nil && !x.Accuracy.unknown():
		q := Quality(*x.Accuracy)
		return &q
	}
	return nil
}

// listed returns the groups that are shown: that of all other records only if it has some.
func (g *Groups) listed() []Group {
	var out []Group
	for _, x := range g.Groups {
		if !x.Other || !x.TooFew {
			out = append(out, x)
		}
	}
	return out
}

// lines prints one line for each group.
func (g *Groups) lines() []string {
	var out []string
	for _, x := range g.listed() {
		s := x.label() + ": "
		switch m := x.main(); {
		case x.TooFew:
			s += "too few records for the noise"
		case m == nil:
			s += g.metricName() + " " + hidden
		default:
			s += fmt.Sprintf(
				"%s %.3f (%.3f to %.3f)",
				g.metricName(),
				m.Value,
				m.Lower,
				m.Upper,
			)
		}
		if x.MAE != nil {
			s += fmt.Sprintf(", MAE %s (%s to %s)", short(x.MAE.Value), short(x.MAE.Lower),
				short(x.MAE.Upper))
		}
		if !x.TooFew {
			s += fmt.Sprintf(", about %s records", roundedCount(x.Records.Value, x.Records.Scale))
		}
		out = append(out, s)
	}
	return out
}

// differences describes the differences from the reference group in one sentence each.
func (g *Groups) differences() []string {
	if g.Reference < 0 || g.Reference >= len(g.Groups) {
		return nil
	}
	name := g.Groups[g.Reference].label()
	var out []string
	for _, x := range g.Groups {
		switch d := x.Difference; {
		case d == nil, !d.Seen && x.main() == nil:
		case d.Seen:
			out = append(out,
				fmt.Sprintf("The %s of %s differs from that of %s by %s (%s to %s).",
					g.metricName(), x.label(), name, signed(d.Value), signed(d.Lower),
					signed(d.Upper)))
		default:
			out = append(out,
				fmt.Sprintf(
					"The %s of %s and of %s cannot be distinguished: a difference of up to %.3f cannot be excluded.",
					g.metricName(), x.label(), name, max(-d.Lower, d.Upper)))
		}
	}
	return out
}

// signed prints a difference with its sign.
func signed(x float64) string {
	return strings.Replace(fmt.Sprintf("%+.3f", x), "-", "−", 1)
}

// jointText explains what the intervals of several groups mean together.
func (g *Groups) jointText() string {
	n := 0
	for _, x := range g.Groups {
		if x.main() != nil {
			n++
		}
	}
	s := fmt.Sprintf("Each interval holds for its group alone, with %g%% confidence.",
		100*g.JointLevel)
	if n > 1 {
		s += fmt.Sprintf(" In about %.0f%% of reports with %d groups at least one of them misses.",
			100*(1-math.Pow(g.JointLevel, float64(n))), n)
	}
	return s
}

// summary prints the lowest and the highest metric; empty for fewer than two.
func (g *Groups) summary() string {
	var low, high *Group
	seen := false
	list := g.listed()
	for i := range list {
		x := &list[i]
		m := x.main()
		if m == nil {
			continue
		}
		if low == nil || m.Value < low.main().Value {
			low = x
		}
		if high == nil || m.Value > high.main().Value {
			high = x
		}
		seen = seen || x.Difference != nil && x.Difference.Seen
	}
	if low == nil || low == high {
		return ""
	}
	verdict := "no difference detected"
	if seen {
		verdict = "beyond the noise"
	}
	return fmt.Sprintf("%s %.3f to %s %.3f, %s", truncateText(low.label(), barNameWidth), low.main().Value,
		truncateText(high.label(), barNameWidth), high.main().Value, verdict)
}

// groupBlocks draw the metrics by group.
func groupBlocks(r *Report) []document.Block {
	g := r.Metrics.Groups
	if g == nil || r.Model.Kind == "" {
		return nil
	}
	head := []string{printableName(g.Column), "records", g.metricName(), "lower", "upper"}
	regression := g.Metric == r2Metric
	if regression {
		head = append(head, "MAE", "lower", "upper", "RMSE", "bias", "lower", "upper")
	} else {
		for _, c := range r.Metrics.Recalls {
			head = append(head, "recall of "+printableName(c.Class))
		}
	}
	table := &document.Table{Head: head}
	var bars []chart.Bar
	for _, x := range g.listed() {
		row := make([]string, len(head))
		row[0] = x.label()
		row[1] = "too few"
		if !x.TooFew {
			row[1] = roundedCount(x.Records.Value, x.Records.Scale)
		}
		if m := x.main(); m != nil {
			copy(row[2:],
				[]string{fmt.Sprintf("%.3f", m.Value), fmt.Sprintf("%.3f", m.Lower),
					fmt.Sprintf("%.3f", m.Upper)})
			bars = append(bars, chart.Bar{
				Label: x.label(), Value: m.Value, Low: m.Lower, High: m.Upper,
				Text: fmt.Sprintf("%.3f", m.Value),
			})
		} else if !x.TooFew {
			row[2] = hidden
		}
		if x.MAE != nil && x.RMSE != nil && x.Bias != nil {
			copy(row[5:], []string{
				short(x.MAE.Value), short(x.MAE.Lower), short(x.MAE.Upper), short(x.RMSE.Value),
				short(x.Bias.Value), short(x.Bias.Lower), short(x.Bias.Upper),
			})
		}
		for k, c := range x.Recalls[:min(len(x.Recalls), len(head)-5)] {
			row[5+k] = recall(c)
		}
		table.Rows = append(table.Rows, row)
	}
	intro := fmt.Sprintf("The held-out records by %s. %s", printableName(g.Column), g.jointText())
	if regression {
		intro += fmt.Sprintf(
			" R² of a group is around the mean of the group, and an error above %s counts as that.",
			short(g.ErrorLimit))
	}
	out := []document.Block{prose(intro)}
	name := strings.ToUpper(g.metricName()[:1]) + g.metricName()[1:]
	out = append(out, figure(chart.Bars(name+" by "+printableName(g.Column), bars),
		fmt.Sprintf(
			"%s by %s with %g%% intervals, which cover the noise and the choice of test records.",
			name, printableName(g.Column), 100*g.JointLevel), table))
	if list := g.differences(); len(list) > 0 {
		out = append(out,
			prose(fmt.Sprintf("%s All differences together hold with %g%% confidence.",
				strings.Join(list, " "), 100*g.JointLevel)))
	}
	return out
}
