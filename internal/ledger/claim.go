package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// A Claim is the reference of a release to the ledger entry of its run.
type Claim struct {
	Head    Head
	Nonce   string // of the reservation; empty in releases of earlier versions
	Release string // identifies the release: the checksum of its report
	Name    string // of the release, for messages
}

// VerifyClaims is [Ledger.Verify] for the heads of releases. An entry belongs to one run, so it also detects a release
// whose entry belongs to another one: if the file was rolled back between runs, the runs have the
// same number and at most one of them is in the chain. The error wraps ErrDamaged, ErrHead or ErrReleases.
func (l *Ledger) VerifyClaims(
	ctx context.Context,
	claims ...Claim,
) (*Book, error) {
	b, err := l.Verify(ctx)
	if err != nil {
		return b, err
	}
	if err := b.checkSharedEntries(claims); err != nil {
		return b, l.inFile(err)
	}
	for _, c := range claims {
		if err := b.checkHead(c.Head); err != nil {
			return b, l.inFile(err)
		}
		if err := b.CheckClaim(c); err != nil {
			return b, l.inFile(err)
		}
	}
	return b, nil
}

// checkSharedEntries refuses different releases that name the same entry.
func (b *Book) checkSharedEntries(claims []Claim) error {
	for i, c := range claims {
		names := []string{c.Name}
		seen := []string{c.Release}
		owner := ""
		for _, other := range claims[i:] {
			if other.Head.Sequence != c.Head.Sequence {
				continue
			}
			if !slices.Contains(seen, other.Release) {
				seen = append(seen, other.Release)
				names = append(names, other.Name)
			}
			if b.Contains(other.Head) && b.releaseOf(other.Head.Sequence) == other.Release {
				owner = other.Name
			}
		}
		if len(seen) < 2 {
			continue
		}
		whose := "the ledger does not record which of them it belongs to"
		if owner != "" {
			whose = "in this ledger it is " + owner
		}
		return fmt.Errorf(
			"%w: entry %d is claimed by %d different releases (%s), but belongs to a single run; %s; "+
				"the ledger was restored to an earlier state between the runs, or they were recorded in different ledgers, "+
				"so more was released than this ledger accounts for",
			ErrReleases, c.Head.Sequence, len(seen), strings.Join(names, ", "), whose)
	}
	return nil
}

// checkHead returns an error that wraps ErrHead if h is not in the chain.
func (b *Book) checkHead(h Head) error {
	switch {
	case b.Contains(h):
		return nil
	case h.Sequence > int64(len(b.Entries)):
		return fmt.Errorf(
			"%w: entry %d is missing; the ledger ends with entry %d, so it was truncated or restored to an earlier state",
			ErrHead, h.Sequence, len(b.Entries))
	}
	return fmt.Errorf(
		"%w: entry %d differs from the head: either the ledger was rewritten, or the head belongs to another ledger",
		ErrHead, h.Sequence)
}

// CheckClaim compares a release with the run of its entry, if the chain contains that entry. The error wraps
// ErrReleases if the entry belongs to another release. Entries older than version 4 have neither nonce nor release, so
// any release of the same plan passes.
func (b *Book) CheckClaim(c Claim) error {
	_, run, err := b.reservedRun(c.Head.Sequence)
	if err != nil || !b.Contains(c.Head) {
		return nil
	}
	switch {
	case run.Nonce != c.Nonce:
		return fmt.Errorf("%w: the nonce of entry %d does not match the release", ErrReleases,
			c.Head.Sequence)
	case run.Release != "" && run.Release != c.Release:
		return fmt.Errorf("%w: entry %d was committed by another release, with checksum %s",
			ErrReleases, c.Head.Sequence, run.Release)
	}
	return nil
}

// releaseOf returns the checksum of the release that ended the run of an entry, or "".
func (b *Book) releaseOf(sequence int64) string {
	_, run, err := b.reservedRun(sequence)
	if err != nil {
		return ""
	}
	return run.Release
}

// Holds reports whether the chain of the ledger contains h. Its cost does not depend on the number of entries.
func (l *Ledger) Holds(ctx context.Context, h Head) (held bool, err error) {
	_, err = l.viewBook(ctx, pathsFor(h.Sequence, "", ""),
		func(s *store, tx *bolt.Tx) (*Book, error) {
			b, err := s.loadBook(tx)
			if err == nil {
				held = b.Contains(h) // while the store is open
			}
			return b, err
		})
	return held, l.inFile(err)
}
