package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/internal/ledger"
)

// ErrEdited is returned for a report whose checksum does not match its content.
var ErrEdited = errors.New("its checksum does not match, so it was edited")

// ReadClaim reads which ledger entry a report.json, causal.json or describe.json names as its run; entered is nil if
// the file names no entry. The error wraps [ErrFormat], [ErrContent] or [ErrEdited], or comes from the file system.
func ReadClaim(path string) (claim ledger.Claim, entered *Ledger, err error) {
	data, err := readLimited(path, MaxBytes)
	if err != nil {
		return claim, nil, err
	}
	claim.Name = path
	r, err := readUnedited(data)
	if err != nil {
		return claim, nil, err
	}
	claim.Release = r.release(data)
	if r.Ledger == nil {
		return claim, nil, nil
	}
	claim.Head = ledger.Head{
		Sequence: r.Ledger.Entry,
		Hash:     r.Ledger.Head,
	}
	claim.Nonce = r.Ledger.Nonce
	return claim, r.Ledger, nil
}

// readUnedited decodes a report of any task, and returns [ErrEdited] unless it is as it was written. Versions without a
// checksum are not compared.
func readUnedited(data []byte) (*Report, error) {
	r, err := decode(data, nil)
	if err != nil {
		return nil, err
	}
	if !r.hasChecksum() {
		return r, nil
	}
	var again bytes.Buffer
	if err := Encode(&again, r); err != nil || !bytes.Equal(again.Bytes(), data) {
		return nil, ErrEdited
	}
	return r, nil
}

// release identifies the release of a report with content data: by its checksum, or by the SHA-256 of the file for
// versions without a checksum.
func (r *Report) release(data []byte) string {
	if r.hasChecksum() {
		return r.Checksum
	}
	return hashOf(data)
}

// EntryOf returns the ledger entry that the release in the output folder dir names, or nil if there is no release or
// it names no entry. It also reads releases of later versions. A file that is not JSON counts as one without an
// entry.
func EntryOf(dir string) (*ledger.Head, error) {
	for _, name := range FileNames() {
		path := filepath.Join(dir, ReleaseDir, name)
		data, err := readLimited(path, MaxBytes)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil,
				&DirError{
					Path: path,
					Msg:  "cannot be read: " + reasonOf(err),
					Err:  ErrUnwritable,
				}
		}
		var file struct {
			Ledger *struct {
				Entry int64  `json:"entry"`
				Head  string `json:"head"`
			} `json:"ledger"`
		}
		if json.Unmarshal(data, &file) == nil && file.Ledger != nil {
			return &ledger.Head{
				Sequence: file.Ledger.Entry,
				Hash:     file.Ledger.Head,
			}, nil
		}
	}
	return nil, nil
}

// reportIn returns the name of the report in a folder. Where there is none, it is that of a training.
func reportIn(dir string) string {
	for _, name := range FileNames() {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
	return ReportFile
}

// KeptClaim returns the ledger entry claimed by the results that are kept in dir. The error is a [*DirError] if they name
// no entry or an entry other than k, or if they were edited.
func KeptClaim(dir string, k Kept) (ledger.Claim, error) {
	folder := filepath.Join(dir, KeptDir, ReleaseDir)
	path := filepath.Join(folder, reportIn(folder))
	claim, entered, err := ReadClaim(path)
	if err != nil {
		return claim,
			&DirError{
				Path: path,
				Msg:  fmt.Sprintf("cannot be published: %v", err),
				Err:  ErrKept,
			}
	}
	if entered == nil || entered.Entry != k.Entry || entered.Head != k.Head {
		return claim,
			&DirError{
				Path: path,
				Msg:  "is not the report of the reservation that " + keptFile + " names",
				Err:  ErrKept,
			}
	}
	return claim, nil
}
