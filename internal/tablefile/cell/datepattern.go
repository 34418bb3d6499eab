package cell

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A DatePattern lets a program without package time read the dates of a layout: regular expressions with named groups,
// tried in order until one matches the whole text. The groups are y (the year), yy (its last two digits, of 1969 to
// 2068), m (the month), mon (the month by the first three letters of its name), d, h, min, s, f (digits of the
// fraction of a second; nine are used) and pm (AM or PM, in any case). Hours have the ranges of a clock and days at
// most two digits; the program must check that the month has the day.
type DatePattern struct {
	Patterns []string `json:"patterns"`
	Blanks   bool     `json:"blanks"` // replace blanks by plain ones, and U+2212 by a hyphen, first
	Digits   bool     `json:"digits"` // remove decimals that are all zero first
}

// DatePatternOf returns the pattern of a layout of package time or of [AutoDate]. ok is false for a layout without a
// pattern: one with the day of the year, or with an element that occurs twice.
func DatePatternOf(layout string) (p DatePattern, ok bool) {
	if layout == AutoDate {
		return DatePattern{
			Patterns: autoPatterns(),
			Blanks:   true,
		}, true
	}
	pattern, ok := layoutPattern(layout)
	return DatePattern{
		Patterns: []string{pattern},
		Digits:   strings.Trim(layout, "0123456789") == "",
	}, ok
}

// namedGroup is a named group.
func namedGroup(name, pattern string) string {
	return "(?P<" + name + ">" + pattern + ")"
}

// anyCase returns a pattern that matches a word in any case.
func anyCase(word string) string {
	var out strings.Builder
	for _, c := range strings.ToLower(word) {
		out.WriteString("[" + string(c) + strings.ToUpper(string(c)) + "]")
	}
	return out.String()
}

// The first letters of the name of a month are its group; the rest is optional where either form is accepted.
const (
	shortNames = iota
	longNames
	bothNames
)

// namePattern matches one of the names of a list. The first three letters are in the group, if it has a name.
func namePattern(name string, list []string, form int) string {
	var out []string
	for _, word := range list {
		start := anyCase(word[:3])
		rest := anyCase(word[3:])
		if name == "" {
			start = "(?:" + start + ")"
		}
		switch {
		case form == bothNames && rest != "":
			rest = "(?:" + rest + ")?"
		case form == shortNames:
			rest = ""
		}
		out = append(out, start+rest)
	}
	if name == "" {
		return "(?:" + strings.Join(out, "|") + ")"
	}
	return namedGroup(name, strings.Join(out, "|"))
}

const (
	anyHour = "[01]?[0-9]|2[0-3]"
	sixty   = "[0-5][0-9]"
)

// autoPatterns returns the patterns equivalent to readAuto.
func autoPatterns() []string {
	fraction := "(?:[.,]" + namedGroup("f", "[0-9]+") + ")?"
	minute := namedGroup("min", sixty)
	second := namedGroup("s", sixty) + fraction
	clock := namedGroup("h", anyHour) + ":" + minute + "(?::" + second + ")?"
	compact := namedGroup("h", "[01][0-9]|2[0-3]") + minute + "(?:" + second + ")?"
	year := namedGroup("y", "[0-9]{4}")
	month := namedGroup("m", "[0-9]{2}")
	day := namedGroup("d", "[0-9]{2}")
	shortMonth := namedGroup("m", "[0-9]{1,2}")
	shortDay := namedGroup("d", "[0-9]{1,2}")
	months := namePattern("mon", monthNames, bothNames)
	weekday := "(?:" + namePattern("", weekdayNames, bothNames) + ", +)?"
	return slices.Concat(
		withTimes(year+"-"+month+"-"+day, clock),
		withTimes(year+"/"+month+"/"+day, clock),
		withTimes(year+month+day, clock, compact),
		[]string{year + month + day + "[.,]0+"},
		withTimes(weekday+shortDay+`\.`+shortMonth+`\.`+year, clock),
		withTimes(weekday+shortDay+" +"+months+" +"+year, clock),
		withTimes(weekday+shortDay+"-"+months+"-"+year, clock),
		withTimes(months+" +"+shortDay+", +"+year, clock),
	)
}

// withTimes returns the patterns of a day without a time, and with each of the times and a time zone.
func withTimes(day string, times ...string) []string {
	offset := "[+-](?:[01][0-9]|2[0-4])(?::?" + sixty + "(?::?" + sixty + ")?)?"
	name := "(?:[zZ]|" + anyCase("utc") + "|" + anyCase("gmt") + "|[A-Z]{3,5})"
	zone := " *" + name + "?(?:" + offset + "(?: +" + name + "?)?)?" + `(?:\[.*\])?`
	out := []string{day + "(?:Z|[+-](?:[01][0-9]|2[0-4]):" + sixty + ")?"}
	for _, t := range times {
		out = append(out, day+"(?:[Tt]| +)"+t+zone)
	}
	return out
}

