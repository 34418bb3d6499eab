package cell

import "strings"

// Names finds the listed name that a text denotes: one of the categories of a column, or one of the classes of
// a target. The names are public, and the result for a text depends on the names and that text alone.
//
// A text that is a listed name, by the rule for texts, is that name, even if it is a marker of a missing value.
// Other markers of missing values have no value. Then come spellings that depend on the program that wrote the
// table, if the list leaves no doubt which name they mean:
//
//   - whole numbers: 1.0 is 1 if only one listed name is that number, and 1 is 1.0;
//   - booleans: true, True, TRUE, t, T, 1 and 1.0 are one value, and so are their opposites, if the list has one
//     name for each, either as words, or as the letters t and f alone, or as the numbers 1 and 0 alone.
//
// Names of columns that cut texts or hash them have no such spellings.
type Names struct {
	rule      Text
	codes     map[string]int32
	spellings map[string]int32 // by spellingKey of a text
	decimal   byte
	none      int32 // the code of a cell without a value
	others    int32 // the code of a text that is not a listed name
}

// NewNames returns the finder for a list of names, whose codes are their positions in it. decimal is the
// decimal mark of the table; 0 for a point. If two names have one value, the later name is used.
func NewNames(list []string, rule Text, decimal byte) *Names {
	others := int32(len(list)) //nolint:gosec // lists are short
	n := &Names{
		rule:    rule,
		codes:   make(map[string]int32, len(list)),
		decimal: markOf(decimal),
		none:    others,
		others:  others,
	}
	for k, name := range list {
		n.codes[Normal(name)] = int32(k) //nolint:gosec // lists are short
	}
	if k, listed := n.codes[""]; listed {
		n.none = k
	}
	if rule.Prefix == 0 && rule.Hash == 0 {
		n.spellings = spellingsOf(list, n.decimal)
	}
	return n
}

// markOf returns the decimal mark that a rule declares.
func markOf(declared byte) byte {
	if declared == ',' {
		return ','
	}
	return '.'
}

// Find returns the code of the name that a text denotes, with the class [Good]. A cell without a value is the
// empty name, if that is listed. Every other text has the code after the last one.
func (n *Names) Find(text string) (code int32, class Class) {
	text = Normal(text)
	value := text
	if !n.rule.Exact() {
		value = n.rule.Value(text)
	}
	if k, listed := n.codes[value]; listed {
		return k, Good
	}
	if MissingWord(text) || isInfinite(text) {
		return n.none, Missing
	}
	if n.spellings != nil {
		if k, known := n.spellings[spellingKey(value, n.decimal)]; known {
			return k, Good
		}
	}
	return n.others, Unlisted
}

// FindValue returns the code of a value, which is a text after the rule for texts. Tables hold values, and to
// apply the rule twice would hash a bucket. A text that is not a listed value is found as by [Names.Find].
func (n *Names) FindValue(value string) int32 {
	if k, listed := n.codes[value]; listed {
		return k
	}
	k, _ := n.Find(value)
	return k
}

// Others returns the code of a text that is not a listed name: the length of the list.
func (n *Names) Others() int32 {
	return n.others
}

// Known returns the code of a text that equals a listed name byte for byte. It does not allocate. For any other text
// use [Names.Find].
func (n *Names) Known(text []byte) (code int32, known bool) {
	if !n.rule.Exact() {
		return 0, false
	}
	code, known = n.codes[string(text)]
	return code, known
}

// Spellings returns the codes of spellings by key. The key is the text itself for the spellings that programs
// know: true, t, false and f in lower case, and whole numbers without a point. The map must not be changed.
func (n *Names) Spellings() map[string]int32 {
	return n.spellings
}

// Texts returns the codes of texts, for export formats that hold a list and cannot compute: the names, their
// usual spellings, and markers of missing values, if the list has a name for those. Texts are as [Normal]
// returns them.
func (n *Names) Texts() map[string]int32 {
	out := map[string]int32{}
	for key, code := range n.spellings {
		for _, text := range writtenAs(key, n.decimal) {
			out[text] = code
		}
	}
	if n.none != n.others {
		for _, word := range MissingWords() {
			out[word] = n.none
		}
	}
	for name, code := range n.codes {
		out[name] = code
	}
	return out
}

