package cell

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// autoCells are texts that [AutoDate] reads, with the day of January 2024, the hour and the minute; -1 if
// absent.
var autoCells = map[string][3]int{
	"2024-01-15":                              {15, 0, 0},
	"2024/01/15":                              {15, 0, 0},
	"20240115":                                {15, 0, 0},
	"20240115.0":                              {15, 0, 0},
	"20240115,00":                             {15, 0, 0},
	"15.1.2024":                               {15, 0, 0},
	"15.01.2024":                              {15, 0, 0},
	"15 Jan 2024":                             {15, 0, 0},
	"15-JAN-2024":                             {15, 0, 0},
	"Jan 15, 2024":                            {15, 0, 0},
	"15 January 2024":                         {15, 0, 0},
	"January 15, 2024":                        {15, 0, 0},
	"2024-01-15 23:30:00-05":                  {15, 23, 30},
	"2024-01-15 23:30:00.25-0500":             {15, 23, 30},
	"2024-01-15 23:30:00+05:30":               {15, 23, 30},
	"2024-01-15 23:30:00+00:53:28":            {15, 23, 30},
	"2024-01-15T23:30:00Z":                    {15, 23, 30},
	"2024-01-15t23:30z":                       {15, 23, 30},
	"2024-01-15 23:30:00 UTC":                 {15, 23, 30},
	"2024-01-15 23:30:00 GMT":                 {15, 23, 30},
	"2024-01-15 23:30:00 utc":                 {15, 23, 30},
	"2024-01-15 23:30:00.000000 CET":          {15, 23, 30},
	"2024-01-15T23:30:00.000000+0000":         {15, 23, 30},
	"2024-01-15 23:30:00 +0000 UTC":           {15, 23, 30},
	"2024-01-15 23:30:00 -0500":               {15, 23, 30},
	"2024-01-15T23:30:00+01:00[Europe/Paris]": {15, 23, 30},
	"2024-01-15 23:30:00,123":                 {15, 23, 30},
	"2024/01/15 23:30":                        {15, 23, 30},
	"15.1.2024 23:30":                         {15, 23, 30},
	"20240115T2330":                           {15, 23, 30},
	"20240115T233000Z":                        {15, 23, 30},
	"20240115 23:30:00":                       {15, 23, 30},
	"Mon, 15 Jan 2024 23:30:00 GMT":           {15, 23, 30},
	"Mon, 15 Jan 2024 23:30:00 +0100":         {15, 23, 30},
	"2024-01-15Z":                             {15, 0, 0},
	"2024-01-15+02:00":                        {15, 0, 0},
	"\u00a02024-01-15\u202f23:30\u2003":       {15, 23, 30},
	"2024-01-15 23:30:00\u221205:00":          {15, 23, 30},
	"2024-01-15 9:05":                         {15, 9, 5},
	"01/15/2024":                              {-1, 0, 0},
	"2024-1-5":                                {-1, 0, 0},
	"2024-13-01":                              {-1, 0, 0},
	"2024-02-30":                              {-1, 0, 0},
	"2024-01-15 24:00":                        {-1, 0, 0},
	"2024-01-15 23:60":                        {-1, 0, 0},
	"2024-01-15 11:30 PM":                     {-1, 0, 0},
	"2024-01-15 23:30:00-5":                   {-1, 0, 0},
	"2024-01-15-05":                           {-1, 0, 0},
	"2024-01-15x":                             {-1, 0, 0},
	"2024-01-151":                             {-1, 0, 0},
	"20240115.5":                              {-1, 0, 0},
	"20240115.":                               {-1, 0, 0},
	"2024":                                    {-1, 0, 0},
	"45306":                                   {-1, 0, 0},
	"yesterday":                               {-1, 0, 0},
	"infinity":                                {-1, 0, 0},
	"1.5":                                     {-1, 0, 0},
	"2024-01/15":                              {-1, 0, 0},
	"Jan 15 2024":                             {-1, 0, 0},
	"2024-01-15 23:30:00+25":                  {-1, 0, 0},
	"2024-01-15T":                             {-1, 0, 0},
	"Jan":                                     {-1, 0, 0},
}

