package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	bolt "go.etcd.io/bbolt"
)

// A tally holds the sums over all entries up to a given entry. It is stored next to the entries, so that the cost of
// an operation does not depend on their number: the operation checks the last entry, adds its own and rewrites the
// tally. The tally is derived from the entries. If it is absent, damaged or of another entry (earlier programs write
// no tally), the whole chain is checked and summed up; [Ledger.Read] and [Ledger.Verify] always do this and compare.
type tally struct {
	Entries  int64          `json:"entries"`
	Head     string         `json:"head"`   // hash of the last entry
	Format   string         `json:"format"` // format of the last entries
	Datasets []tallyAccount `json:"datasets"`
}

type tallyAccount struct {
	Dataset   *Dataset      `json:"dataset"`
	Reserved  budget.Charge `json:"reserved"`
	Committed budget.Charge `json:"committed"`
	Records   Records       `json:"records,omitempty"`
}

// The buckets derived from the entries: the tally under a single key; by the sequence of each committed reservation,
// the checksum of its release, or a byte of 1 if the entry does not have it; by the hash of a table's path, the data
// sets that used the table, a list in JSON; and by the hash of its device and inode, the same with the paths.
func tallyBucket() []byte {
	return []byte("tally")
}
func tallyKey() []byte {
	return []byte("tally")
}
func doneBucket() []byte {
	return []byte("done")
}
func tablesBucket() []byte {
	return []byte("tables")
}

func tableKey(path string) []byte {
	sum := sha256.Sum256([]byte(path))
	return sum[:]
}

// fileKey is the key of a table by its device and inode. Its prefix occurs in no path.
func fileKey(id string) []byte {
	return tableKey("\x00file " + id)
}

// pathsFor returns the keys that an operation looks up for the reservation of (0: no reservation) and the table at
// path ("": no table) with the given file identity ("": unknown).
func pathsFor(of int64, path, file string) keyPaths {
	paths := keyPaths{
		string(headBucket()): {headKey()}, string(tallyBucket()): {tallyKey()},
		string(entriesBucket()): {entryKey(-1)}, // the last
	}
	if of > 0 {
		paths[string(entriesBucket())] = append(paths[string(entriesBucket())], entryKey(of))
		paths[string(doneBucket())] = [][]byte{entryKey(of)}
	}
	if path != "" {
		paths[string(tablesBucket())] = [][]byte{tableKey(path), fileKey(file)}
	}
	return paths
}

// addChecksum prefixes text with its SHA-256.
func addChecksum(text []byte) []byte {
	return append([]byte(hashOf(text)+"\n"), text...)
}

// verifyChecksum returns the text given to addChecksum, or nil if data is damaged.
func verifyChecksum(data []byte) []byte {
	hash, text, ok := bytes.Cut(data, []byte("\n"))
	if !ok || hashOf(text) != string(hash) {
		return nil
	}
	return text
}

// newTally returns the tally of a book.
func (b *Book) newTally() *tally {
	head := b.Head()
	t := &tally{
		Entries:  head.Sequence,
		Head:     head.Hash,
		Format:   b.format,
		Datasets: []tallyAccount{},
	}
	for _, a := range b.Datasets {
		t.Datasets = append(t.Datasets,
			tallyAccount{&a.Dataset, a.Reserved, a.Committed, a.Records})
	}
	return t
}

func (t *tally) encode() ([]byte, error) {
	text, err := json.Marshal(t)
	return addChecksum(text), err
}

// storedTally returns the tally in the store, or nil if it is absent or damaged.
func storedTally(tx *bolt.Tx) *tally {
	bucket := tx.Bucket(tallyBucket())
	if bucket == nil {
		return nil
	}
	text := verifyChecksum(bucket.Get(tallyKey()))
	if text == nil {
		return nil
	}
	t := new(tally)
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if dec.Decode(t) != nil {
		return nil
	}
	return t
}

// storedSums returns a book of sums if the store has the sums of its last entry, and nil otherwise.
func storedSums(tx *bolt.Tx) *Book {
	t := storedTally(tx)
	list := tx.Bucket(entriesBucket())
	top := tx.Bucket(headBucket())
	if t == nil || list == nil || top == nil || string(top.Get(headKey())) != t.Head ||
		!isKnownFormat(t.Format) {
		return nil
	}
	key, last := list.Cursor().Last()
	if !bytes.Equal(key, entryKey(t.Entries)) || hashOf(last) != t.Head {
		return nil
	}
	b := &Book{
		runs:   map[int64]place{},
		sums:   &sums{tx: tx, top: Head{t.Entries, t.Head}},
		format: t.Format,
	}
	for _, x := range t.Datasets {
		if x.Dataset == nil {
			return nil
		}
		total, err := x.Dataset.Total()
		if err != nil || !x.Dataset.Limit.Valid() || !x.Reserved.Valid() || !x.Committed.Valid() {
			return nil
		}
		b.Datasets = append(b.Datasets, &Account{
			Dataset:   *x.Dataset,
			Promise:   total,
			Reserved:  x.Reserved,
			Committed: x.Committed,
			Records:   x.Records,
		})
	}
	return b
}

// sums looks up, in the store, entries and runs that a book of sums does not hold.
type sums struct {
	tx  *bolt.Tx
	top Head
}