// layoutElements are the elements of layouts of package time and their patterns, longer ones before their
// prefixes.
var layoutElements = []struct{ element, pattern string }{
	{"January", namePattern("mon", monthNames, longNames)},
	{"Jan", namePattern("mon", monthNames, shortNames)},
	{"Monday", namePattern("", weekdayNames, longNames)},
	{"Mon", namePattern("", weekdayNames, shortNames)},
	{"MST", zonePattern("0+[0-9]|0*1[0-9]|0*2[0-3]")},
	{"002", ""},
	{"__2", ""},
	{"01", namedGroup("m", "[0-9]{2}")},
	{"02", namedGroup("d", "[0-9]{2}")},
	{"03", namedGroup("h", "0[0-9]|1[0-2]")},
	{"04", namedGroup("min", sixty)},
	{"05", namedGroup("s", sixty)},
	{"06", namedGroup("yy", "[0-9]{2}|[+-][0-9]")},
	{"15", namedGroup("h", anyHour)},
	{"1", namedGroup("m", "[0-9]{1,2}")},
	{"2006", namedGroup("y", "[0-9]{4}")},
	{"_2006", "_" + namedGroup("y", "[0-9]{4}")},
	{"_2", " ?" + namedGroup("d", "[0-9]{1,2}")},
	{"2", namedGroup("d", "[0-9]{1,2}")},
	{"3", namedGroup("h", "0?[0-9]|1[0-2]")},
	{"4", namedGroup("min", "[0-5]?[0-9]")},
	{"5", namedGroup("s", "[0-5]?[0-9]")},
	{"PM", namedGroup("pm", "[AP]M")},
	{"pm", namedGroup("pm", "[ap]m")},
	{"-070000", offsetPattern("", 2)},
	{"-07:00:00", offsetPattern(":", 2)},
	{"-0700", offsetPattern("", 1)},
	{"-07:00", offsetPattern(":", 1)},
	{"-07", offsetPattern("", 0)},
	{"Z070000", "(?:Z|" + offsetPattern("", 2) + ")"},
	{"Z07:00:00", "(?:Z|" + offsetPattern(":", 2) + ")"},
	{"Z0700", "(?:Z|" + offsetPattern("", 1) + ")"},
	{"Z07:00", "(?:Z|" + offsetPattern(":", 1) + ")"},
	{"Z07", "(?:Z|" + offsetPattern("", 0) + ")"},
}

// offsetPattern matches an offset with the given number of digit pairs after the hours.
func offsetPattern(mark string, more int) string {
	return "[+-](?:[01][0-9]|2[0-4])" + strings.Repeat(mark+"(?:[0-5][0-9]|60)", more)
}

// layoutPattern returns the pattern of a layout of package time.
func layoutPattern(layout string) (pattern string, ok bool) {
	var out strings.Builder
	for layout != "" {
		if digits := fractionDigits(layout); digits != "" {
			layout = layout[1+len(digits):]
			if digits[0] == '0' {
				out.WriteString("[.,]" + namedGroup("f", "[0-9]{"+strconv.Itoa(len(digits))+"}"))
			} else {
				out.WriteString("(?:[.,]" + namedGroup("f", "[0-9]+") + ")?")
			}
			continue
		}
		element, matches := elementAt(layout)
		switch {
		case element != "" && matches == "":
			return "", false
		case element != "":
			layout = layout[len(element):]
			out.WriteString(matches)
			if (element == "05" || element == "5") && fractionDigits(layout) == "" {
				out.WriteString("(?:[.,]" + namedGroup("f", "[0-9]+") + ")?")
			}
		case layout[0] == ' ':
			layout = strings.TrimLeft(layout, " ")
			out.WriteString("(?: +|$)")
		default:
			_, size := utf8.DecodeRuneInString(layout)
			out.WriteString(regexp.QuoteMeta(layout[:size]))
			layout = layout[size:]
		}
	}
	_, err := regexp.Compile(out.String()) // an element that occurs twice has no pattern
	return out.String(), err == nil
}

// elementAt returns the element at the start of a layout, and its pattern.
func elementAt(layout string) (element, pattern string) {
	for _, e := range layoutElements {
		rest, found := strings.CutPrefix(layout, e.element)
		if !found {
			continue
		}
		if (e.element == "Jan" || e.element == "Mon") && rest != "" && rest[0] >= 'a' &&
			rest[0] <= 'z' {
			continue
		}
		if e.element == "_2" && strings.HasPrefix(layout, "_2006") {
			continue
		}
		if whole := wholeElements[e.element]; whole != "" && rest != "" && rest[0] >= '0' &&
			rest[0] <= '9' {
			return e.element, whole
		}
		if e.element == "MST" && rest != "" { // package time requires three characters from here on
			return e.element, zonePattern(zoneHours)
		}
		return e.element, e.pattern
	}
	return "", ""
}

// wholeElements are the patterns of elements of one or two digits that are followed by another digit: package
// time takes as many digits as there are.
var wholeElements = map[string]string{
	"15": namedGroup("h", "[01][0-9]|2[0-3]"),
	"1":  namedGroup("m", "[0-9]{2}"),
	"2":  namedGroup("d", "[0-9]{2}"),
	"_2": " ?" + namedGroup("d", "[0-9]{2}"),
	"3":  namedGroup("h", "0[0-9]|1[0-2]"),
	"4":  namedGroup("min", sixty),
	"5":  namedGroup("s", sixty),
}

// zoneHours are the hours of an offset from UTC that package time accepts if a layout has the name of a zone.
const zoneHours = "0*(?:1?[0-9]|2[0-3])"

// zonePattern matches the name of a zone, or a sign and hours in its place.
func zonePattern(hours string) string {
	return "(?:ChST|MeST|GMT(?:[+-]" + zoneHours + ")?|[A-Z]{3}|[A-Z]{3,4}T|WITA|[+-](?:" + hours +
		"))"
}

// fractionDigits returns the zeros or nines of a fraction of a second at the start of a layout.
func fractionDigits(layout string) string {
	if len(layout) < 2 || layout[0] != '.' && layout[0] != ',' ||
		layout[1] != '0' && layout[1] != '9' {
		return ""
	}
	n := len(layout[1:]) - len(strings.TrimLeft(layout[1:], layout[1:2]))
	if rest := layout[1+n:]; rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		return ""
	}
	return layout[1 : 1+n]
}
