package cell

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// AutoDate is the layout of a column whose dates may have any of the forms that [Dates] tries for it.
const AutoDate = "auto"

// The parts of a date. Each is a number that depends on one cell alone.
const (
	DayPart     = "days"    // days since 1970-01-01, with the time of day as a fraction
	MonthPart   = "month"   // 1 to 12
	WeekdayPart = "weekday" // 1, Monday, to 7
	HourPart    = "hour"    // 0 to 24, with minutes as a fraction
)

// Parts lists the parts of a date.
func Parts() []string {
	return []string{DayPart, MonthPart, WeekdayPart, HourPart}
}

// A Moment is a date with a local time of day: the offset from UTC is ignored.
type Moment struct {
	Day    int64 // since 1970-01-01
	Second float64
}

// DaySeconds is the number of seconds per day.
const DaySeconds = 24 * 60 * 60

// MomentOf returns the moment of a count of units since 1970, with perSecond units per second.
func MomentOf(count, perSecond int64) Moment {
	perDay := perSecond * DaySeconds
	day := count / perDay
	rest := count % perDay
	if rest < 0 {
		day--
		rest += perDay
	}
	return Moment{day, float64(rest) / float64(perSecond)}
}

// Part returns a part of a moment.
func (m Moment) Part(name string) float64 {
	switch name {
	case MonthPart:
		return float64(time.Unix(m.Day*DaySeconds, 0).UTC().Month())
	case WeekdayPart:
		return float64(((m.Day+3)%7+7)%7 + 1) // 1970-01-01 was a Thursday
	case HourPart:
		return m.Second / 3600
	}
	return float64(m.Day) + m.Second/DaySeconds
}

// MaxDate is the maximum length of a date in bytes.
const MaxDate = 64

// Dates reads the dates of a column.
type Dates struct {
	auto    bool
	layouts []string
	digits  bool // the layout consists of digits alone, so a cell may be a number
}

// NewDates returns the reader for a layout of package time, or for [AutoDate], and for additional layouts.
func NewDates(layout string, more ...string) *Dates {
	if layout == AutoDate {
		return &Dates{auto: true}
	}
	return &Dates{
		layouts: append([]string{layout}, more...),
		digits:  strings.Trim(layout, "0123456789") == "",
	}
}

// Read reads the text of a cell. A declared layout is parsed by package time. A date written in digits alone
// may have been converted to a number: 20240115.0 is 20240115.
func (d *Dates) Read(text string) (Moment, Class) {
	text = Trim(text)
	if MissingWord(text) {
		return Moment{}, Missing
	}
	if len(text) > MaxDate {
		return Moment{}, Unparseable
	}
	if d.auto {
		if m, ok := readAuto(text); ok {
			return m, Good
		}
		return Moment{}, Unparseable
	}
	if d.digits {
		text = withoutZeros(text)
	}
	for _, layout := range d.layouts {
		if t, err := time.Parse(layout, text); err == nil &&
			!(hasFraction(layout) && hasSignedFraction(text)) {
			return momentAt(t), Good
		}
	}
	return Moment{}, Unparseable
}

// hasFraction reports whether a layout has a fraction of a second.
func hasFraction(layout string) bool {
	for k := range layout {
		if fractionDigits(layout[k:]) != "" {
			return true
		}
	}
	return false
}

// hasSignedFraction reports whether a text has a sign among the digits of a fraction, which package time
// accepts.
func hasSignedFraction(text string) bool {
	return strings.Contains(text, ".-") || strings.Contains(text, ".+") ||
		strings.Contains(text, ",-") || strings.Contains(text, ",+")
}

func momentAt(t time.Time) Moment {
	wall := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	return Moment{wall.Unix() / DaySeconds,
		float64(t.Hour()*3600+t.Minute()*60+t.Second()) + float64(t.Nanosecond())/1e9}
}

// withoutZeros removes decimals that consist of zeros.
func withoutZeros(text string) string {
	whole, zeros, pointed := strings.Cut(strings.Replace(text, ",", ".", 1), ".")
	if pointed && zeros != "" && strings.Trim(zeros, "0") == "" {
		return whole
	}
	return text
}

