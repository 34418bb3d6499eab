package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dptrain/dptrain/budget"
)

// A Book is a checked snapshot of a ledger: the chain is intact, every charge belongs to a registered data set, and no
// total is crossed. It does not change.
type Book struct {
	Entries  []*Entry
	Datasets []*Account // in the order of registration
	hashes   []string   // hashes of Entries
	runs     map[int64]place
	nonces   map[string]bool // of the runs; nil in a book of sums only
	format   string          // the last that an entry states
	sums     *sums           // for a book of sums only, whose entries and runs stay in the store; otherwise nil
}

// place locates a run by the indexes of its account and of the run in the account.
type place struct{ account, run int }

// Account returns the data set with the given name. The error wraps ErrUnknown.
func (b *Book) Account(name string) (*Account, error) {
	for _, a := range b.Datasets {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("%w %.220q; there %s", ErrUnknown, name, b.describeNames())
}

// describeNames lists the registered data sets for a message, at most five by name.
func (b *Book) describeNames() string {
	const maxNames = 5
	names := make([]string, 0, maxNames)
	for _, a := range b.Datasets[:min(maxNames, len(b.Datasets))] {
		names = append(names, fmt.Sprintf("%.220q", a.Name))
	}
	switch n := len(b.Datasets); {
	case n == 0:
		return "is none yet"
	case n == 1:
		return "is only " + names[0]
	case n > maxNames:
		return fmt.Sprintf("are %s and %d more", strings.Join(names, ", "), n-maxNames)
	}
	return "are " + strings.Join(names, ", ")
}

// Head returns the head of the chain.
func (b *Book) Head() Head {
	if b.sums != nil {
		return b.sums.top
	}
	n := len(b.Entries)
	if n == 0 {
		return Head{}
	}
	return Head{int64(n), b.hashes[n-1]}
}

// Contains reports whether h is in the chain, that is, whether all entries up to h are still present and unchanged.
func (b *Book) Contains(h Head) bool {
	if b.sums != nil {
		_, hash, err := b.sums.entryAt(h.Sequence)
		return err == nil && hash == h.Hash
	}
	return h.Sequence >= 1 && h.Sequence <= int64(len(b.hashes)) && b.hashes[h.Sequence-1] == h.Hash
}

// damagedError returns an error wrapping ErrDamaged that names the damaged entry.
func damagedError(sequence int, format string, args ...any) error {
	return fmt.Errorf(
		"%w: entry %d: %s",
		ErrDamaged,
		sequence,
		fmt.Sprintf(format, args...),
	)
}

// readBook checks the chain of entries against its head and sums them up.
func readBook(raw [][]byte, head string) (*Book, error) {
	if len(raw) > 0 {
		if err := checkVersion(raw[0]); err != nil {
			return nil, err
		}
	}
	hashes, err := checkChain(raw, head)
	if err != nil {
		return nil, err
	}
	b := &Book{
		hashes: hashes,
		runs:   map[int64]place{},
		nonces: map[string]bool{},
	}
	for i, data := range raw {
		e, err := decodeEntry(data)
		if err != nil {
			return nil, damagedError(i+1, "it was not written by dptrain")
		}
		if err := b.applyEntry(e); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// checkChain checks only sequence numbers and hashes, with which the canonical form of every entry starts. It returns
// the hashes.
func checkChain(raw [][]byte, head string) ([]string, error) {
	hashes := make([]string, len(raw))
	previous := ""
	for i, data := range raw {
		if !bytes.HasPrefix(data,
			fmt.Appendf(nil, `{"sequence":%d,"previous":"%s",`, i+1, previous)) {
			return nil,
				damagedError(i+1,
					"it does not follow from the previous entry: one of them was edited, or entries between them were removed")
		}
		previous = hashOf(data)
		hashes[i] = previous
	}
	if len(raw) == 0 || previous != head {
		return nil,
			fmt.Errorf(
				"%w: the last entry, number %d, is not the head of the chain: it was edited, or later entries were removed",
				ErrDamaged, len(raw))
	}
	return hashes, nil
}

// checkVersion checks the format of the first entry, which in a later version may have other keys.
func checkVersion(first []byte) error {
	var e struct {
		Format string `json:"format"`
	}
	if json.Unmarshal(first, &e) == nil && !isKnownFormat(e.Format) &&
		strings.HasPrefix(e.Format, "dptrain.ledger/") {
		return fmt.Errorf("%w: the ledger has format %.60q, but this version of dptrain reads %q; use a later version", ErrVersion,
			e.Format, Format)
	}
	return nil
}

// applyEntry checks and applies an entry by the rules of its kind.
func (b *Book) applyEntry(e *Entry) error {
	n := int(e.Sequence)
	fields := [...]bool{e.Format != "", e.Dataset != nil, e.Run != nil, e.Of != 0, e.Date != "",
		e.Note != nil, e.Spend != nil, e.Release != "", e.Charge != nil}
	var want [9]bool
	var err error
	switch {
	case (e.Kind == KindOpen) != (n == 1):
		return damagedError(n, "its kind is %.20q", e.Kind)
	case e.Kind == KindOpen:
		want = [9]bool{0: true, 4: true}
		err = b.applyOpening(e.Format)
	case e.Kind == KindUpgrade:
		want = [9]bool{0: true, 4: true}
		err = b.applyUpgrade(e.Format)
	case e.Kind == KindRegister && e.Dataset != nil:
		want = [9]bool{1: true, 4: true}
		err = b.applyRegistration(e.Dataset)
	case e.Kind == KindReserve && e.Run != nil:
		want = [9]bool{2: true, 4: true}
		err = b.applyReservation(e)
	case e.Kind == KindCommit:
		want = [9]bool{
			3: true,
			7: e.Release != "",
			8: e.Charge != nil,
		}
		err = b.applyCommit(e.Of, e.Release, e.Charge)
	case e.Kind == KindNote && e.Note != nil:
		want = [9]bool{4: true, 5: true}
		err = b.applyNote(e)
	case e.Kind == KindSpend && e.Spend != nil:
		want = [9]bool{4: true, 6: true}
		err = b.applySpend(e)
	default:
		return damagedError(n, "its kind is %.20q", e.Kind)
	}
	if err != nil {
		return damagedError(n, "%v", err)
	}
	if fields != want {
		return damagedError(n, "it has keys of another kind")
	}
	if e.needsLaterFormat(b.format) {
		return damagedError(n, "it has a later version than the ledger")
	}
	if _, err := time.Parse(time.RFC3339, e.Date); e.Date != "" && err != nil {
		return damagedError(n, "its date is invalid")
	}
	b.Entries = append(b.Entries, e)
	return nil
}

// applyOpening applies the first entry.
func (b *Book) applyOpening(format string) error {
	if !isKnownFormat(format) {
		return errors.New("its format is invalid")
	}
	b.format = format
	return nil
}

// applyUpgrade raises the format version of the ledger.
func (b *Book) applyUpgrade(format string) error {
	if !isKnownFormat(format) {
		return errors.New("its format is invalid")
	}
	if format <= b.format { // the names are in the order of the versions
		return errors.New("the ledger already has that version")
	}
	b.format = format
	return nil
}

// setHead makes h the head.
func (b *Book) setHead(h Head) {
	if b.sums != nil {
		b.sums.top = h
		return
	}
	b.hashes = append(b.hashes, h.Hash)
}

func (b *Book) applyRegistration(d *Dataset) error {
	if err := checkName(d.Name); err != nil {
		return err
	}
	if _, err := b.Account(d.Name); err == nil {
		return fmt.Errorf("%w: %q", ErrExists, d.Name)
	}
	total, err := d.Total()
	if err != nil {
		return err
	}
	if err := checkPrivate(total.Relation, d.Private); err != nil {
		return err
	}
	limit, err := total.Limit()
	if err != nil {
		return err
	}
	if !d.Limit.Valid() || !isClose(d.Limit.Cost, limit.Cost) ||
		!isClose(d.Limit.Delta, limit.Delta) {
		return errors.New("the limit does not match the total")
	}
	b.Datasets = append(b.Datasets, &Account{
		Dataset: *d,
		Promise: total,
	})
	return nil
}

// isClose compares amounts that two machines computed from the same numbers; their last bits may differ.
func isClose(a, b int64) bool {
	return math.Abs(float64(a)-float64(b)) <= 1+1e-9*float64(b)
}

func (b *Book) applyReservation(e *Entry) error {
	r := e.Run
	a, err := b.Account(r.Dataset)
	switch {
	case err != nil:
		return err
	case r.Relation != a.Relation:
		return ErrRelation
	case r.Unit != a.Unit || (r.Unit == "") != (r.MaxRows == 0) || r.MaxRows < 0 ||
		r.MaxRows > budget.MaxUnitRows:
		return ErrUnit
	case !r.Charge.Valid() || r.Charge.Cost == 0 && r.Charge.Delta == 0:
		return errors.New("it costs nothing")
	}
	if err := a.CheckPublic(r.Public); err != nil {
		return err
	}
	if err := a.CheckRecords(r.Records); err != nil {
		return err
	}
	if err := checkNote(r.Note); err != nil {
		return err
	}
	if err := b.checkNonce(r.Nonce); err != nil {
		return err
	}
	if err := a.Refuse(r.Charge); err != nil {
		return err
	}
	if a.Records == RecordsUnstated {
		a.Records = r.Records
	}
	if b.nonces != nil && r.Nonce != "" {
		b.nonces[r.Nonce] = true
	}
	b.runs[e.Sequence] = place{slices.Index(b.Datasets, a), len(a.Runs)}
	a.Reserved = a.Reserved.Plus(r.Charge)
	a.Runs = append(a.Runs, RunState{
		Run:      r,
		Sequence: e.Sequence,
		Date:     e.Date,
	})
	return nil
}

// checkNonce refuses a run without a nonce or with the nonce of another run. A book of sums has no other runs to
// compare with.
func (b *Book) checkNonce(nonce string) error {
	if nonce == "" && b.format != Format {
		return nil
	}
	if err := checkHex("nonce", nonce, nonceSize); err != nil {
		return err
	}
	if b.nonces[nonce] {
		return fmt.Errorf("%w: its nonce belongs to another run", ErrInvalid)
	}
	return nil
}

// applyCommit ends a run with a release. stopped is its cost if it stopped after its lead, and nil otherwise.
// [Book.audit] compares it with the plan.
func (b *Book) applyCommit(
	of int64,
	release string,
	stopped *budget.Charge,
) error {
	a, r, err := b.reservedRun(of)
	if err != nil {
		return err
	}
	if r.Committed {
		return ErrCommitted
	}
	if release != "" || r.Nonce != "" {
		if err := checkHex("checksum of a release", release, sha256.Size); err != nil {
			return err
		}
	}
	spent := r.Charge
	if stopped != nil {
		if spent = *stopped; !spent.Valid() || !spent.FitsIn(r.Charge) {
			return errors.New("it costs more than was reserved")
		}
	}
	r.Committed = true
	r.Release = release
	r.Stopped = stopped
	a.Reserved = a.Reserved.Left(r.Charge)
	a.Committed = a.Committed.Plus(spent)
	return nil
}

// reservedRun returns a reservation and its account.
func (b *Book) reservedRun(of int64) (*Account, *RunState, error) {
	if at, ok := b.runs[of]; ok {
		a := b.Datasets[at.account]
		return a, &a.Runs[at.run], nil
	}
	none := fmt.Errorf("%w: there is no reservation %d", ErrInvalid, of)
	if b.sums == nil {
		return nil, nil, none
	}
	e, _, err := b.sums.entryAt(of)
	if err != nil || e.Kind != KindReserve || e.Run == nil {
		return nil, nil, none
	}
	a, err := b.Account(e.Run.Dataset)
	if err != nil {
		return nil, nil, err
	}
	release, committed := b.sums.committedRelease(of)
	return a,
		&RunState{
			Run:       e.Run,
			Sequence:  of,
			Date:      e.Date,
			Committed: committed,
			Release:   release,
		},
		nil
}

// otherDatasets returns the data sets other than name that a table was used for, under the path table or under another
// path of the same file.
func (b *Book) otherDatasets(table, file, name string) []string {
	if table == "" {
		return nil
	}
	var names []string
	if b.sums != nil {
		names = b.sums.usedFor(table)
		for _, x := range b.sums.usedAs(file) {
			if sameFile(x.Path, table) {
				names = append(names, x.Dataset)
			}
		}
	}
	isTable := func(path, id string) bool {
		return path == table || file != "" && id == file && sameFile(path, table)
	}
	for _, a := range b.Datasets {
		used := slices.ContainsFunc(a.Runs, func(r RunState) bool {
			return isTable(r.Table, r.File)
		}) ||
			slices.ContainsFunc(a.Notes, func(n NoteState) bool {
				return isTable(n.Table, n.File)
			})
		if used {
			names = append(names, a.Name)
		}
	}
	var others []string
	for _, other := range names {
		if other != name && !slices.Contains(others, other) {
			others = append(others, other)
		}
	}
	return others
}

// sameFile reports whether two paths currently name the same file. Recorded device and inode numbers alone are no
// proof, since the system may reuse those of a removed file.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// auditPrices recomputes the price of every run's plan and of every spend and compares it with the entry. It is
// slower than reading.
func (b *Book) auditPrices() error {
	for _, a := range b.Datasets {
		for _, x := range a.Spends {
			want, err := x.Price(a.Promise.Currency)
			if err != nil || !isClose(x.Charge.Cost, want.Cost) ||
				!isClose(x.Charge.Delta, want.Delta) {
				return damagedError(int(x.Sequence), "its charge does not match its price")
			}
		}
		for _, r := range a.Runs {
			if !(r.Mu >= 0) || math.IsInf(r.Mu, 1) {
				return damagedError(int(r.Sequence), "its mu is invalid")
			}
			want, err := r.recomputePrice(a.Promise.Currency)
			if err != nil {
				return damagedError(
					int(r.Sequence),
					"its plan cannot be priced: %v",
					err,
				)
			}
			if !isClose(r.Charge.Cost, want.Cost) || !isClose(r.Charge.Delta, want.Delta) {
				return damagedError(int(r.Sequence), "its charge does not match the price of its plan")
			}
			if r.Stopped == nil {
				continue
			}
			if want, err = r.stopPrice(a.Promise.Currency); err != nil ||
				!isClose(r.Stopped.Cost, want.Cost) || !isClose(r.Stopped.Delta, want.Delta) {
				return damagedError(int(r.Sequence),
					"the run stopped, but it was not charged for the first step of its plan")
			}
		}
	}
	return nil
}
