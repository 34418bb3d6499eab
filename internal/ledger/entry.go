package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dptrain/dptrain/budget"
)

// Format is the version of the file, written in its first entry. An upgrade entry turns a file of an earlier version
// into this version, before the first entry that the earlier version does not have. Version 2 added spends and the
// notes of runs, version 3 the mu of runs, and version 4 the nonce and the table file of runs, the release of commits,
// plans with a lead, and the charge of runs that stopped.
const (
	Format      = "dptrain.ledger/4"
	formatThree = "dptrain.ledger/3"
	formatTwo   = "dptrain.ledger/2"
	formatOne   = "dptrain.ledger/1"
)

// readableFormats lists the readable versions, oldest first.
func readableFormats() []string {
	return []string{formatOne, formatTwo, formatThree, Format}
}

// isKnownFormat reports whether this program can read entries of a format.
func isKnownFormat(format string) bool {
	return slices.Contains(readableFormats(), format)
}

// Kind is the type of an entry.
type Kind string

// The kinds of entries.
const (
	KindOpen     Kind = "open"     // the first entry: the format
	KindRegister Kind = "register" // a data set and its total
	KindReserve  Kind = "reserve"  // a run, before it read a row; it is spent from here on
	KindCommit   Kind = "commit"   // the run ended and may have released its results
	KindNote     Kind = "note"     // an operation of price 0 whose result only the curator sees
	KindSpend    Kind = "spend"    // a release of another tool; since version 2
	KindUpgrade  Kind = "upgrade"  // the format of the entries from here on
)

// An Entry is one link of the chain. Its canonical form is the JSON that [Encode] writes: the keys in this order, no
// spaces, numbers in the shortest form.
type Entry struct {
	Sequence int64    `json:"sequence"`          // from 1
	Previous string   `json:"previous"`          // hash of the entry before, in hex; empty for the first
	Kind     Kind     `json:"kind"`              //
	Date     string   `json:"date,omitempty"`    // UTC, RFC 3339; absent in a commit, whose time depends on the rows
	Format   string   `json:"format,omitempty"`  // open, upgrade
	Dataset  *Dataset `json:"dataset,omitempty"` // register
	Run      *Run     `json:"run,omitempty"`     // reserve
	Of       int64    `json:"of,omitempty"`      // commit: the sequence of its reservation
	Release  string   `json:"release,omitempty"` // commit: the checksum of the release, in hex; since version 4
	// Charge is set in the commit of a run that stopped after its lead: the cost of the run, in place of its
	// reservation; since version 4.
	Charge *budget.Charge `json:"charge,omitempty"`
	Note   *Note          `json:"note,omitempty"`  // note
	Spend  *Spend         `json:"spend,omitempty"` // spend
}

// needsLaterFormat reports whether the entry requires a later version than format.
func (e *Entry) needsLaterFormat(format string) bool {
	needs := formatOne
	switch {
	case e.Release != "", e.Charge != nil,
		e.Run != nil && (e.Run.Nonce != "" || e.Run.File != "" || e.Run.Plan.Lead),
		e.Note != nil && e.Note.File != "":
		needs = Format
	case e.Run != nil && e.Run.Mu != 0:
		needs = formatThree
	case e.Kind == KindSpend || e.Run != nil && e.Run.Note != "":
		needs = formatTwo
	}
	return slices.Index(readableFormats(), format) < slices.Index(readableFormats(), needs)
}

// Dataset is a registered data set. Limit is the total in the currency.
type Dataset struct {
	Name     string        `json:"name"`
	Relation string        `json:"relation"`
	Private  []string      `json:"private,omitempty"` // the columns protected by substitute-private-columns
	Unit     string        `json:"unit,omitempty"`    // column that identifies who is protected; absent: one record
	Epsilon  float64       `json:"epsilon"`
	Delta    float64       `json:"delta"`
	BlackBox float64       `json:"black_box_delta"` // the part of Delta that black boxes may spend
	Currency string        `json:"currency"`        // "zcdp" or "gdp"
	Limit    budget.Charge `json:"limit"`
}

// Total returns the total as a budget.Total.
func (d *Dataset) Total() (budget.Total, error) {
	t := budget.Total{
		Epsilon:  d.Epsilon,
		Delta:    d.Delta,
		BlackBox: d.BlackBox,
		Unit:     d.Unit,
	}
	var err error
	if t.Relation, err = budget.ParseRelation(d.Relation); err != nil {
		return t, err
	}
	if t.Currency, err = budget.ParseCurrency(d.Currency); err != nil {
		return t, err
	}
	return t, t.Validate()
}