// readAuto reads a date in one of these forms. The first four may be followed by a time:
//
//	2006-01-02, 2006/01/02, 20060102
//	2.1.2006
//	2 Jan 2006, 2-Jan-2006 and 2 January 2006, optionally after the weekday and a comma
//	Jan 2, 2006 and January 2, 2006
//
// A time follows after a T or blanks. It is 15:04 or 15:04:05, optionally with a fraction of a second; after
// 20060102 also 1504 or 150405. A zone may follow it: Z, a name such as UTC or CEST, an offset such as -05,
// -0500 and +05:30 with or without a name, and a region in brackets. The local time is used as it is, so the
// zone has no effect. 20060102.0 is 20060102.
func readAuto(text string) (Moment, bool) {
	s := &dateScanner{text: plainBlanks(text)}
	year, month, day, compact, ok := s.scanDate()
	if !ok {
		return Moment{}, false
	}
	second := 0.
	switch {
	case s.text == "":
	case compact && withoutZeros(s.text) == "":
	case s.timeMark():
		if second, ok = s.scanTime(compact); !ok || !s.scanZone() {
			return Moment{}, false
		}
	default: // a date with a zone, as in XML Schema
		if s.text != "Z" && !(len(s.text) == len("+00:00") && s.scanOffset() && s.text == "") {
			return Moment{}, false
		}
	}
	at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if month < 1 || month > 12 || day < 1 || at.Day() != day {
		return Moment{}, false
	}
	return Moment{at.Unix() / DaySeconds, second}, true
}

// plainBlanks replaces Unicode blanks by plain ones, and the minus sign by a hyphen.
func plainBlanks(text string) string {
	if isASCII(text) && strings.IndexByte(text, '\t') < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r >= utf8.RuneSelf && unicode.IsSpace(r):
			return ' '
		case r == '\u2212':
			return '-'
		case IsBlank(r) && r != ' ':
			return -1
		}
		return r
	}, text)
}

// A dateScanner reads a text from its start.
type dateScanner struct{ text string }

// takeText removes a text from the start.
func (s *dateScanner) takeText(text string) bool {
	rest, found := strings.CutPrefix(s.text, text)
	if found {
		s.text = rest
	}
	return found
}

// skipBlanks removes blanks.
func (s *dateScanner) skipBlanks() bool {
	was := len(s.text)
	s.text = strings.TrimLeft(s.text, " ")
	return len(s.text) < was
}

// scanNumber consumes between least and most digits.
func (s *dateScanner) scanNumber(least, most int) (n int, ok bool) {
	k := 0
	for k < len(s.text) && k < most && s.text[k] >= '0' && s.text[k] <= '9' {
		n = 10*n + int(s.text[k]-'0')
		k++
	}
	if k < least {
		return 0, false
	}
	s.text = s.text[k:]
	return n, true
}

// countDigits counts the leading digits.
func (s *dateScanner) countDigits() int {
	return len(s.text) - len(strings.TrimLeft(s.text, "0123456789"))
}

// scanDate consumes a date. compact reports whether it is written in eight digits.
func (s *dateScanner) scanDate() (year, month, day int, compact, ok bool) {
	switch n := s.countDigits(); {
	case n == 8:
		year, _ = s.scanNumber(4, 4)
		month, _ = s.scanNumber(2, 2)
		day, _ = s.scanNumber(2, 2)
		return year, month, day, true, true
	case n == 4:
		year, month, day, ok = s.yearFirst()
		return year, month, day, false, ok
	case n == 1 || n == 2:
		year, month, day, ok = s.dayFirst()
		return year, month, day, false, ok
	}
	year, month, day, ok = s.nameFirst()
	return year, month, day, false, ok
}

// yearFirst removes 2006-01-02 or 2006/01/02.
func (s *dateScanner) yearFirst() (year, month, day int, ok bool) {
	year, _ = s.scanNumber(4, 4)
	mark := "-"
	if !s.takeText(mark) {
		mark = "/"
		if !s.takeText(mark) {
			return 0, 0, 0, false
		}
	}
	if month, ok = s.scanNumber(2, 2); !ok || !s.takeText(mark) {
		return 0, 0, 0, false
	}
	day, ok = s.scanNumber(2, 2)
	return year, month, day, ok && s.countDigits() == 0
}

// dayFirst removes 2.1.2006, 2 Jan 2006 or 2-Jan-2006.
func (s *dateScanner) dayFirst() (year, month, day int, ok bool) {
	day, _ = s.scanNumber(1, 2)
	switch {
	case s.takeText("."):
		if month, ok = s.scanNumber(1, 2); !ok || !s.takeText(".") {
			return 0, 0, 0, false
		}
	case s.takeText("-"):
		if month = s.scanName(monthNames); month == 0 || !s.takeText("-") {
			return 0, 0, 0, false
		}
	default:
		if !s.skipBlanks() {
			return 0, 0, 0, false
		}
		if month = s.scanName(monthNames); month == 0 || !s.skipBlanks() {
			return 0, 0, 0, false
		}
	}
	year, ok = s.scanNumber(4, 4)
	return year, month, day, ok && s.countDigits() == 0
}

// nameFirst removes Jan 2, 2006, or a weekday with a comma before a date of dayFirst.
func (s *dateScanner) nameFirst() (year, month, day int, ok bool) {
	if s.scanName(weekdayNames) > 0 {
		if !s.takeText(",") || !s.skipBlanks() || s.countDigits() == 0 {
			return 0, 0, 0, false
		}
		return s.dayFirst()
	}
	if month = s.scanName(monthNames); month == 0 || !s.skipBlanks() {
		return 0, 0, 0, false
	}
	if day, ok = s.scanNumber(1, 2); !ok || !s.takeText(",") || !s.skipBlanks() {
		return 0, 0, 0, false
	}
	year, ok = s.scanNumber(4, 4)
	return year, month, day, ok && s.countDigits() == 0
}

