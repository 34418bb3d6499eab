package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/train/describe"
)

// Values of the key "format" in the reports written here, by the task of the run. Reports of earlier versions are still
// read, and a [Report] that names one of them is written in it.
const (
	Format            = "dptrain.report/4"
	CausalFormat      = "dptrain.causal/2"
	DescriptionFormat = "dptrain.describe/1"
)

// The earlier versions. The first two of a training are of one task each.
const (
	format1       = "dptrain.report/1"
	format2       = "dptrain.report/2"
	format3       = "dptrain.report/3"
	causalFormat1 = "dptrain.causal/1"
)

// Tasks that train no model.
const (
	TaskCausal   = "causal"
	TaskDescribe = describe.RootName
)

// Report files, by the task of the run, and the other files of a release.
const (
	ReportFile      = "report.json"
	CausalFile      = "causal.json"
	DescriptionFile = "describe.json"

	modelFile   = "model.json"
	recipeFile  = "recipe.yaml"
	pageFile    = "report.html"
	pictureFile = "causal.svg"
)

// A kind describes the reports of one task.
type kind struct {
	file    string   // name of the report in its release
	formats []string // that can be read, the oldest first
	// earlier is the number of versions of the shared keys before those of the first format.
	earlier int
	others  []string // other files that the release may have
	noun    string   // for a report, in messages
	release string   // for the release, in messages
	remade  string   // for what the page is made of, in messages
	stated  string   // where facts that are not protected were stated
	aim     string   // whose purpose it is to learn about the whole population
	general string   // how it does so
}

// trainingKind describes the reports of runs that train a model.
var trainingKind = kind{
	file:    ReportFile,
	formats: []string{format1, format2, format3, Format},
	others:  []string{modelFile, recipeFile, pageFile},
	noun:    "report",
	release: "a release",
	remade:  "the other files",
	stated:  "in the recipe",
	aim:     "the model",
	general: "What the model learns",
}

// causalKind describes the reports of studies of causal directions.
var causalKind = kind{
	file:    CausalFile,
	formats: []string{causalFormat1, CausalFormat},
	earlier: 2,
	others:  []string{pictureFile, recipeFile},
	noun:    "report",
	release: "a causal study",
	stated:  "in the recipe",
	aim:     "the study",
	general: "What the study finds",
}

// describeKind describes the reports on the columns of a table.
var describeKind = kind{
	file:    DescriptionFile,
	formats: []string{DescriptionFormat},
	earlier: 3,
	others:  []string{pageFile},
	noun:    "description",
	release: "a description",
	remade:  "the description",
	stated:  "about the columns",
	aim:     "the description",
	general: "What the description shows",
}

// kinds lists the kinds of reports. A release has one report; the first that exists counts.
func kinds() []*kind {
	return []*kind{&trainingKind, &causalKind, &describeKind}
}

// FileNames lists the file names of reports, in the order in which they are looked for.
func FileNames() []string {
	var out []string
	for _, k := range kinds() {
		out = append(out, k.file)
	}
	return out
}

// kindOfFile returns the kind of a report by the name of its file; nil for any other name.
func kindOfFile(name string) *kind {
	for _, k := range kinds() {
		if k.file == name {
			return k
		}
	}
	return nil
}

// kindOfFormat returns the kind of a report by its format, of any version. A report of no known task counts as one of a
// training.
func kindOfFormat(format string) *kind {
	name, _, _ := strings.Cut(format, "/")
	for _, k := range kinds() {
		if strings.HasPrefix(k.formats[0], name+"/") {
			return k
		}
	}
	return &trainingKind
}

// knownFormats lists the formats that can be read, for a message.
func (k *kind) knownFormats() string {
	first := k.formats[0]
	last := k.formats[len(k.formats)-1]
	switch len(k.formats) {
	case 1:
		return fmt.Sprintf("%q", first)
	case 2:
		return fmt.Sprintf("%q and %q", first, last)
	}
	return fmt.Sprintf("%q to %q", first, last)
}

// addSection adds the section of the kind to a report, with no content.
func (k *kind) addSection(r *Report) {
	switch k {
	case &causalKind:
		r.Causal = new(Causal)
	case &describeKind:
		r.Description = new(Description)
	default:
		r.Training = new(Training)
	}
}

// A section is the part of a report that depends on the task of the run.
type section interface {
	kind() *kind
	// target names what the run is about: the target of the model, or the columns.
	target() string
	// validate returns an error if a decoded report contradicts itself.
	validate(r *Report) error
	// drawnFiles lists the files of the release that are made of the others and of the report.
	drawnFiles(f Files, hashes *Hashes) []publishedFile
	// hashedFiles lists the other files that the release may have.
	hashedFiles(v *verifier) []hashedFile
	// verify makes the checks of this task.
	verify(v *verifier)
	// text prints the report for a person.
	text(r *Report) string
	// body returns what the page has of this task.
	body(s Source) pageBody
}

// FileName returns the name of the report in its release.
func (r *Report) FileName() string {
	return r.section().kind().file
}

// section returns the section of the report; of a report without any, that of a training.
func (r *Report) section() section {
	switch {
	case r.Causal != nil:
		return r.Causal
	case r.Description != nil:
		return r.Description
	}
	return r.training()
}

// training returns the section of a training, empty for a report of another task.
func (r *Report) training() *Training {
	if r.Training == nil {
		return new(Training)
	}
	return r.Training
}

// keysVersion returns the version of the keys that reports of all tasks share, a number.
func (r *Report) keysVersion() string {
	number, err := strconv.Atoi(version(r.Format))
	if err != nil {
		return version(r.Format)
	}
	return strconv.Itoa(number + r.section().kind().earlier)
}

// isCurrent reports whether the shared keys are those of the latest version.
func (r *Report) isCurrent() bool {
	return r.keysVersion() == version(Format)
}

// hasChecksum reports whether a report is of a version that holds checksums, and says in one form for both
// tasks which branches were taken.
func (r *Report) hasChecksum() bool {
	return r.Format != format1 && r.Format != format2
}

// strayFile returns the name of a file in the hashes that a release of this kind does not have; "" if there is none.
func (k *kind) strayFile(h Hashes) string {
	for name, hash := range map[string]string{
		modelFile:   h.Model,
		pictureFile: h.Picture,
		recipeFile:  h.Recipe,
		pageFile:    h.Page,
	} {
		if hash != "" && !slices.Contains(k.others, name) {
			return name
		}
	}
	return ""
}

// kind returns [trainingKind].
func (t *Training) kind() *kind {
	return &trainingKind
}

// kind returns [causalKind].
func (c *Causal) kind() *kind {
	return &causalKind
}

// kind returns [describeKind].
func (d *Description) kind() *kind {
	return &describeKind
}
