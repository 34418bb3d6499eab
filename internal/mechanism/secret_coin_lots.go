package mechanism

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
)

// Lots select the records that are kept of a privacy unit with more records than the plan's cap:
// those with the smallest lots. The lot of a record is a keyed pseudorandom function (HMAC-SHA-256)
// of its unit's identity, of its content and of the number of preceding records with the same unit
// and content, under a separate key of this run and path.
//
// The kept records of a unit are therefore a function of the run key and of the records of this
// unit. Adding or removing a unit does not change the lots of other units, which the bounds for
// units rely on. The position of a record in the file does not matter either, because equal
// records are interchangeable.
//
// A Lots value must not be used by several goroutines at once.
type Lots struct{ mac hash.Hash }

// Lots returns the lots of this session's path and the given name.
func (s *Session) Lots(name string) Lots {
	key := s.core.key.Derive("lot", s.childPath(name), 0)
	return Lots{hmac.New(sha256.New, key[:])}
}

// Draw returns the lot of a record. content is a digest of its cells, and nth is the
// number of preceding records of its unit with the same content.
func (l Lots) Draw(unit uint64, content [32]byte, nth int) uint64 {
	var head [16]byte
	binary.BigEndian.PutUint64(head[:8], unit)
	binary.BigEndian.PutUint64(head[8:], uint64(nth))
	l.mac.Reset()
	l.mac.Write(head[:])
	l.mac.Write(content[:])
	var sum [sha256.Size]byte
	return binary.BigEndian.Uint64(l.mac.Sum(sum[:0]))
}

// LimitUnits returns the records that are left if every unit keeps at most the given number, by the lots of
// the given name; see [dataset.View.Cap]. It returns [ErrGather] if the engine cannot limit units.
func LimitUnits(
	ctx context.Context,
	s *Session,
	name string,
	r Records,
	most int,
) (Records, error) {
	limit := CapabilitiesOf(r.engine).LimitUnits
	if limit == nil {
		return r, ErrGather
	}
	limited, err := limit(ctx, r.part.Columns, most, s.Lots(name))
	r.engine = limited
	return r, err
}

// UnitPart is the number of records of the units that an engine limits at a time. Units are assigned to parts by
// their identities, which are digests. For one part an engine keeps in memory the number of records of each unit
// and an [Entry] for each record of a unit with too many.
const UnitPart = 1 << 21

// An Entry is a record of a unit with too many records.
type Entry struct {
	Unit    uint64   // its identity
	Row     int64    // in the table
	Content [32]byte // see [dataset.View.Content]
}

// Smallest returns the rows of the records with the smallest lots of each unit, at most the given number for
// each, and the first of equal ones. It sorts the records by unit and row.
func (l Lots) Smallest(all []Entry, most int) []int64 {
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Row, b.Row))
	})
	type ticket struct {
		lot uint64
		row int64
	}
	var out []int64
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(x Entry) bool {
			return x.Unit != all[0].Unit
		})
		if n < 0 {
			n = len(all)
		}
		tickets := make([]ticket, n)
		copies := map[[32]byte]int{}
		for i, x := range all[:n] {
			tickets[i] = ticket{l.Draw(x.Unit, x.Content, copies[x.Content]), x.Row}
			copies[x.Content]++
		}
		slices.SortStableFunc(tickets, func(a, b ticket) int {
			return cmp.Compare(a.lot, b.lot)
		})
		for _, t := range tickets[:min(most, n)] {
			out = append(out, t.row)
		}
		all = all[n:]
	}
	return out
}
