package ui

import (
	"encoding/json"
	"net/http"
	"path"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// reportFile is the path of the JSON report, relative to the folder of a run.
var reportFile = filepath.Join("release", "report.json")

// mostRuns is the maximum number of runs in a comparison.
const mostRuns = 100

// A comparedRun holds the settings and results of a run from its report. All fields are released.
type comparedRun struct {
	Path   string `json:"path"`
	Error  string `json:"error,omitempty"` // why the report cannot be read; the other fields except Path are then empty
	Format string `json:"format"`
	Task   string `json:"task"`
	Target string `json:"target"`
	// Guarantee has the keys of report.json.
	Guarantee struct {
		Epsilon  float64 `json:"epsilon"`
		Delta    float64 `json:"delta"`
		Relation string  `json:"relation"`
		Unit     *struct {
			Column  string `json:"column"`
			MaxRows int    `json:"max_rows"`
		} `json:"unit"`
		Attack *struct {
			FalseAlarms float64 `json:"false_alarms"`
			Found       float64 `json:"found"`
		} `json:"attack"`
	} `json:"guarantee"`
	Features struct {
		Considered []string `json:"considered"`
		Selected   []string `json:"selected"`
	} `json:"features"`
	Model struct {
		Method string `json:"method"`
		Kind   string `json:"kind"`
	} `json:"model"`
	Metrics  metrics `json:"metrics"`
	Warnings []struct {
		Code     string `json:"code"`
		Severity string `json:"severity"`
		Text     string `json:"text"`
	} `json:"warnings"`
	Stopped *struct {
		Meaning string `json:"meaning"`
	} `json:"stopped"`
	Ledger *struct {
		Dataset string `json:"dataset"`
	} `json:"ledger"`
}

// metrics are the held-out metrics of a run; nil where they are not reported.
type metrics struct {
	R2               *estimate `json:"r2"`
	MAE              *estimate `json:"mae"`
	RMSE             *estimate `json:"rmse"`
	Accuracy         *estimate `json:"accuracy"`
	BalancedAccuracy *estimate `json:"balanced_accuracy"`
	AUC              *estimate `json:"auc"`
}

// UnmarshalJSON decodes the metrics of a report, without those that the report withholds.
func (m *metrics) UnmarshalJSON(text []byte) error {
	var all report.Metrics
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	all = all.Measured()
	*m = metrics{
		MAE:              estimateOf((*report.Share)(all.MAE)),
		RMSE:             estimateOf((*report.Share)(all.RMSE)),
		Accuracy:         estimateOf(all.Accuracy),
		BalancedAccuracy: estimateOf(all.BalancedAccuracy),
		AUC:              estimateOf(all.AUC),
	}
	if r := all.R2; r != nil {
		m.R2 = &estimate{r.Value, r.Lower, r.Upper, r.Level}
	}
	return nil
}

// An estimate is a metric with its confidence interval at Level.
type estimate struct {
	Value float64 `json:"value"`
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
	Level float64 `json:"level"`
}

// estimateOf returns the metric of a report; nil remains nil.
func estimateOf(s *report.Share) *estimate {
	if s == nil {
		return nil
	}
	return &estimate{s.Value, s.Lower, s.Upper, s.Level}
}

// answerRuns answers with the settings and results of all runs in a folder.
func (s *Server) answerRuns(_ *http.Request, a *request) (any, error) {
	found, err := s.listFolder(a.Path)
	if err != nil {
		return nil, err
	}
	out := []comparedRun{}
	for _, f := range found.Files {
		if f.Kind == "results" && len(out) < mostRuns {
			out = append(out, s.readRun(f.Path))
		}
	}
	return map[string]any{"runs": out}, nil
}

// readRun reads the report of a run.
func (s *Server) readRun(dir string) comparedRun {
	at := filepath.Join(filepath.FromSlash(dir), reportFile)
	unread := func(reason string) comparedRun {
		return comparedRun{
			Path:  dir,
			Error: path.Join(dir, "release", "report.json") + " " + reason,
		}
	}
	info, err := s.root.Stat(at)
	if err != nil {
		return unread("is missing")
	}
	if info.Size() > maxPage {
		return unread("is too large")
	}
	text, err := s.root.ReadFile(at)
	if err != nil {
		return unread("cannot be read")
	}
	var run comparedRun
	if err := json.Unmarshal(text, &run); err != nil ||
		!strings.HasPrefix(run.Format, "dptrain.report/") {
		return unread("is not the report of a training run")
	}
	run.Path = dir
	run.Error = ""
	return run
}
