package report

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/publish/chart"
	"github.com/dptrain/dptrain/internal/publish/document"
	"github.com/dptrain/dptrain/internal/recipe"
)

// aboutNames are the names of the texts of the recipe's section about, by key.
var aboutNames = map[string]string{
	"data_set":  "Data set",
	"period":    "Period",
	"purpose":   "Purpose",
	"publisher": "Publisher",
	"contact":   "Contact",
	"date":      "Date",
}

// aboutFields lists the texts of the recipe's section about; nil for a malformed recipe.
func (s Source) aboutFields() []recipe.NamedText {
	data := s.Recipe
	if len(data) == 0 {
		return nil
	}
	r, problems := parsePublished(data)
	if len(problems) > 0 {
		return nil
	}
	return r.About.Fields()
}

// aboutText returns one of the texts of the section about; "" if it is absent.
func (s Source) aboutText(key string) string {
	for _, f := range s.aboutFields() {
		if f.Key == key {
			return f.Text
		}
	}
	return ""
}

// aboutFacts lists what the recipe states about the release.
func (s Source) aboutFacts() []document.Fact {
	var out []document.Fact
	for _, f := range s.aboutFields() {
		if name := aboutNames[f.Key]; name != "" && f.Text != "" {
			out = append(out, document.Fact{
				Name:  name,
				Value: printableName(f.Text),
			})
		}
	}
	return out
}

// metricPicture draws the interval of the metric; "" without a metric.
func metricPicture(r *Report) (chart.SVG, string) {
	m := r.Metrics
	switch {
	case r.Model.Kind == "":
	case m.Accuracy != nil:
		p := chart.Interval{
			Title: "Accuracy and its interval",
			Value: m.Accuracy.Value,
			Low:   m.Accuracy.Lower,
			High:  m.Accuracy.Upper,
			To:    1,
		}
		caption := fmt.Sprintf("Accuracy with its %g%% interval.", 100*m.Accuracy.Level)
		if m.Accuracy.unknown() {
			p.Value = math.NaN() // the point estimate is not informative
			caption = fmt.Sprintf("The accuracy is somewhere in this interval (%g%% confidence).", 100*m.Accuracy.Level)
		}
		if x := m.LargestClass; x != nil {
			p.Reference, p.ReferenceName = x.Value, "always "+printableName(x.Class)
			caption += " The dashed line is the accuracy of always answering the most frequent class."
		}
		return p.SVG(), caption
	case m.R2 != nil:
		p := chart.Interval{
			Title:         "R² and its interval",
			Value:         m.R2.Value,
			Low:           m.R2.Lower,
			High:          m.R2.Upper,
			From:          min(0, max(m.R2.Lower, -1)),
			To:            1,
			ReferenceName: "a constant",
		}
		if r.Format != format1 && m.R2.unknown() {
			p.From, p.Value = -1, math.NaN() // the point estimate is not informative
			return p.SVG(),
				fmt.Sprintf(
					"R² is somewhere in this interval (%g%% confidence). The dashed line is a constant prediction.",
					100*m.R2.Level)
		}
		return p.SVG(),
			fmt.Sprintf(
				"R² with its %g%% interval. The dashed line is a constant prediction; 1 is perfect.",
				100*m.R2.Level)
	}
	return "", ""
}
