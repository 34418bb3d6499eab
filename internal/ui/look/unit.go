package look

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
)

// sketchSize is the number of smallest hashes kept per column. The relative error of the estimated number of
// distinct values is about 1/√sketchSize.
const sketchSize = 4096

// hashSeed is shared by all columns of a process so that their hashes are comparable.
var hashSeed = maphash.MakeSeed()

// A sketch keeps the smallest hashes of texts, sorted, each once (Bar-Yossef and others, "Counting distinct elements in
// a data stream", 2002).
type sketch []uint64

// add adds a text.
func (s *sketch) add(text string) {
	s.insert(maphash.String(hashSeed, text))
}

func (s *sketch) insert(hash uint64) {
	list := *s
	if len(list) == sketchSize && hash >= list[sketchSize-1] {
		return
	}
	at, met := slices.BinarySearch(list, hash)
	if met {
		return
	}
	if len(list) == sketchSize {
		list = list[:sketchSize-1]
	}
	*s = slices.Insert(list, at, hash)
}

// merge adds the hashes of another part of the same column.
func (s *sketch) merge(o sketch) {
	for _, hash := range o {
		s.insert(hash)
	}
}

// count estimates the number of distinct texts added.
func (s sketch) count() float64 {
	if len(s) < sketchSize {
		return float64(len(s))
	}
	return float64(sketchSize-1) / (float64(s[sketchSize-1]) / (1 << 64))
}

// Different returns the number of distinct values of the column. It is exact up to [MostValues] and otherwise
// accurate to a few percent.
func (c *Column) Different() float64 {
	if !c.Many {
		return float64(c.Values)
	}
	return max(float64(MostValues), c.hashes.count())
}

// Limits for a column that may identify a unit with several records.
const (
	// fewestUnits is the minimum number of distinct values, and fewestPresent the minimum share of non-missing
	// cells.
	fewestUnits   = 20
	fewestPresent = .8
	// mostShare is the maximum number of distinct values per record, below 1 by more than the error of an estimate.
	// leastShare is the minimum if the column's name is no evidence.
	mostShare  = .95
	leastShare = .02
)

// Identifies reports whether a column of a table with the given number of rows may identify the owner of each record,
// where some own several: it has fewer distinct values than records and looks like an identifier. byName reports that
// the name of the column is the evidence. A column whose values are all distinct identifies records.
func (c *Column) Identifies(rows int64) (looks, byName bool) {
	full := float64(c.Plain + c.Text)
	different := c.Different()
	enough := full >= fewestPresent*float64(rows) && different >= fewestUnits &&
		different <= mostShare*full
	if !enough || c.isDated() {
		return false, false
	}
	if NamesUnit(c.Name) {
		return true, true
	}
	// Codes and names are texts that most records share with a few others.
	return c.Text > c.Plain && c.Lenient+c.Comma+c.Thousands < c.Text/2 &&
		different >= leastShare*full, false
}

// isDated reports whether most cells are dates.
func (c *Column) isDated() bool {
	return slices.ContainsFunc(c.Dates, func(n int64) bool {
		return 2*n > c.Plain+c.Text
	})
}

// NamesUnit reports whether a column name indicates an identifier of persons or things, such as patient_id, "Customer
// No" or userId.
func NamesUnit(name string) bool {
	words := wordsOf(name)
	for _, word := range words {
		if slices.Contains(
			[]string{"id", "ids", "uuid", "guid", "identifier", "pseudonym", "ssn", "mrn", "nhs",
				"iban", "pid", "uid", "email", "mail", "login", "username"}, word) {
			return true
		}
	}
	whose := []string{"patient", "person", "user", "customer", "client", "subject", "participant",
		"member", "student", "pupil",
		"employee", "respondent", "household", "account", "policyholder", "applicant", "borrower",
		"driver", "tenant", "donor", "owner", "resident", "citizen", "player", "visitor"}
	numbers := []string{"no", "nr", "num", "number", "code", "key", "ref", "name", "hash", "token"}
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(word string) bool {
			return slices.Contains(list, word)
		})
	}
	return has(whose) && (len(words) == 1 || has(numbers))
}

// wordsOf splits a name at punctuation, at digits, and between a lower-case and an upper-case letter.
func wordsOf(name string) []string {
	var b strings.Builder
	small := false
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c):
			b.WriteRune(' ')
		case unicode.IsUpper(c) && small:
			b.WriteRune(' ')
			b.WriteRune(unicode.ToLower(c))
		default:
			b.WriteRune(unicode.ToLower(c))
		}
		small = unicode.IsLower(c)
	}
	return strings.Fields(b.String())
}
