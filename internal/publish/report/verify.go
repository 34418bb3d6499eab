package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/sign"
	"github.com/dptrain/dptrain/regression"
)

// A State is the result of a check.
type State string

// The states.
const (
	Fits       State = "ok"
	Misfit     State = "does not fit"
	NotChecked State = "not checked"
)

// label returns the word for a state on a terminal. The values of the constants are those of
// `verify --json`.
func (s State) label() string {
	switch s {
	case Misfit:
		return "failed"
	case NotChecked:
		return "skipped"
	}
	return string(s)
}

// A Check is one question about a release and its answer.
type Check struct {
	Name  string // what was compared, such as "model.json"
	State State
	// Text describes the result, or why the check was skipped. For a failed check it has one item per problem.
	Text []string
}

// A Verification is the result of [Verify].
type Verification struct {
	Checks []Check
	Signed []byte // the verified bytes of the file with the hashes of the other files
}

// Misfits counts the failed checks.
func (v *Verification) Misfits() int {
	return v.count(Misfit)
}

func (v *Verification) count(s State) int {
	n := 0
	for _, c := range v.Checks {
		if c.State == s {
			n++
		}
	}
	return n
}

// Text prints one paragraph per check, and a verdict if no check failed. It returns the errors of w.
func (v *Verification) Text(w io.Writer) error {
	const width = 9
	var b strings.Builder
	for _, c := range v.Checks {
		for i, text := range c.Text {
			label := c.State.label()
			if i > 0 {
				label = ""
			}
			b.WriteString(paragraph(label, c.Name+": "+text, width))
		}
	}
	if v.Misfits() == 0 {
		b.WriteString(paragraph("OK", v.counts(), width))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// counts prints how many checks passed and how many were skipped.
func (v *Verification) counts() string {
	s := countOf(v.count(Fits), "check") + " passed"
	if n := v.count(NotChecked); n > 0 {
		s += fmt.Sprintf(", %d skipped", n)
	}
	return s
}

// VerifyOptions are the optional parts of a verification. The zero value checks the release alone.
type VerifyOptions struct {
	Ledger *ledger.Ledger // ledger of the run; nil if it is not available
	// Others are the ledger claims of other releases. A release that names the entry of another one is not
	// consistent.
	Others []ledger.Claim
	// Key is the public key of the publisher; nil if signatures are not checked.
	Key *sign.PublicKey
}

// Verify reports whether a release is consistent, from public facts alone: it reads no table. path is its folder, or
// its report in there.
//
// It compares the report with its checksum and the other files with their hashes, adds up the steps anew with the
// accountant, plans the run anew and compares step by step, and compares the results with each other and, if there is
// one, the ledger with the report: of a training the model, of a study of causal directions the directions that follow
// from the counts, of a description the estimates that follow from the released numbers. Of a release of an earlier
// version it checks what can be checked. It finds every edit of a file by somebody who does not make the checksums
// anew. It finds an edit of the guarantee, of a step or of the recipe that is not consistent with all others also if
// they were made anew. It cannot find released values (the coefficients of a model, a metric) that were replaced
// together with all checksums: nothing but the ledger and the signature is outside of the release. With the key of the
// publisher it finds these too.
//
// The error is that of a report that cannot be read, or of the ledger, and wraps
// [ErrFormat], [ErrContent], an error of the file system or a [*ledger.FileError].
func Verify(
	ctx context.Context,
	path string,
	o VerifyOptions,
) (*Verification, error) {
	dir := path
	name := filepath.Base(path)
	if kindOfFile(name) != nil {
		dir = filepath.Dir(path)
	} else {
		name = reportIn(dir)
	}
	v := &verifier{dir: dir, out: &Verification{}}
	var err error
	if v.raw, err = readLimited(filepath.Join(dir, name), MaxBytes); err != nil {
		return nil, err
	}
	if v.report, err = decode(v.raw, kindOfFile(name)); err != nil {
		return nil, err
	}
	v.signature(name, o.Key)
	v.checksum()
	v.files()
	if v.report.Description != nil { // its page depends on no other file
		v.page()
	}
	v.steps()
	v.threshold()
	v.card()
	v.guarantee()
	v.report.section().verify(v)
	v.release = v.report.release(v.raw)
	if err := v.ledger(ctx, o); err != nil {
		return nil, err
	}
	return v.out, nil
}

// verify compares a run that trains a model with its recipe, its plan, its model and its page.
func (t *Training) verify(v *verifier) {
	v.groups()
	v.recipeAndPlan()
	v.model()
	v.page()
}

// verifier collects checks.
type verifier struct {
	dir    string
	raw    []byte // of the report
	report *Report
	out    *Verification
	// release identifies the release in its ledger.
	release string
	before  bool // the guarantee is priced as in the first versions
}

// add records a check, which passes if there are no problems.
func (v *verifier) add(name, holds string, problems []string) {
	if len(problems) == 0 {
		v.out.Checks = append(v.out.Checks, Check{name, Fits, []string{holds}})
		return
	}
	const most = 10
	if n := len(problems); n > most {
		problems = append(slices.Clip(problems[:most-1]), fmt.Sprintf("and %d more", n-most+1))
	}
	v.out.Checks = append(v.out.Checks, Check{name, Misfit, problems})
}

// skip records a check that was not made.
func (v *verifier) skip(name, why string) {
	v.out.Checks = append(v.out.Checks, Check{name, NotChecked, []string{why}})
}

// predatesChecksums reports whether the version of the report has no checksums.
func (v *verifier) predatesChecksums() bool {
	return !v.report.hasChecksum()
}

// checksum compares the report with its encoding by this version.
func (v *verifier) checksum() {
	name := v.report.FileName()
	var b strings.Builder
	switch err := Encode(&b, v.report); {
	case v.predatesChecksums():
		v.skip(name,
			"reports of version "+v.report.Format+
				" have no checksum, so an edit of anything that is not checked below "+
				"would not show")
	case err != nil || b.String() != string(v.raw):
		v.add(name, "", []string{"its checksum does not match, so the file was edited"})
	default:
		v.add(name, "its checksum matches", nil)
	}
}

// A hashedFile is a file of a release with the hash that the report has of it.
type hashedFile struct {
	name     string
	hash     string
	size     int  // the largest that is read, in bytes
	optional bool // a release may lack it
	// problem compares the content with the report; nil if it is compared elsewhere.
	problem func(data []byte) string
}

// hashedFiles lists the files of a release with a model.
func (t *Training) hashedFiles(v *verifier) []hashedFile {
	h := v.report.Files
	return []hashedFile{
		{
			name:     modelFile,
			hash:     h.Model,
			size:     regression.MaxModelBytes,
			optional: t.Model.Kind == "",
		},
		{
			name:     recipeFile,
			hash:     h.Recipe,
			size:     maxRecipeBytes,
			optional: true,
		},
		{
			name:     pageFile,
			hash:     h.Page,
			size:     maxPageBytes,
			optional: true,
		},
	}
}

// files compares the other files with their hashes.
func (v *verifier) files() {
	section := v.report.section()
	k := section.kind()
	entries, err := os.ReadDir(v.dir)
	for _, e := range entries {
		if e.Name() != k.file && !slices.Contains(k.others, e.Name()) && !isSignature(e.Name()) {
			v.add(
				"folder",
				"",
				[]string{printableName(e.Name()) + " does not belong to " + k.release},
			)
		}
	}
	if err != nil {
		v.skip("folder", "it cannot be listed, so it may contain other files")
	}
	for _, f := range section.hashedFiles(v) {
		v.checkFile(f, k.noun)
	}
}

// checkFile compares a file with its hash. noun names the report.
func (v *verifier) checkFile(f hashedFile, noun string) {
	data, err := readLimited(filepath.Join(v.dir, f.name), f.size)
	gone := errors.Is(err, os.ErrNotExist)
	problem := ""
	switch {
	case err != nil && !gone:
		problem = "the file cannot be read: " + reasonOf(err)
	case v.predatesChecksums() && (!gone || f.optional):
		v.skip(f.name, "the report does not contain its hash")
		return
	case gone && f.hash == "" && f.optional:
		v.add(f.name, "there is none, in agreement with the "+noun, nil)
		return
	case gone:
		problem = "the file is missing"
	case f.hash == "":
		problem = "there should be none, according to the " + noun
	case hashOf(data) != f.hash:
		problem = "it differs from the file in the " + noun + ": its SHA-256 is " + hashOf(data)
	case f.problem != nil:
		problem = f.problem(data)
	}
	if problem != "" {
		v.add(f.name, "", []string{problem})
		return
	}
	v.add(f.name, "its SHA-256 matches the "+noun, nil)
}

// page compares the page with the other files. It was made before the checksum of the report and its own hash
// were known, and shows neither.
func (v *verifier) page() {
	data, err := readLimited(filepath.Join(v.dir, pageFile), maxPageBytes)
	if err != nil || hashOf(data) != v.report.Files.Page { // reported by files, or there is no page
		return
	}
	s, err := ReadSource(v.dir)
	if err != nil {
		return // reported for the other files
	}
	others := v.report.section().kind().remade
	var b bytes.Buffer
	if err := HTML(&b, s); err != nil || !bytes.Equal(b.Bytes(), data) {
		v.skip("page",
			"it differs from the page that this version of dptrain makes from "+others+
				"; another version may have written it")
		return
	}
	v.add("page", "it can be reproduced, byte for byte, from "+others, nil)
}

// maxPageBytes is more than the size of any page.
const maxPageBytes = 8 << 20

// errLarge is the error for a file that is too large to read.
var errLarge = errors.New("it is larger than any file that dptrain writes")

// readLimited reads a file of at most the given number of bytes.
func readLimited(path string, most int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		err = &os.PathError{
			Op:   "read",
			Path: path,
			Err:  errLarge,
		}
	}
	return data, err
}

// reasonOf returns an error without the path of its file.
func reasonOf(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}