func TestAutoDate(t *testing.T) {
	dates := NewDates(AutoDate)
	programs := programOf(t, AutoDate)
	for text, want := range autoCells {
		m, class := dates.Read(text)
		if class != Good {
			m = Moment{Day: 19723 - 2}
		}
		got := [3]int{int(m.Day) - 19723 + 1, int(m.Second) / 3600,
			int(m.Second) / 60 % 60}
		if got != want {
			t.Errorf(
				"%q: %v, class %d; want %v",
				text, got, class, want,
			)
		}
		checkProgram(t, dates, programs, text)
	}
	for text, want := range map[string]Class{
		"":                      Missing,
		"NA":                    Missing,
		strings.Repeat("2", 65): Unparseable,
	} {
		_, class := dates.Read(text)
		if class != want {
			t.Errorf("%q: %d", text, class)
		}
	}
	m, class := dates.Read("2024-01-15 00:00:00.1234567891")
	if class != Good || m.Second != .123456789 {
		t.Error(m, class)
	}
	m, class = NewDates("20060102").Read("20240115.0")
	if class != Good || m.Day != 19737 {
		t.Error(m, class)
	}
	_, class = NewDates("2006-01-02").Read("2024-01-15 00:00")
	if class != Unparseable {
		t.Error(class)
	}
}

// A datePrograms reads dates as an exported program without package time does.
type datePrograms struct {
	DatePattern
	compiled []*regexp.Regexp
}

func programOf(t interface{ Fatal(...any) }, layout string) *datePrograms {
	p, ok := DatePatternOf(layout)
	if !ok {
		t.Fatal("no pattern for", layout)
	}
	out := &datePrograms{DatePattern: p}
	for _, pattern := range p.Patterns {
		out.compiled = append(
			out.compiled,
			regexp.MustCompile("^(?:"+pattern+")$"),
		)
	}
	return out
}

func (p *datePrograms) parseDate(text string) (Moment, bool) {
	text = Trim(text)
	if len(text) > MaxDate {
		return Moment{}, false
	}
	if p.Blanks {
		text = plainBlanks(text)
	}
	if p.Digits {
		text = withoutZeros(text)
	}
	for _, re := range p.compiled {
		match := re.FindStringSubmatch(text)
		if match == nil {
			continue
		}
		found := map[string]string{}
		for i, name := range re.SubexpNames() {
			if name != "" {
				found[name] = match[i]
			}
		}
		number := func(name string) int {
			n, _ := strconv.Atoi(found[name])
			return n
		}
		year := number("y")
		month := number("m")
		hour := number("h")
		if _, short := found["yy"]; short {
			if year = 1900 + number("yy"); year < 1969 {
				year += 100
			}
		}
		for i, name := range monthNames {
			if len(found["mon"]) >= 3 &&
				strings.EqualFold(found["mon"][:3], name[:3]) {
				month = i + 1
			}
		}
		switch pm := strings.ToLower(found["pm"]); {
		case pm == "pm" && hour < 12:
			hour += 12
		case pm == "am" && hour == 12:
			hour = 0
		}
		at := time.Date(
			year, time.Month(month),
			number("d"), 0, 0, 0,
			0, time.UTC,
		)
		if month < 1 || month > 12 || at.Day() != number("d") {
			return Moment{}, false
		}
		nanos, _ := strconv.Atoi((found["f"] + "000000000")[:9])
		return Moment{
			at.Unix() / DaySeconds,
			float64(hour*3600+number("min")*60+number("s")) + float64(nanos)/1e9,
		}, true
	}
	return Moment{}, false
}

func checkProgram(
	t interface{ Errorf(string, ...any) },
	dates *Dates,
	p *datePrograms,
	text string,
) {
	m, class := dates.Read(text)
	if class == Missing {
		return
	}
	got, ok := p.parseDate(text)
	if ok != (class == Good) || got != m {
		t.Errorf(
			"%q: a program reads %v, %v, and not %v, class %d",
			text, got, ok, m, class,
		)
	}
}