// Run is the content of a reservation: the priced plan and public facts about the run.
type Run struct {
	Dataset  string  `json:"dataset"`
	Table    string  `json:"table,omitempty"` // path of the table, for the owner and for bench
	Method   string  `json:"method"`
	Target   string  `json:"target"` // the column that is predicted
	Epsilon  float64 `json:"epsilon"`
	Delta    float64 `json:"delta"`
	Relation string  `json:"relation"`
	// Public lists the columns that the run reads without protecting them, under substitute-private-columns.
	Public []string `json:"public,omitempty"`
	// Unit is the column that identifies the protected units, and MaxRows the number of records of each that the run
	// keeps. Both are absent if the unit is one record.
	Unit    string `json:"unit,omitempty"`
	MaxRows int    `json:"max_rows,omitempty"`
	// Records is the run's record rule. It is absent for tables that leave no choice, and in entries older than the
	// key.
	Records Records `json:"records,omitempty"`
	// CuratorNotes marks a run that writes exact facts for the data owner, which no guarantee covers.
	CuratorNotes bool          `json:"curator_notes"`
	Charge       budget.Charge `json:"charge"`
	Plan         Step          `json:"plan"`
	Note         string        `json:"note,omitempty"` // a label of the caller; since version 2
	// Mu is the mu of the Gaussian distribution by which the run is charged, except for the lead of its plan; see
	// [budget.CoverCharge]. It is 0 if the charge is the sum of the steps. Since version 3.
	Mu float64 `json:"mu,omitempty"`
	// Nonce is 128 random bits in hex, also written in the report of the run. It distinguishes two runs entered at the
	// same position because the file was rolled back between them. Since version 4.
	Nonce string `json:"nonce,omitempty"`
	// File identifies the table on this machine by device and inode, so that other names of it (hard links, bind
	// mounts) are recognised. It is empty on systems without them. Since version 4.
	File string `json:"file,omitempty"`
}

// Records is the rule by which a run splits a text file into records.
type Records string

// The record rules differ in a line with an unclosed quote: it is one record, or continues up to the line that closes
// the quote.
const (
	RecordsUnstated Records = ""       // determined by the file format
	RecordsLines    Records = "lines"  // every line
	RecordsQuoted   Records = "quoted" // a quoted field may hold newlines
)

// A Head identifies an entry by its position and its hash.
type Head struct {
	Sequence int64
	Hash     string // SHA-256 of the entry, 64 hex digits
}

// String returns "sequence:hash".
func (h Head) String() string {
	return strconv.FormatInt(h.Sequence, 10) + ":" + h.Hash
}

// ParseHead parses the format of String. The error wraps ErrInvalid.
func ParseHead(s string) (Head, error) {
	number, hash, _ := strings.Cut(strings.TrimSpace(s), ":")
	n, err := strconv.ParseInt(number, 10, 64)
	raw, err2 := hex.DecodeString(hash)
	if err != nil || err2 != nil || n < 1 || len(raw) != sha256.Size ||
		hex.EncodeToString(raw) != hash {
		return Head{},
			fmt.Errorf(
				"%w: %.80q is not a head, which is an entry number, a colon and 64 hex digits",
				ErrInvalid, s)
	}
	return Head{n, hash}, nil
}

// Encode returns the canonical form of an entry.
func (e *Entry) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrInvalid, err)
	}
	if b.Len() > maxEntry {
		return nil, fmt.Errorf("%w: an entry of %d bytes is too long", ErrInvalid, b.Len())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// maxEntry is the size limit of an entry in bytes.
const maxEntry = 1 << 20

// decodeEntry decodes an entry and refuses any but the canonical form.
func decodeEntry(data []byte) (*Entry, error) {
	if len(data) > maxEntry {
		return nil, fmt.Errorf("%w: an entry of %d bytes", ErrDamaged, len(data))
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	e := new(Entry)
	if err := dec.Decode(e); err != nil {
		return nil, fmt.Errorf("%w: an entry is not JSON of the known keys", ErrDamaged)
	}
	again, err := e.Encode()
	if err != nil || !bytes.Equal(again, data) {
		return nil, fmt.Errorf("%w: an entry is not in canonical form", ErrDamaged)
	}
	return e, nil
}

// hashOf returns the hash of an entry's canonical form, in hex.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// checkHex refuses text unless it is size bytes in lower-case hex digits. what names it in the message.
func checkHex(what, text string, size int) error {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != size || hex.EncodeToString(raw) != text {
		return fmt.Errorf(
			"%w: %.80q is not a %s of %d hex digits",
			ErrInvalid,
			text,
			what,
			2*size,
		)
	}
	return nil
}

// nonceSize is the number of bytes of a nonce.
const nonceSize = 16

// checkNote refuses a note that is longer than 200 bytes or not printable.
func checkNote(note string) error {
	if len(note) > 200 || strings.ContainsFunc(note, isUnprintable) {
		return fmt.Errorf("%w: the note %.220q must be printable text of at most 200 bytes",
			ErrInvalid, note)
	}
	return nil
}

// isUnprintable reports whether c is invisible or invalid.
func isUnprintable(c rune) bool {
	return !unicode.IsPrint(c) || c == utf8.RuneError
}

// checkName refuses names of data sets that are ambiguous on a terminal.
func checkName(name string) error {
	if name == "" || len(name) > 200 || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, isUnprintable) {
		return fmt.Errorf(
			"%w: the data set name %.220q must be 1 to 200 bytes of printable text without surrounding spaces",
			ErrInvalid, name)
	}
	return nil
}
