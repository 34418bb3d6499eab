package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain/internal/ledger"
)

// ErrEdited is returned for a report whose checksum is not that of its content.
var ErrEdited = errors.New("it is not as dptrain wrote it: its checksum does not fit")

// ReadClaim reads which entry of a ledger a report.json, causal.json or describe.json names as its run; entered is nil if it
// names none. The error wraps [ErrFormat], [ErrContent] or [ErrEdited], or is one of the file system.
func ReadClaim(path string) (claim ledger.Claim, entered *Ledger, err error) {
	data, err := readLimited(path, MaxBytes)
	if err != nil {
		return claim, nil, err
	}
	claim.Name = path
	switch {
	case hasFormat(data, DescriptionFormat):
		d, err := DecodeDescription(bytes.NewReader(data))
		if err != nil {
			return claim, nil, err
		}
		entered, claim.Release = d.Ledger, d.Checksum
		if err := unedited(data, func(w io.Writer) error { return EncodeDescription(w, d) }); err != nil {
			return claim, nil, err
		}
	case isCausal(data):
		c, err := DecodeCausal(bytes.NewReader(data))
		if err != nil {
			return claim, nil, err
		}
		entered, claim.Release = c.Ledger, c.Checksum
		err = unedited(data, func(w io.Writer) error { return EncodeCausal(w, c) })
		if err != nil {
			return claim, nil, err
		}
	default:
		r, err := Decode(bytes.NewReader(data))
		if err != nil {
			return claim, nil, err
		}
		entered, claim.Release = r.Ledger, r.release(data)
		if r.hasChecksum() {
			err = unedited(data, func(w io.Writer) error { return Encode(w, r) })
		}
		if err != nil {
			return claim, nil, err
		}
	}
	if entered == nil {
		return claim, nil, nil
	}
	claim.Head = ledger.Head{Sequence: entered.Entry, Hash: entered.Head}
	claim.Nonce = entered.Nonce
	return claim, entered, nil
}

// isCausal reports whether a file is a causal.json.
func isCausal(data []byte) bool { return hasFormat(data, CausalFormat) }

// hasFormat reports whether a file is one of the given format, of any version.
func hasFormat(data []byte, format string) bool {
	var head struct {
		Format string `json:"format"`
	}
	kind, _, _ := strings.Cut(format, "/")
	return json.Unmarshal(data, &head) == nil && strings.HasPrefix(head.Format, kind+"/")
}

// unedited returns ErrEdited unless encode writes data.
func unedited(data []byte, encode func(io.Writer) error) error {
	var again bytes.Buffer
	if err := encode(&again); err != nil || !bytes.Equal(again.Bytes(), data) {
		return ErrEdited
	}
	return nil
}

// release identifies the release of a report whose file is data: its checksum, or for versions without
// one the SHA-256 of the file.
func (r *Report) release(data []byte) string {
	if r.hasChecksum() {
		return r.Checksum
	}
	return hashOf(data)
}

// EntryOf returns the entry of a ledger that the release in the output folder dir names, or nil if there is no
// release or it names none. It reads releases of later versions too, and takes a file that is no JSON for
// one that names none.
func EntryOf(dir string) (*ledger.Head, error) {
	for _, name := range []string{reportFile, causalFile, descriptionFile} {
		path := filepath.Join(dir, ReleaseDir, name)
		data, err := readLimited(path, MaxBytes)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, &DirError{Path: path, Msg: "cannot be read: " + reasonOf(err), Err: ErrUnwritable}
		}
		var file struct {
			Ledger *struct {
				Entry int64  `json:"entry"`
				Head  string `json:"head"`
			} `json:"ledger"`
		}
		if json.Unmarshal(data, &file) == nil && file.Ledger != nil {
			return &ledger.Head{Sequence: file.Ledger.Entry, Hash: file.Ledger.Head}, nil
		}
	}
	return nil, nil
}

// KeptClaim returns the ledger entry claimed by the results that are kept in dir. The error is a [*DirError] if they name
// no entry or an entry other than k, or if they were edited.
func KeptClaim(dir string, k Kept) (ledger.Claim, error) {
	folder := filepath.Join(dir, KeptDir, ReleaseDir)
	path := filepath.Join(folder, reportFile)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		path = filepath.Join(folder, causalFile)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			path = filepath.Join(folder, descriptionFile)
		}
	}
	claim, entered, err := ReadClaim(path)
	if err != nil {
		return claim, &DirError{Path: path, Msg: fmt.Sprintf("cannot be published: %v", err), Err: ErrKept}
	}
	if entered == nil || entered.Entry != k.Entry || entered.Head != k.Head {
		return claim, &DirError{Path: path, Msg: "is not the report of the reservation that " + keptFile + " names", Err: ErrKept}
	}
	return claim, nil
}
