package report

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/sign"
)

// SignatureSuffix is the suffix of signature files: report.json.minisig signs report.json, which has the SHA-256 of
// the other files of the release.
const SignatureSuffix = ".minisig"

// isSignature reports whether name is the signature of one of the files that contain the hashes of a release.
func isSignature(name string) bool {
	report, isSigned := strings.CutSuffix(name, SignatureSuffix)
	return isSigned && kindOfFile(report) != nil
}

// signature checks the signature of the file called name, whose content is v.raw, and stores this content in v.out.
// Without a key, an existing signature is reported as skipped, and a missing one is not mentioned.
func (v *verifier) signature(name string, key *sign.PublicKey) {
	const check = "signature"
	v.out.Signed = v.raw
	file := filepath.Join(v.dir, name+SignatureSuffix)
	text, err := sign.ReadFile(file)
	switch {
	case key == nil && errors.Is(err, os.ErrNotExist):
	case key == nil:
		v.skip(check,
			name+SignatureSuffix+
				" was not checked: pass the publisher's public key with --key")
	case errors.Is(err, os.ErrNotExist):
		v.add(check, "",
			[]string{"the release is not signed: there is no " + name + SignatureSuffix})
	case err != nil:
		v.add(
			check,
			"",
			[]string{name + SignatureSuffix + " cannot be read: " + reasonOf(err)},
		)
	default:
		comment, err := key.Verify(v.raw, text)
		if err != nil {
			v.add(check, "", []string{name + SignatureSuffix + ": " + err.Error()})
			return
		}
		v.add(
			check,
			name+" was signed with the key "+key.ID.String()+" ("+printableName(comment)+")",
			nil,
		)
	}
}