// writtenAs returns the usual texts with a spelling key.
func writtenAs(key string, decimal byte) []string {
	zero := string(rune(decimal)) + "0"
	switch {
	case key == "0":
		return []string{key, key + zero, "-0", "-0" + zero}
	case BooleanWord(key) == "":
		return []string{key, key + zero}
	}
	return []string{key, strings.ToUpper(key), strings.ToUpper(key[:1]) + key[1:]}
}

// spellingKey returns the form that all spellings of a whole number or of a boolean share, and "" for other texts.
func spellingKey(text string, decimal byte) string {
	if whole := WholeNumber(text, decimal); whole != "" {
		return whole
	}
	return BooleanWord(text)
}

// WholeNumber returns the digits of a whole number, whose decimals are all zero; "" for other texts. A text
// with leading zeros, such as 007, is a code and not a number. decimal is the decimal mark; 0 for a point.
func WholeNumber(text string, decimal byte) string {
	whole, zeros, pointed := strings.Cut(text, string(rune(markOf(decimal))))
	digits := strings.TrimPrefix(whole, "-")
	switch {
	case digits == "" || strings.Trim(digits, "0123456789") != "" ||
		digits[0] == '0' && len(digits) > 1:
		return ""
	case pointed && (zeros == "" || strings.Trim(zeros, "0") != ""):
		return ""
	case digits == "0":
		return "0"
	}
	return whole
}

// BooleanWord returns true, false, t or f in lower case for a text that is one of these in any case; "" for
// others.
func BooleanWord(text string) string {
	if len(text) > len("false") {
		return ""
	}
	switch word := strings.ToLower(text); word {
	case "true", "false", "t", "f":
		return word
	}
	return ""
}

// spellingsOf returns the codes of other spellings of the names of a list.
func spellingsOf(list []string, decimal byte) map[string]int32 {
	out := map[string]int32{}
	doubtful := map[string]bool{}
	add := func(key string, code int32) {
		if _, twice := out[key]; twice {
			doubtful[key] = true
		}
		out[key] = code
	}
	booleans := booleanList{others: true}
	for k, name := range list {
		name, code := Normal(name), int32(k) //nolint:gosec // lists are short
		if whole := WholeNumber(name, decimal); whole != "" {
			add(whole, code)
		}
		booleans.addName(name, code, decimal)
	}
	for key := range doubtful {
		delete(out, key)
	}
	for key, code := range booleans.spellingCodes() {
		if _, whole := out[key]; !whole && !doubtful[key] {
			out[key] = code
		}
	}
	return out
}

// A booleanList collects the names of a list that may be booleans.
type booleanList struct {
	found   map[string][]int32 // by true, false, t, f, 1 and 0: codes of the names with this spelling
	numbers bool               // another name is a whole number
	others  bool               // only markers of missing values are absent from found
}

// addName adds a name.
func (b *booleanList) addName(name string, code int32, decimal byte) {
	key := spellingKey(name, decimal)
	switch key {
	case "true", "false", "t", "f", "1", "0":
		if b.found == nil {
			b.found = map[string][]int32{}
		}
		b.found[key] = append(b.found[key], code)
	case "":
		b.others = b.others && MissingWord(name)
	default:
		b.numbers = true
		b.others = false
	}
}

// spellingCodes returns the codes by key for all spellings of the two values.
func (b *booleanList) spellingCodes() map[string]int32 {
	none := func(keys ...string) bool {
		for _, key := range keys {
			if len(b.found[key]) > 0 {
				return false
			}
		}
		return true
	}
	pair := func(yes, no string) bool {
		return len(b.found[yes]) == 1 && len(b.found[no]) == 1
	}
	out := map[string]int32{}
	spell := func(name string, keys ...string) {
		if len(b.found[name]) == 1 {
			for _, key := range keys {
				out[key] = b.found[name][0]
			}
		}
	}
	letters := none("t", "f")
	digits := none("1", "0")
	switch {
	case !none("true", "false"):
		spell("true", "true")
		spell("false", "false")
		if letters {
			spell("true", "t")
			spell("false", "f")
		}
		if digits && !b.numbers {
			spell("true", "1")
			spell("false", "0")
		}
	case pair("t", "f") && digits && b.others:
		spell("t", "true", "t", "1")
		spell("f", "false", "f", "0")
	case pair("1", "0") && letters && b.others:
		spell("1", "true", "t")
		spell("0", "false", "f")
	}
	return out
}
