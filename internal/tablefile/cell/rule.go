package cell

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// A Rule defines how numbers are written. The zero Rule reads the same numbers as [Number]. A Rule is public:
// it comes from a recipe, and its result for a cell depends on that cell alone.
type Rule struct {
	Decimal   byte // ',' for decimal commas; 0 or '.' for points
	Thousands byte // between groups of three digits before the decimal mark: , . ' _ or a blank; 0: none
	// Lenient also accepts common additions to numbers, such as currencies and units; see [Rule.Number].
	Lenient bool
	Missing []float64 // numbers that represent a missing cell
}

// Numbers describes how the numbers of a table are written. It has the fields of dataset.Numbers, which converts to it.
type Numbers struct {
	Decimal   byte
	Thousands byte
	Strict    bool
	Missing   []float64
}

// Rule returns the rule for such numbers.
func (n Numbers) Rule() Rule {
	return Rule{
		Decimal:   n.Decimal,
		Thousands: n.Thousands,
		Lenient:   !n.Strict,
		Missing:   n.Missing,
	}
}

// Plain reports whether the rule reads a number of digits, a point and an exponent as strconv does.
func (r *Rule) Plain() bool {
	return r.Decimal != ',' && len(r.Missing) == 0
}

// MaxLenient is the maximum length in bytes of a cell for which a lenient rule tries other spellings.
const MaxLenient = 48

// Number reads a numeric cell: its value if the class is [Good], else 0. It accepts any text. A cell that
// [Number] reads has the same meaning here, except for another decimal mark. Lenient rules read more spellings,
// if they have one meaning:
//
//   - t and f, as Postgres writes booleans, are 1 and 0, in any case;
//   - a currency (a sign or a code of three letters) before or after the number, and one of [Units], a percent
//     sign or a + after it are ignored, without conversion;
//   - <, >, <=, >=, ≤, ≥ and ~ before the number are ignored too: <5 is 5;
//   - a blood pressure such as 144/94 is its first, systolic value; see [Systolic];
//   - groups of three digits are joined if they are separated by an apostrophe or a narrow blank, or by the mark
//     that is not the decimal one if it is unambiguous: used twice, or before a decimal mark;
//   - the sign may be U+2212.
func (r *Rule) Number(text string) (float64, Class) {
	text = Trim(text)
	v, class := r.parsePlain(text)
	if class == Unparseable && r.Lenient && len(text) <= MaxLenient {
		v, class = r.parseLenient(text)
	}
	if class == Good && slices.Contains(r.Missing, v) {
		return 0, Missing
	}
	return v, class
}

// Typed reads a number stored as a number, as [Rule.Number] does for text.
func (r *Rule) Typed(v float64) (float64, Class) {
	v, class := Classify(v)
	if class == Good && slices.Contains(r.Missing, v) {
		return 0, Missing
	}
	return v, class
}

// parsePlain reads a number with the declared marks and no other characters.
func (r *Rule) parsePlain(text string) (float64, Class) {
	if r.Decimal != ',' && r.Thousands == 0 {
		return Number(text)
	}
	if MissingWord(text) {
		return 0, Missing
	}
	if joined, ok := joinGroups(text, markOf(r.Decimal), r.Thousands); ok {
		return Number(joined)
	}
	return 0, Unparseable
}

// joinGroups returns a number with a point as its decimal mark and without group separators. ok is false if a
// separator is misplaced.
func joinGroups(text string, decimal, thousands byte) (joined string, ok bool) {
	if thousands == ' ' {
		text = narrow.Replace(text)
	}
	out := make([]byte, 0, len(text))
	groups, digits, whole := 0, 0, true // number of closed groups, and digits of the open group, before the decimal mark
	closed := func() bool {
		return groups == 0 || digits == 3
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			digits++
			out = append(out, c)
		case whole && c == decimal:
			if !closed() {
				return "", false
			}
			whole = false
			out = append(out, '.')
		case whole && c == thousands && c != 0:
			if digits == 0 || digits > 3 || !closed() {
				return "", false
			}
			groups++
			digits = 0
		case c == ',' || c == '.' || c == ' ' || c == '\'':
			return "", false
		default: // a sign, an exponent, or not a number
			if whole && digits > 0 {
				if !closed() {
					return "", false
				}
				whole = false
			}
			out = append(out, c)
		}
	}
	return string(out), !whole || closed()
}

// Narrow lists the blanks allowed between groups of digits. narrow replaces them by plain blanks, and parted finds
// those between two digits.
const Narrow = "\u00a0\u202f\u2009"

var (
	narrow = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ")
	parted = regexp.MustCompile("([0-9])[" + Narrow + "]([0-9])")
)

// parseLenient reads a cell that is not a plain number.
func (r *Rule) parseLenient(text string) (float64, Class) {
	switch BooleanWord(text) {
	case "t":
		return 1, Good
	case "f":
		return 0, Good
	}
	if !strings.ContainsAny(text, "0123456789") {
		return 0, Unparseable
	}
	if strings.ContainsAny(text, "\u2212"+Narrow) {
		text = Trim(
			narrow.Replace(
				parted.ReplaceAllString(strings.ReplaceAll(text, "\u2212", "-"), "$1'$2")))
	}
	text = trimBound(text)
	sign, text := cutSign(text)
	text, before := cutCurrency(text)
	if before && sign == "" {
		sign, text = cutSign(text)
	}
	text = cutUnit(text)
	if first, ok := Systolic(text); ok && sign == "" {
		text = first
	}
	if text == "" || strings.IndexByte("0123456789.,", text[0]) < 0 {
		return 0, Unparseable
	}
	joined, ok := r.removeGroups(text)
	if !ok {
		return 0, Unparseable
	}
	v, class := Number(sign + joined)
	if class != Good {
		return 0, Unparseable
	}
	return v, Good
}

