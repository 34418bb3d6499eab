package mechanism

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// Lots decide which records of a privacy unit are kept where it has more than the
// plan's cap: those of the smallest lots. The lot of a record is a keyed
// pseudorandom function (HMAC-SHA-256) of its unit's identity, of its own content and
// of how many records of the same unit and content come before it, under a key of
// this run and path that never touches noise or coins.
//
// Which records of a unit are kept is therefore a function of the run key and of
// that unit's records, whatever the key: a unit that comes or goes moves no lot
// of another, which is what the bounds for units rest on. Nor does the place of a
// record in the file matter: among equal records it does not matter which is kept.
//
// A Lots value must not be used by several goroutines at once.
type Lots struct{ mac hash.Hash }

// Lots returns the lots of this session's path and the given name.
func (s *Session) Lots(name string) Lots {
	key := s.core.key.Derive("lot", s.join(name), 0)
	return Lots{hmac.New(sha256.New, key[:])}
}

// Draw returns the lot of a record: content is a digest of what it says, and nth
// counts the equal records of its unit before it.
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
