package report

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/strictjson"
	"github.com/dptrain/dptrain/internal/train/describe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// DescriptionFormat is the value of the key "format" in a description of the columns of a table.
const DescriptionFormat = "dptrain.describe/1"

// descriptionFile is the description in its release.
const descriptionFile = "describe.json"

// TaskDescribe is the task of such a run.
const TaskDescribe = describe.RootName

// Description is a description of the columns of a table. Its fields are the keys of describe.json, in the order of the file.
type Description struct {
	Format     string      `json:"format"`
	Guarantee  Guarantee   `json:"guarantee"`
	Accounting *Accounting `json:"accounting"` // how the events add up to the guarantee
	Events     []Event     `json:"events"`     // in the order of the plan
	// Records, Columns, Correlations and By are estimates, with intervals of confidence 95% about the values in the table. They
	// follow from Released.
	Records      describe.Estimate      `json:"records" layout:"line"`
	Columns      []describe.ColumnCard  `json:"columns"`
	Correlations []describe.Association `json:"correlations"`
	By           *describe.GroupCard    `json:"by"`
	Released     *describe.Released     `json:"released"`
	Unprotected  []pipeline.Fact        `json:"unprotected"` // stated by whoever asked, not protected
	Warnings     []pipeline.Warning     `json:"warnings"`
	// Ledger is where the run was entered; nil, and absent from the file, for a run that kept no ledger.
	Ledger *Ledger `json:"ledger,omitempty"`
	// Files are the other files of the release; Checksum is that of describe.json itself, and [EncodeDescription] fills it in.
	Files    DescriptionHashes `json:"files"`
	Checksum string            `json:"checksum"`
}

// DescriptionHashes are the SHA-256 of the other files of a description, in hex.
type DescriptionHashes struct {
	Page string `json:"report.html"`
}

// NewDescription returns the account of a description. It looks at the public half of the result only.
func NewDescription(res *describe.Result) *Description {
	d := &Description{
		Format: DescriptionFormat, Guarantee: GuaranteeOf(res.Guarantee).explained(), Events: []Event{},
		Accounting: accountingOf(res.Addition, res.Guarantee.Relation, res.Guarantee.Unit), Released: res.Released,
		Unprotected: list(res.Unprotected), Warnings: list(res.Warnings),
	}
	for _, e := range res.Events {
		d.Events = append(d.Events, event(e, &pipeline.Result{Branch: res.Branch}))
	}
	d.setCard(describe.Read(res.Released))
	return d
}

// setCard writes estimates.
func (d *Description) setCard(c *describe.Card) {
	d.Records, d.Columns, d.Correlations, d.By = c.Records, c.Columns, c.Correlations, c.By
}

// Enter notes that the run is in a ledger and takes back the warning that it is not.
func (d *Description) Enter(l Ledger) {
	d.Ledger = &l
	d.Warnings = slices.DeleteFunc(d.Warnings, func(w pipeline.Warning) bool { return w.Code == "no-ledger" })
}

// Warn adds a warning.
func (d *Description) Warn(w pipeline.Warning) { d.Warnings = append(d.Warnings, w) }

// target names the columns, in the place where runs with a model name their target.
func (d *Description) target() string {
	var names []string
	for _, c := range d.Columns {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// asReport returns what a description has in common with the report of a run.
func (d *Description) asReport() *Report {
	return &Report{
		Format: Format, Guarantee: d.Guarantee, Accounting: d.Accounting, Events: d.Events, Task: TaskDescribe, Target: d.target(),
		Model: Model{Method: describe.RootName}, Ledger: d.Ledger, Unprotected: d.Unprotected, Warnings: d.Warnings,
	}
}

// EncodeDescription writes d as describe.json. Equal descriptions give equal bytes. The checksum, whatever d says, is the SHA-256 of the bytes
// with an empty text in its place.
func EncodeDescription(w io.Writer, d *Description) error {
	sealed, err := d.sealed()
	if err != nil {
		return err
	}
	return encode(w, sealed, Format)
}

// sealed returns a copy of d with its checksum.
func (d *Description) sealed() (*Description, error) {
	out := *d
	out.Checksum = ""
	data, err := strictjson.Encode(&out, version(Format))
	if err != nil {
		return nil, err
	}
	out.Checksum = hashOf(data)
	return &out, nil
}

// DecodeDescription reads a description. It is strict: every key of the format must occur exactly once, unknown keys are
// rejected, and the released numbers must be consistent. Errors wrap [ErrFormat] or [ErrContent].
func DecodeDescription(r io.Reader) (*Description, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w: it is larger than %d bytes", ErrFormat, MaxBytes)
	}
	doc, err := strictjson.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if format, err := doc.Text("format"); err != nil || format != DescriptionFormat {
		return nil, errors.Join(fmt.Errorf("%w: its format is %.60q, this version reads %q", ErrFormat, format, DescriptionFormat), err)
	}
	d := new(Description)
	if err := doc.Decode(d, version(Format)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrContent, err)
	}
	if d.Released == nil {
		return nil, fmt.Errorf("%w: it has no released numbers", ErrContent)
	}
	if err := d.Released.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrContent, err)
	}
	if err := d.checkCard(); err != nil {
		return nil, err
	}
	return d, nil
}

