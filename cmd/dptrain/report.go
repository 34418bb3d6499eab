package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/regression"
)

const reportLong = `Print the report of a run: the guarantee, the model, the private metrics and the
warnings. OUT is the output folder of a run, its release folder, or the file
report.json or model.json in the release folder.

With --shape, print the contribution of one column to the prediction instead:
the values of its curve or of its categories, in units of the target.

With --scores, print instead the accuracy of a classifier by score and, for two
classes, recall and precision at other thresholds.

With --format html or md, print one page, as self-contained HTML (the same as
release/report.html) or as Markdown; json prints the report file.

With --registry, print instead the fields of the public registry of differential
privacy deployments, as JSON. Fields that only you can know, such as the name
and the intended use, are left empty for you to fill in.

With --check-script, print instead a short Python program that computes epsilon
from the report alone, using the public library dp-accounting and no code of
dptrain. It fails if the result differs from the report or the report was
edited.

For a causal study or a description of columns, print what ` + "`dptrain causal`" + ` or
` + "`dptrain describe`" + ` printed.

All of this comes from the release folder and may be published.`

func reportCommand(a *app) *cobra.Command {
	var shape, format string
	var registry, scores, script, asJSON bool
	cmd := &cobra.Command{
		Use:   "report OUT",
		Short: "Print the report of a run or a curve of its model",
		Long:  reportLong,
		Example: `  dptrain report out/
  dptrain report out/release/model.json --shape income
  dptrain report out/ --format md > report.md
  dptrain report out/ --registry > deployment.json`,
		Args: exactly(1, "the output folder of a run, or a file of it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.Flags().NFlag(); n > 1 {
				return usagef("give only one flag: each selects a different output")
			}
			if asJSON {
				format = "json"
			}
			at := released(args[0])
			if script {
				return a.printCheckScript(at)
			}
			if path := accountAt(at.report); isTaskReport(path) {
				return a.reportTask(path, cmd.Flags(), format)
			}
			if cmd.Flags().Changed("shape") {
				return a.printShape(at.model, shape)
			}
			r, err := readReport(at.report)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("format") || asJSON {
				return a.printAs(format, r, at)
			}
			if registry {
				return a.printRegistry(r)
			}
			if scores {
				return report.ScoreTable(a.stdout, r)
			}
			return a.printText(r, at)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&registry, "registry", false,
		"print the fields of the public registry of differential privacy deployments, as JSON")
	cmd.Flags().BoolVar(&scores, "scores", false,
		"print the accuracy of a classifier by score, and recall and precision at other thresholds")
	cmd.Flags().BoolVar(&script, "check-script", false,
		"print a Python program that computes epsilon from the report alone")
	cmd.Flags().StringVar(&format, "format", "text",
		"print the report as `FORMAT`: "+strings.Join(reportFormats(), ", "))
	jsonFlag(cmd, &asJSON, "the report file (same as --format json)")
	cmd.Flags().StringVar(&shape, "shape", "",
		"print the contribution of `COLUMN` to the prediction; an unknown name lists the columns")
	return cmd
}

// reportFormats lists the values of --format.
func reportFormats() []string {
	return []string{"text", "html", "md", "json"}
}

// printAs prints a report in a format.
func (a *app) printAs(format string, r *report.Report, at release) error {
	switch format {
	case "text":
		return a.printText(r, at)
	case "json":
		return report.Encode(a.stdout, r)
	case "html", "md":
	default:
		return usagef("unknown format %q; --format must be one of %s", format,
			strings.Join(reportFormats(), ", "))
	}
	s := report.Source{Report: r}
	if r.Training != nil && r.Model.Kind != "" {
		m, err := readModel(at.model, "")
		if err != nil {
			return err
		}
		s.Model = m
	}
	recipe, err := os.ReadFile(filepath.Join(filepath.Dir(at.report), "recipe.yaml"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unreadable(
			filepath.Join(filepath.Dir(at.report), "recipe.yaml"),
			"recipe",
			err,
		)
	}
	s.Recipe = recipe
	if format == "md" {
		return report.Markdown(a.stdout, s)
	}
	return report.HTML(a.stdout, s)
}

// printText prints a report as text. For a tree it adds the costs of the paths, and for prototypes a description of
// a typical member of each class. Without a model it prints the report alone.
func (a *app) printText(r *report.Report, at release) error {
	if err := report.Text(a.stdout, r); err != nil || r.Training == nil || r.Model.Kind == "" {
		return err
	}
	if _, err := os.Stat(at.model); errors.Is(err, fs.ErrNotExist) || at.model == at.report {
		return nil
	}
	m, err := readModel(at.model, "")
	if err != nil {
		return err
	}
	if err := report.PathCosts(a.stdout, m); err != nil {
		return err
	}
	return report.Typical(a.stdout, m)
}

// printRegistry prints the fields of the registry for a report. On a terminal it also lists the fields that are
// still to be filled in.
func (a *app) printRegistry(r *report.Report) error {
	if a.terminal {
		fmt.Fprintln(a.stderr,
			"dptrain: to be filled in by you: "+strings.Join(report.ToFillIn(), ", "))
	}
	return report.EncodeRegistry(a.stdout, r)
}

// printCheckScript prints a program that verifies the privacy composition of a release.
func (a *app) printCheckScript(at release) error {
	path := accountAt(at.report)
	data, err := os.ReadFile(path)
	if err != nil {
		return unreadable(at.report, "report", err)
	}
	err = report.CheckScript(a.stdout, data)
	switch {
	case errors.Is(err, report.ErrFormat):
		_, err = readReport(path) // the error names the kind of file
		return err
	case errors.Is(err, report.ErrEdited):
		return fault.WithKind(fault.Broken, &placeError{path, err.Error()})
	case errors.Is(err, report.ErrContent):
		return fault.WithKind(fault.Data, &placeError{path, err.Error()})
	}
	return err
}

// modelFile is the model in its release.
const modelFile = "model.json"

// isTaskReport reports whether a path is that of the report of a run that trains no model, by its name.
func isTaskReport(path string) bool {
	name := filepath.Base(path)
	return name != report.ReportFile && slices.Contains(report.FileNames(), name)
}

// readTaskReport opens the report of a run that trains no model.
func readTaskReport(path string) (*report.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, "report", err)
	}
	defer f.Close()
	r, err := report.DecodeFile(f, filepath.Base(path))
	if err != nil {
		return nil, fault.WithKind(fault.Data, &placeError{path, err.Error()})
	}
	return r, nil
}