// The English names of months and weekdays, in lower case.
var (
	monthNames = []string{"january", "february", "march", "april", "may", "june", "july",
		"august", "september", "october", "november", "december"}
	weekdayNames = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
		"sunday"}
)

// scanName consumes a name of a list, in full or its first three letters, and returns its position from 1, or 0 if there
// is no match.
func (s *dateScanner) scanName(list []string) int {
	word := s.text[:len(s.text)-len(strings.TrimLeftFunc(s.text, isLetter))]
	lower := strings.ToLower(word)
	k := slices.IndexFunc(list, func(name string) bool {
		return lower == name || lower == name[:3]
	})
	if k >= 0 {
		s.text = s.text[len(word):]
	}
	return k + 1
}

func isLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// timeMark consumes the separator before a time.
func (s *dateScanner) timeMark() bool {
	return s.takeText("T") || s.takeText("t") || s.skipBlanks()
}

// scanTime removes a time and returns its seconds since midnight.
func (s *dateScanner) scanTime(compact bool) (float64, bool) {
	var hour, minute, second int
	var ok bool
	var seconds bool
	if n := s.countDigits(); compact && (n == 4 || n == 6) {
		hour, _ = s.scanNumber(2, 2)
		minute, _ = s.scanNumber(2, 2)
		if seconds = n == 6; seconds {
			second, _ = s.scanNumber(2, 2)
		}
	} else {
		if hour, ok = s.scanNumber(1, 2); !ok || !s.takeText(":") {
			return 0, false
		}
		if minute, ok = s.scanNumber(2, 2); !ok {
			return 0, false
		}
		if seconds = s.takeText(":"); seconds {
			if second, ok = s.scanNumber(2, 2); !ok {
				return 0, false
			}
		}
	}
	if hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	out := float64(hour*3600 + minute*60 + second)
	if seconds {
		fraction, ok := s.scanFraction()
		return out + fraction, ok
	}
	return out, true
}

// scanFraction consumes a fraction of a second and returns it, using nine digits; 0 if it is absent.
func (s *dateScanner) scanFraction() (float64, bool) {
	if !s.takeText(".") && !s.takeText(",") {
		return 0, true
	}
	n := s.countDigits()
	if n == 0 {
		return 0, false
	}
	digits := s.text[:n]
	s.text = s.text[n:]
	digits = (digits + "000000000")[:9]
	nanos := 0
	for _, c := range digits {
		nanos = 10*nanos + int(c-'0')
	}
	return float64(nanos) / 1e9, true
}

// scanZone consumes an optional zone and reports whether the text is complete.
func (s *dateScanner) scanZone() bool {
	s.skipBlanks()
	if region := strings.IndexByte(s.text, '['); region >= 0 && strings.HasSuffix(s.text, "]") {
		s.text = s.text[:region]
	}
	if !s.zoneName() {
		return false
	}
	if s.text == "" {
		return true
	}
	return s.scanOffset() && (s.text == "" || s.skipBlanks() && s.zoneName() && s.text == "")
}

// zoneName removes the name of a zone. It returns false for other letters.
func (s *dateScanner) zoneName() bool {
	letters := len(s.text) - len(strings.TrimLeftFunc(s.text, isLetter))
	switch name := s.text[:letters]; {
	case letters == 0:
	case strings.EqualFold(name, "z"), strings.EqualFold(name, "utc"),
		strings.EqualFold(name, "gmt"):
	case letters >= 3 && letters <= 5 && strings.ToUpper(name) == name:
	default:
		return false
	}
	s.text = s.text[letters:]
	return true
}

// scanOffset removes -05, -0500, -05:00 or -05:00:00.
func (s *dateScanner) scanOffset() bool {
	if !s.takeText("+") && !s.takeText("-") {
		return false
	}
	if hour, ok := s.scanNumber(2, 2); !ok || hour > 24 {
		return false
	}
	for range 2 {
		if s.text == "" || s.text[0] == ' ' {
			break
		}
		s.takeText(":")
		if n, ok := s.scanNumber(2, 2); !ok || n > 59 {
			return false
		}
	}
	return true
}

// ReadsDates reports whether a layout of package time has year, month and day of every date, or is [AutoDate].
func ReadsDates(layout string) bool {
	if layout == AutoDate {
		return true
	}
	for _, at := range []time.Time{time.Date(2003, 4, 25, 0, 0, 0, 0, time.UTC),
		time.Date(2021, 12, 7, 0, 0, 0, 0, time.UTC)} {
		if got, err := time.Parse(layout, at.Format(layout)); err != nil || !got.Equal(at) {
			return false
		}
	}
	return true
}