// checkCard refuses estimates that a page cannot be made of.
func (d *Description) checkCard() error {
	whole := func(e describe.Estimate) bool { return e.Value != nil && e.Lower != nil && e.Upper != nil }
	open := func(e describe.Estimate) bool { return e.Value == nil || whole(e) }
	fits := whole(d.Records)
	for _, c := range d.Columns {
		fits = fits && open(c.Missing) && (c.Kind != describe.Numeric || whole(c.Below) && whole(c.Above))
		for _, x := range c.Categories {
			fits = fits && whole(x.Count)
		}
	}
	for _, a := range d.Correlations {
		fits = fits && open(describe.Estimate{Value: a.Value, Lower: a.Lower, Upper: a.Upper}) && open(describe.Estimate{Value: a.Value, Lower: a.LowerAll, Upper: a.UpperAll})
	}
	if d.By != nil {
		for _, g := range d.By.Groups {
			fits = fits && whole(g.Count)
		}
	}
	if !fits {
		return fmt.Errorf("%w: an estimate has no value or no end", ErrContent)
	}
	for _, c := range d.Columns {
		numeric := c.Kind == describe.Numeric
		if c.Kind != describe.Category && c.Kind != describe.Unread && !numeric || numeric != (c.Bins != nil) || numeric && (len(c.Range) != 2 || len(c.Quartiles) != 3) {
			return fmt.Errorf("%w: the column %s has other keys than its kind", ErrContent, shown(c.Name))
		}
		if numeric && (len(c.Bins.Counts) != mechanism.TreeLeaves || len(c.Bins.Edges) != mechanism.TreeLeaves+1) {
			return fmt.Errorf("%w: the histogram of %s has no %d bins", ErrContent, shown(c.Name), mechanism.TreeLeaves)
		}
	}
	return nil
}

// CollectDescription returns the files of a description that ends now, like [Collect].
func CollectDescription(res *describe.Result, stats *dataset.Stats, table string) Files {
	run := &Run{
		Format: RunFormat, Notice: notice, Cells: stats, Seconds: map[string]float64{}, Rows: res.Curator.Rows, TrainRows: res.Curator.TrainRows,
		Date: time.Now().UTC().Format(time.RFC3339), Data: table, Tool: ThisTool(),
	}
	for stage, seconds := range res.Curator.Seconds {
		run.Seconds[stage] = seconds
	}
	return Files{Description: NewDescription(res), Run: run}
}

// published lists the files of the release of a description; see [Files.published].
func (d *Description) published(checksum *string) []publishedFile {
	var page string
	return []publishedFile{
		{pageFile, hashed(&page, d.HTML)},
		{descriptionFile, func(w io.Writer) error {
			final := *d
			final.Files = DescriptionHashes{page}
			sealed, err := final.sealed()
			if err != nil {
				return err
			}
			*checksum = sealed.Checksum
			return EncodeDescription(w, sealed)
		}},
	}
}

// grouped prints a number with so many decimals and a comma after each three digits before them, or in the scientific notation if it
// is very large or small. With -3 decimals it is rounded to thousands.
func grouped(x float64, decimals int) string {
	if decimals < 0 {
		unit := math.Pow10(-decimals)
		x = math.Round(x/unit) * unit
	}
	size := math.Abs(x)
	if size >= 1e12 || decimals > 6 && size > 0 {
		return fmt.Sprintf("%.3g", x)
	}
	text := fmt.Sprintf("%.*f", max(decimals, 0), size)
	whole, rest, _ := strings.Cut(text, ".")
	var b strings.Builder
	if x < 0 && strings.Trim(text, "0.") != "" {
		b.WriteByte('-')
	}
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if rest != "" {
		b.WriteString("." + rest)
	}
	return b.String()
}

// decimalsFor returns the decimals with which numbers are printed that differ by this much: their last digits differ by 2 to 20.
func decimalsFor(difference float64) int {
	if !(difference > 0) || math.IsInf(difference, 0) {
		return 3
	}
	return -int(math.Floor(math.Log10(difference / 2)))
}

// interval prints an estimate with its interval: "38.6 (38.3 to 38.9)".
func interval(value, lower, upper *float64) string {
	if value == nil {
		return "unknown"
	}
	decimals := 3
	switch {
	case lower != nil && upper != nil:
		decimals = decimalsFor(*upper - *lower)
	case lower != nil:
		decimals = decimalsFor(*value - *lower)
	case upper != nil:
		decimals = decimalsFor(*upper - *value)
	}
	show := func(x float64) string { return grouped(x, decimals) }
	switch {
	case lower != nil && upper != nil:
		return fmt.Sprintf("%s (%s to %s)", show(*value), show(*lower), show(*upper))
	case lower != nil:
		return fmt.Sprintf("%s (at least %s)", show(*value), show(*lower))
	case upper != nil:
		return fmt.Sprintf("%s (at most %s)", show(*value), show(*upper))
	}
	return show(*value) + " (no bound)"
}

// counts prints a number of records.
func counts(e describe.Estimate) string {
	if e.Value == nil {
		return "unknown"
	}
	return fmt.Sprintf("%s (%s to %s)", grouped(*e.Value, 0), grouped(*e.Lower, 0), grouped(*e.Upper, 0))
}