// reportTask prints the report of a run that trains no model.
func (a *app) reportTask(
	path string,
	flags *pflag.FlagSet,
	format string,
) error {
	r, err := readTaskReport(path)
	if err != nil {
		return err
	}
	for _, name := range []string{"shape", "registry", "scores"} {
		if flags.Changed(name) {
			return usagef("--%s needs a run that trained a model; this is %s", name,
				documentName(r.Format))
		}
	}
	if r.Causal != nil && format != "text" && format != "json" {
		return usagef(
			"a causal study can only be printed as text or json; its picture is causal.svg")
	}
	return a.printAs(format, r, release{report: path})
}

// accountAt returns path if it is a report, or else the path of a causal study or a description in the same folder.
func accountAt(path string) string {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path
	}
	for _, name := range []string{report.CausalFile, report.DescriptionFile} {
		other := filepath.Join(filepath.Dir(path), name)
		if _, err := os.Stat(other); err == nil {
			return other
		}
	}
	return path
}

// A release holds the paths of a report and a model.
type release struct{ report, model string }

// released returns the report and the model for a path to a folder or to either file. Only the requested file needs
// to exist.
func released(path string) release {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		if inner := filepath.Join(path, report.ReleaseDir); isDir(inner) {
			path = inner
		}
		return release{filepath.Join(path, report.ReportFile), filepath.Join(path, modelFile)}
	}
	at := release{path, path}
	switch filepath.Base(path) {
	case modelFile:
		at.report = filepath.Join(filepath.Dir(path), report.ReportFile)
	case report.ReportFile:
		at.model = filepath.Join(filepath.Dir(path), modelFile)
	}
	return at
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// readReport opens the report of a run that trains a model.
func readReport(path string) (*report.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, "report", err)
	}
	defer f.Close()
	r, err := report.Decode(f)
	if err == nil {
		return r, nil
	}
	what := err.Error()
	if kind := documentKind(path); kind != "a report" {
		what = "this is not a report"
		if kind != "" {
			what = "this is " + kind + ", not a report"
		}
		what += "; pass the output folder of a run, or report.json in its release folder"
	}
	return nil, fault.WithKind(fault.Data, &placeError{path, what})
}

// documentKind returns the kind of a JSON file of dptrain, from the key "format", which is always the first. The
// file may be incomplete. It returns "" for any other file.
func documentKind(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	dec := json.NewDecoder(io.LimitReader(f, 1<<12))
	format := firstMember(dec, json.Delim('{'), "format")
	if strings.HasPrefix(format, "dptrain.model/") &&
		firstMember(dec, "kind") == new(regression.Neighbours).Kind() {
		return modelOfCompress
	}
	return documentName(format)
}

// documentName names the kind of a JSON file by its format. It is empty for a format of another program.
func documentName(format string) string {
	kind, _, _ := strings.Cut(format, "/")
	return map[string]string{
		"dptrain.model":     aModel,
		"dptrain.report":    "a report",
		"dptrain.causal":    "a causal study",
		"dptrain.describe":  "a description of columns",
		"dptrain.run":       "the file with the data owner's private notes on a run",
		"dptrain.own-audit": "the data owner's private audit of a table",
		"dptrain.audit":     "an audit",
		"dptrain.plan":      "a plan",
		"dptrain.explain":   "an explained plan",
	}[kind]
}

// The results of documentKind for models.
const (
	aModel          = "a model"
	modelOfCompress = "a model made by compress, without privacy"
)

// firstMember returns the string that follows the given tokens, or "" if the next tokens differ.
func firstMember(dec *json.Decoder, tokens ...json.Token) string {
	for _, want := range tokens {
		if token, err := dec.Token(); err != nil || token != want {
			return ""
		}
	}
	token, err := dec.Token()
	text, isText := token.(string)
	if err != nil || !isText {
		return ""
	}
	return text
}

// unreadable returns the error for a file of a release that cannot be opened.
func unreadable(path, what string, err error) error {
	return fault.WithKind(fault.Data,
		&pathError{path, fmt.Errorf("the %s cannot be read: %w", what, fault.Cause(err))})
}
