package report

import (
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// RunFormat is the value of the key "format" in the curator's file.
const RunFormat = "dptrain.run/1"

// notice is the header of the curator's file.
const notice = "Exact facts about the records, without any privacy guarantee: do not publish them, and do not change the recipe because of them. The sizes of the parts also reveal something about who is held out, which the guarantee assumes to be secret."

// A Run holds facts that only the data owner may read: exact facts about the records and the circumstances of the
// run. Its fields are the keys of run.json.
type Run struct {
	Format string `json:"format"`
	Notice string `json:"notice"`
	Date   string `json:"date"` // RFC 3339
	Tool   Tool   `json:"tool"`
	Data   string `json:"data"` // path of the table, as given

	Rows        int `json:"rows"`
	TrainRows   int `json:"train_rows"`
	HoldoutRows int `json:"holdout_rows"`
	// ScoreRows is the number of training rows used to score the tries of a search; nil, and absent from the file,
	// for a run without a search.
	ScoreRows *int `json:"score_rows,omitempty"`
	// Cells counts the cells that were treated as missing, by column; nil (null) for a table that was not read from a
	// file.
	Cells *dataset.Stats `json:"cells"`
	// Seconds is the wall time by stage; for a search, that of its best try.
	Seconds map[string]float64 `json:"seconds"`
}

// Tool names the version of dptrain that ran.
type Tool struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

// NewRun returns the facts of a run that only the owner of the data may read. stats is what the reader counted,
// or nil. The caller fills in Date, Tool and Data.
func NewRun(r *Report, c pipeline.Curator, stats *dataset.Stats) *Run {
	run := &Run{
		Format:      RunFormat,
		Notice:      notice,
		Cells:       stats,
		Seconds:     map[string]float64{},
		Rows:        c.Rows,
		TrainRows:   c.TrainRows,
		HoldoutRows: c.HoldoutRows,
	}
	if r.training().Search != nil {
		run.ScoreRows = &c.ScoreRows
	}
	for stage, seconds := range c.Seconds {
		run.Seconds[stage] = seconds
	}
	return run
}

// module is the path of this module.
const module = "github.com/dptrain/dptrain"

// Version is the version of this program and of its Python package. A release is built from the tag "v" + Version
// (scripts/release.sh).
const Version = "1.0.0-rc.1"

// ThisTool describes the build of this module. The commit is empty if the build does not record it, and has the
// suffix + for a modified tree. In a program that imports the module, and in one that "go install" built from a
// commit other than that of a release, the version is the one that Go resolved.
func ThisTool() Tool {
	t := Tool{Version: Version, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	if i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool {
		return m.Path == module
	}); i >= 0 {
		t.Version = resolvedVersion(info.Deps[i].Version)
		return t
	}
	modified := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			t.Commit = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if t.Commit == "" && info.Main.Path == module {
		t.Version = resolvedVersion(info.Main.Version)
	}
	if modified && t.Commit != "" {
		t.Commit += "+"
	}
	return t
}

// resolvedVersion returns the version of a module without its leading v. A build from local files has [Version].
func resolvedVersion(v string) string {
	if v == "" || v == "(devel)" {
		return Version
	}
	return strings.TrimPrefix(v, "v")
}

// Collect returns the files of a run that ends now. m is the model, or nil; stats is what the reader counted, or nil;
// recipe is the published recipe, or nil; table is the path of the table, as given.
func Collect(
	r *Report,
	m regression.Model,
	c pipeline.Curator,
	stats *dataset.Stats,
	recipe []byte,
	table string,
) Files {
	run := NewRun(r, c, stats)
	run.Date, run.Data, run.Tool = time.Now().UTC().Format(time.RFC3339), table, ThisTool()
	return Files{
		Model:  m,
		Report: r,
		Recipe: recipe,
		Run:    run,
	}
}

// encode writes run.json.
func (r *Run) encode(w io.Writer) error {
	return encode(w, r, version(r.Format))
}