// removeGroups returns an unsigned number in the form that strconv accepts.
func (r *Rule) removeGroups(text string) (string, bool) {
	decimal := markOf(r.Decimal)
	if joined, ok := joinGroups(text, decimal, r.Thousands); ok {
		return joined, true
	}
	other := byte(',')
	if decimal == ',' {
		other = '.'
	}
	for _, mark := range []byte{'\'', other} {
		if strings.IndexByte(text, mark) < 0 {
			continue
		}
		if mark == other && strings.Count(text, string(mark)) < 2 &&
			strings.IndexByte(text, decimal) < 0 {
			return "", false // 1,234 may be 1.234 where people write decimal commas
		}
		return joinGroups(text, decimal, mark)
	}
	return "", false
}

// Bounds are the signs that mean at most, at least and about.
var Bounds = []string{"<=", ">=", "<", ">", "≤", "≥", "~"}

// trimBound removes a prefix that means at most, at least or about.
func trimBound(text string) string {
	for _, sign := range Bounds {
		if rest, ok := strings.CutPrefix(text, sign); ok {
			return Trim(rest)
		}
	}
	return text
}

func cutSign(text string) (sign, rest string) {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		return text[:1], text[1:]
	}
	return "", text
}

// Currencies are signs and ISO 4217 codes.
var Currencies = strings.Fields(
	"€ $ £ ¥ ₹ EUR USD GBP JPY CHF CNY INR AUD CAD NZD SEK NOK DKK PLN CZK HUF RON BGN TRY RUB UAH BRL MXN ZAR " +
		"KRW SGD HKD ILS THB IDR MYR PHP AED SAR EGP NGN KES ARS CLP COP PEN VND TWD PKR ISK")

// cutCurrency removes a currency before the number.
func cutCurrency(text string) (rest string, found bool) {
	for _, c := range Currencies {
		if rest, ok := strings.CutPrefix(text, c); ok {
			return Trim(rest), true
		}
	}
	return text, false
}

// Units are the units that a lenient rule ignores after a number, in any case, with or without blanks between.
// The letters k, m and b are not included: they may mean thousands, millions and billions.
// Words for times are in English, German, French, Spanish, Italian and Dutch.
var Units = strings.Fields(
	"% + percent pct y yr yrs year years mo month months wk wks week weeks d day days h hr hrs hour hours min mins minute minutes " +
		"s sec secs second seconds ms kg g mg µg μg lb lbs oz t km cm mm mi ft in m² km² sqm sqft ha l ml dl mmhg bpm kcal kj kw kwh w v a hz °c °f ° " +
		"jahr jahre jahren monat monate monaten woche wochen tag tage tagen std stunde stunden minuten sek sekunde sekunden " +
		"an ans année années mois semaine semaines jour jours heure heures seconde secondes " +
		"año años mes meses semana semanas día días dia dias hora horas minuto minutos segundo segundos " +
		"anno anni mese mesi settimana settimane giorno giorni ora ore minuti secondi " +
		"jaar jaren maand maanden weken dag dagen uur uren minuut seconden " +
		"mg/l mg/dl g/l g/dl ng/ml µg/l μg/l mmol/l µmol/l μmol/l u/l iu/l kg/m² /min")

// cutUnit removes a unit or a currency after the number.
func cutUnit(text string) string {
	i := strings.LastIndexAny(text, "0123456789.,") + 1
	unit := Trim(text[i:])
	if unit == "" {
		return text
	}
	if slices.Contains(Currencies, unit) || slices.Contains(Units, strings.ToLower(unit)) {
		return Trim(text[:i])
	}
	return text
}

// Systolic returns the first value of a blood pressure: two whole numbers with a slash between them, the first
// from 50 to 299, the second from 20 to less than the first. Fractions, dates and months are outside these limits.
func Systolic(text string) (first string, ok bool) {
	first, second, ok := strings.Cut(text, "/")
	if !ok || !isPressure(first) || !isPressure(second) {
		return "", false
	}
	high := wholeNumber(first)
	low := wholeNumber(second)
	return first, high >= 50 && high < 300 && low >= 20 && low < high
}

// HasSecond reports whether a cell that a lenient rule reads is a blood pressure, whose second value is ignored.
func HasSecond(text string) bool {
	_, ok := Systolic(cutUnit(Trim(text)))
	return ok
}

// isPressure reports whether a text has two or three digits without a leading zero.
func isPressure(text string) bool {
	return (len(text) == 2 || len(text) == 3) && text[0] != '0' &&
		strings.Trim(text, "0123456789") == ""
}

// wholeNumber returns the value of a text of digits.
func wholeNumber(digits string) int {
	n := 0
	for i := range len(digits) {
		n = 10*n + int(digits[i]-'0')
	}
	return n
}

// Fast reads the bytes of a cell without allocating a string. ok is false if [Rule.Number] is needed instead.
// scratch is memory for a cell.
func (r *Rule) Fast(
	text, scratch []byte,
	parse func([]byte) (float64, bool),
) (v float64, ok bool) {
	if r.Decimal == ',' {
		if len(text) > cap(scratch) {
			return 0, false
		}
		scratch = scratch[:0]
		for _, c := range text {
			switch c {
			case '.':
				return 0, false
			case ',':
				c = '.'
			}
			scratch = append(scratch, c)
		}
		text = scratch
	}
	if v, ok = parse(text); !ok || math.IsInf(v, 0) || slices.Contains(r.Missing, v) {
		return 0, false
	}
	return v, true
}