// dateLayouts are layouts that a recipe may declare.
var dateLayouts = []string{
	"2006-01-02", "01/02/2006 15:04", "2.1.06", "2 Jan 2006", "Monday, January _2, 2006",
	"Mon Jan 2 15:04:05 2006", "20060102", "20060102150405", "2006-01-02T15:04:05.000Z07:00",
	"3:04PM 1/2/2006",
	"02/01/2006 03:04:05 pm", "2006-01-02 15:04:05.999 -0700", "2006-01-02 15:04:05 MST",
	"Day 2 of 1 in 2006, 15h04", "2006年1月2日", time.RFC850, time.UnixDate, time.RFC3339Nano,
	"Janus 1 2 2006", "2006 002",
}

// TestDatePatterns checks that an exported program reads the same dates as the reader of a layout, for dates
// written by any layout, unchanged or with one character changed.
func TestDatePatterns(t *testing.T) {
	layouts := append([]string{AutoDate}, dateLayouts...)
	readers := map[string]*Dates{}
	programs := map[string]*datePrograms{}
	for _, layout := range layouts {
		if !ReadsDates(layout) {
			t.Fatalf("%q reads no dates", layout)
		}
		if _, ok := DatePatternOf(layout); !ok {
			continue
		}
		readers[layout] = NewDates(layout)
		programs[layout] = programOf(t, layout)
	}
	if len(programs) != len(layouts)-1 {
		t.Errorf(
			"%d of %d layouts have patterns",
			len(programs), len(layouts),
		)
	}
	var texts []string
	for text := range autoCells {
		texts = append(texts, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(
			rapid.Int64Range(-60_000_000_000, 250_000_000_000).Draw(t, "second"),
			rapid.SampledFrom([]int64{0, 250e6, 1, 123456789}).Draw(t, "nanosecond"),
		)
		at = at.In(
			time.FixedZone(
				rapid.SampledFrom([]string{"CET", "EST", "UTC"}).Draw(t, "zone"),
				rapid.IntRange(-23, 23).Draw(t, "hours")*3600,
			))
		text := at.Format(rapid.SampledFrom(dateLayouts).Draw(t, "written"))
		if rapid.Bool().Draw(t, "known") {
			text = rapid.SampledFrom(texts).Draw(t, "text")
		}
		runes := []rune(text)
		if rapid.Bool().Draw(t, "changed") {
			k := rapid.IntRange(0, len(runes)-1).Draw(t, "at")
			runes[k] = rapid.SampledFrom([]rune("0123456789 :-/.,TZ+[\u00a0PAMp")).Draw(
				t,
				"by",
			)
			text = string(runes)
		}
		for layout, dates := range readers {
			m, class := dates.Read(text)
			if class == Missing {
				continue
			}
			got, ok := programs[layout].parseDate(text)
			if ok != (class == Good) || got != m {
				t.Fatalf(
					"%q by %q: a program reads %v, %v, and not %v, class %d",
					text,
					layout,
					got,
					ok,
					m,
					class,
				)
			}
		}
	})
}

// TestParts compares the parts of random days with package time, and moments of counts with those of texts.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(
			rapid.Int64Range(-60_000_000_000, 250_000_000_000).Draw(t, "second"),
			0,
		).UTC()
		for _, layout := range []string{time.DateTime, AutoDate} {
			m, class := NewDates(layout).Read(at.Format(time.DateTime))
			if class != Good ||
				m.Part(MonthPart) != float64(at.Month()) ||
				m.Part(WeekdayPart) != float64((at.Weekday()+6)%7+1) ||
				m.Part(HourPart) != m.Second/3600 ||
				m.Part(DayPart) != float64(m.Day)+m.Second/DaySeconds ||
				int(m.Second) != at.Hour()*3600+at.Minute()*60+at.Second() {
				t.Fatalf(
					"%v: %+v, %v",
					at, m, class,
				)
			}
			for _, stored := range []Moment{
				MomentOf(at.Unix(), 1),
				MomentOf(at.UnixMilli(), 1000),
				MomentOf(at.UnixMicro(), 1_000_000),
			} {
				if stored != m {
					t.Fatalf(
						"%v: %+v, %+v",
						at, stored, m,
					)
				}
			}
		}
	})
}

func FuzzDates(f *testing.F) {
	for text := range autoCells {
		f.Add(text)
	}
	dates := NewDates(AutoDate)
	programs := programOf(f, AutoDate)
	f.Fuzz(func(t *testing.T, text string) {
		checkProgram(t, dates, programs, text)
	})
}
