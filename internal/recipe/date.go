package recipe

import (
	"slices"
	"time"

	"github.com/dptrain/dptrain/dataset"
)

// dateColumns returns the columns for the parts of the dates in a column.
func dateColumns(name string, d Column) []dataset.Column {
	var out []dataset.Column
	for _, c := range dataset.DateParts() {
		if !slices.Contains(partsOf(d), c.Part) {
			continue
		}
		c.Name = name + "." + c.Part
		c.Source = name
		c.Date = d.Date
		if c.Part == "days" && len(d.Between) == 2 {
			c.Ranged, c.Lower, c.Upper = true, dayOf(d.Between[0]), dayOf(d.Between[1])+1
		}
		out = append(out, c)
	}
	return out
}

// partsOf lists the parts of a date column: the declared ones, otherwise all except the hour, and the hour too
// if the layout has it.
func partsOf(d Column) []string {
	if len(d.Parts) > 0 {
		return d.Parts
	}
	out := []string{"days", "month", "weekday"}
	morning := time.Date(2003, 4, 25, 5, 0, 0, 0, time.UTC)
	evening := time.Date(2003, 4, 25, 18, 0, 0, 0, time.UTC)
	if d.Date != dataset.AutoDate && morning.Format(d.Date) != evening.Format(d.Date) {
		out = append(out, "hour")
	}
	return out
}

// dayOf returns the days from 1970 to a date, written 2006-01-02; NaN is never returned for a text that the rules
// accept.
func dayOf(text string) float64 {
	t, _ := time.Parse(time.DateOnly, text)
	return float64(t.Unix() / (24 * 60 * 60))
}

// date checks a column of dates.
func (c *checker) date(name, path string, col Column) {
	at := func(key string) string {
		return child(path, key)
	}
	none := func(used bool, key, why, hint string) {
		if used {
			c.add(
				at(key),
				shortPath(path)+": "+key+" cannot be combined with date"+why,
				hint,
			)
		}
	}
	none(col.Lower != nil, "lower", "",
		`declare the first and the last day: between: ["2020-01-01", "2024-12-31"]`)
	none(col.Upper != nil, "upper", "",
		`declare the first and the last day: between: ["2020-01-01", "2024-12-31"]`)
	none(col.Missing != nil, "missing", "",
		"a missing date is replaced by the median day and the middle of the other parts")
	none(
		col.Categories.Declared(),
		"categories",
		"",
		"a column has either dates or categories",
	)
	none(col.Prefix != 0, "prefix", "", "a column has either dates or categories")
	none(col.Hash != 0, "hash", "", "a column has either dates or buckets")
	none(col.Encode != "", "encode", "", "a column has either dates or categories")
	switch {
	case name == c.r.Data.Target:
		c.add(at("date"), "the target "+quoted(name)+" cannot be a date",
			"export days since a date as a number")
	case c.r.Privacy.Relation == privateColumns:
		c.add(at("date"), "dates cannot be used with the relation "+privateColumns,
			"export their parts as separate columns")
	case c.bench || c.r.Task == TaskCausal:
		c.add(at("date"), "date cannot be used here, where numbers are read",
			"export days since a date as a number")
	case !dataset.ReadsDates(col.Date):
		c.add(at("date"), shortPath(path)+": "+quoted(col.Date)+" is not a date layout",
			"write 2 January 2006 in the format of the table, such as 2006-01-02 or 01/02/2006 15:04, or auto")
	}
	for i, part := range col.Parts {
		if !slices.ContainsFunc(dataset.DateParts(), func(p dataset.Column) bool {
			return p.Part == part
		}) {
			c.add(item(at("parts"), i), shortPath(path)+": unknown part "+quoted(part)+" of a date",
				"one of days, month, weekday, hour")
		}
	}
	c.nameList(at("parts"), col.Parts, "part")
	if len(col.Between) == 0 {
		return
	}
	first, wrong := time.Parse(time.DateOnly, col.Between[0])
	last, wrongLast := time.Parse(time.DateOnly, col.Between[len(col.Between)-1])
	if len(col.Between) != 2 || wrong != nil || wrongLast != nil || last.Before(first) {
		c.add(at("between"), shortPath(path)+": between must give the first and last dates",
			`such as ["2020-01-01", "2024-12-31"]`)
	}
}
