package report

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/dptrain/dptrain/internal/sys/strictjson"
)

// Encode writes r as the report file of its release. Equal reports give equal bytes. It fails for a
// report that holds a number that is not finite, and with the errors of w.
//
// The checksum in r is ignored; the one written is the SHA-256 of the bytes with an empty string in its place.
func Encode(w io.Writer, r *Report) error {
	sealed, err := r.sealed()
	if err != nil {
		return err
	}
	return encode(w, sealed, r.keysVersion())
}

// sealed returns a copy of r with its checksum, for versions that have one.
func (r *Report) sealed() (*Report, error) {
	out := *r
	out.Checksum = ""
	if !r.hasChecksum() {
		return &out, nil
	}
	data, err := strictjson.Encode(&out, r.keysVersion())
	if err != nil {
		return nil, err
	}
	out.Checksum = hashOf(data)
	return &out, nil
}

// hashOf returns the SHA-256 of bytes, in hex.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// encode writes the file of a struct in a version of its format.
func encode(w io.Writer, file any, version string) error {
	data, err := strictjson.Encode(file, version)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