// entryAt returns an entry and its hash. The error wraps ErrDamaged.
func (s *sums) entryAt(sequence int64) (*Entry, string, error) {
	data := s.tx.Bucket(entriesBucket()).Get(entryKey(sequence))
	if data == nil {
		return nil, "", damagedError(int(sequence), "it is not there")
	}
	e, err := decodeEntry(data)
	if err != nil || e.Sequence != sequence {
		return nil, "", damagedError(int(sequence), "it was not written by dptrain")
	}
	return e, hashOf(data), nil
}

// committedRelease reports whether a reservation was committed, and returns the checksum of its release, or "" if the
// commit does not have it.
func (s *sums) committedRelease(of int64) (release string, committed bool) {
	done := s.tx.Bucket(doneBucket())
	if done == nil {
		return "", false
	}
	value := done.Get(entryKey(of))
	if len(value) == hex.EncodedLen(sha256.Size) {
		release = string(value)
	}
	return release, value != nil
}

// tableUse is a data set and the path under which it used a table.
type tableUse struct {
	Dataset string `json:"dataset"`
	Path    string `json:"path"`
}

// usedAs returns the data sets that a file was used for, with the paths.
func (s *sums) usedAs(file string) []tableUse {
	tables := s.tx.Bucket(tablesBucket())
	if tables == nil || file == "" {
		return nil
	}
	var uses []tableUse
	_ = json.Unmarshal(tables.Get(fileKey(file)), &uses) // nil, or a list written by recordTable
	return uses
}

// usedFor returns the data sets that a table was used for.
func (s *sums) usedFor(path string) []string {
	tables := s.tx.Bucket(tablesBucket())
	if tables == nil {
		return nil
	}
	var names []string
	_ = json.Unmarshal(tables.Get(tableKey(path)), &names) // nil, or a list written by recordTable
	return names
}

// recordDerived updates the derived buckets for an entry.
func recordDerived(tx *bolt.Tx, e *Entry) error {
	switch {
	case e.Kind == KindCommit:
		done, err := tx.CreateBucketIfNotExists(doneBucket())
		if err != nil {
			return err
		}
		value := []byte{1}
		if e.Release != "" {
			value = []byte(e.Release)
		}
		return done.Put(entryKey(e.Of), value)
	case e.Run != nil:
		return recordTable(tx, e.Run.File, tableUse{e.Run.Dataset, e.Run.Table})
	case e.Note != nil:
		return recordTable(tx, e.Note.File, tableUse{e.Note.Dataset, e.Note.Table})
	}
	return nil
}

// recordTable records that a data set used a table, by its path and by its file.
func recordTable(tx *bolt.Tx, file string, use tableUse) error {
	if use.Path == "" {
		return nil
	}
	s := &sums{tx: tx}
	if names := s.usedFor(use.Path); !slices.Contains(names, use.Dataset) {
		if err := putList(tx, tableKey(use.Path), append(names, use.Dataset)); err != nil {
			return err
		}
	}
	if uses := s.usedAs(file); file != "" && !slices.Contains(uses, use) {
		return putList(tx, fileKey(file), append(uses, use))
	}
	return nil
}

// putList writes a list to the bucket of tables.
func putList[T any](tx *bolt.Tx, key []byte, list []T) error {
	tables, err := tx.CreateBucketIfNotExists(tablesBucket())
	if err != nil {
		return err
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return tables.Put(key, text)
}

// recordSums writes the tally of a book.
func recordSums(tx *bolt.Tx, b *Book) error {
	data, err := b.newTally().encode()
	if err != nil {
		return err
	}
	bucket, err := tx.CreateBucketIfNotExists(tallyBucket())
	if err != nil {
		return err
	}
	return bucket.Put(tallyKey(), data)
}

// rebuildDerived rewrites all derived buckets from the entries of a complete book.
func rebuildDerived(tx *bolt.Tx, b *Book) error {
	for _, name := range [][]byte{tallyBucket(), doneBucket(), tablesBucket()} {
		if tx.Bucket(name) == nil {
			continue
		}
		if err := tx.DeleteBucket(name); err != nil {
			return err
		}
	}
	for _, e := range b.Entries {
		if err := recordDerived(tx, e); err != nil {
			return err
		}
	}
	return recordSums(tx, b)
}

// checkTally compares the derived buckets of the store with the entries, if they belong to the last entry. The error
// wraps ErrDamaged.
func checkTally(tx *bolt.Tx, b *Book) error {
	t := storedTally(tx)
	if t == nil || t.Head != b.Head().Hash {
		return nil // rebuilt with the next entry
	}
	want, err := b.newTally().encode()
	if err != nil {
		return err
	}
	wrong := func(what string) error {
		return fmt.Errorf("%w: its %s inconsistent with its entries", ErrDamaged, what)
	}
	if !bytes.Equal(want, tx.Bucket(tallyBucket()).Get(tallyKey())) {
		return wrong("running sums are")
	}
	s := &sums{tx: tx}
	for _, a := range b.Datasets {
		for _, r := range a.Runs {
			if release, committed := s.committedRelease(r.Sequence); committed != r.Committed ||
				release != r.Release {
				return wrong("list of ended runs is")
			}
			if r.Table != "" && !slices.Contains(s.usedFor(r.Table), a.Name) ||
				r.Table != "" && r.File != "" &&
					!slices.Contains(s.usedAs(r.File), tableUse{a.Name, r.Table}) {
				return wrong("list of tables is")
			}
		}
	}
	return nil
}
