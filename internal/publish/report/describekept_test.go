package report

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/internal/ledger"
)

// TestDescriptionIsKept checks that a description whose run could not be committed to the ledger is kept next to its
// place, names its entry, and can be put in place later.
func TestDescriptionIsKept(t *testing.T) {
	s, table := describedTable(t, 1, 500)
	plan, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	res, err := plan.Run(context.Background(), table)
	if err != nil {
		t.Fatal(err)
	}
	files := Collect(NewDescription(res), nil, res.Curator, nil, nil, "table.csv")
	head := ledger.Head{Sequence: 7, Hash: "abcd"}
	files.Report.Enter(Ledger{
		Dataset: "x",
		Entry:   head.Sequence,
		Head:    head.Hash,
		Nonce:   "00",
	})
	dir := filepath.Join(t.TempDir(), "out")
	folder, err := Prepare(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := folder.Stage(context.Background(), files); err != nil {
		t.Fatal(err)
	}
	if checksum, err := files.Checksum(); err != nil || checksum != folder.Checksum() {
		t.Errorf(
			"the checksum is %q, staged %q: %v",
			checksum, folder.Checksum(), err,
		)
	}
	kept := Kept{
		Path:  "l.ledger",
		Entry: head.Sequence,
		Head:  head.Hash,
	}
	if _, err := folder.Keep(kept); err != nil {
		t.Fatal(err)
	}
	claim, err := KeptClaim(dir, kept)
	if err != nil ||
		claim.Release != folder.Checksum() ||
		claim.Head != head {
		t.Errorf("%+v, %v", claim, err)
	}
	if stopped, err := KeptStopped(dir); stopped || err != nil {
		t.Errorf("%v, %v", stopped, err)
	}
	if err := PlaceKept(context.Background(), dir, false); err != nil {
		t.Fatal(err)
	}
	if entry, err := EntryOf(dir); err != nil || entry == nil || *entry != head {
		t.Errorf("%v, %v", entry, err)
	}
}
