package ui

import (
	"net/http"
	"testing"
)

// TestRuns checks that settings and metrics of the runs in a folder are read from their reports, and that a folder
// without a readable report has an error message.
func TestRuns(t *testing.T) {
	r := newRecorded(t)
	good := `{"format":"dptrain.report/4","task":"regression","target":"y","guarantee":{"epsilon":2,"delta":1e-6,"relation":"add-remove","unit":{"column":"p","max_rows":4}},` +
		`"features":{"considered":["a","b"],"selected":["a"]},"model":{"method":"joint-gram"},"metrics":{"r2":{"value":0.5,"lower":0.4,"upper":0.6,"level":0.95}},` +
		`"warnings":[{"code":"no-ledger","severity":"theoretical","text":"no ledger"}],"checksum":"x"}`
	for dir, text := range map[string]string{
		"a":     good,
		"b":     "{",
		"c":     `{"format":"dptrain.causal/2"}`,
		"sub/d": good,
	} {
		r.writeFile(t, dir+"/release/report.html", "<p>")
		r.writeFile(t, dir+"/release/report.json", text)
	}
	r.writeFile(t, "e/release/report.html", "<p>")
	var got struct{ Runs []comparedRun }
	code := r.askAPI(
		t, "runs",
		`{"path":"."}`,
		&got,
	)
	if code != http.StatusOK || len(got.Runs) != 4 {
		t.Fatalf("%d %+v", code, got)
	}
	a := got.Runs[0]
	if a.Path != "a" ||
		a.Error != "" ||
		a.Target != "y" ||
		a.Guarantee.Epsilon != 2 ||
		a.Guarantee.Unit.MaxRows != 4 ||
		a.Metrics.R2.Upper != .6 ||
		a.Metrics.Accuracy != nil ||
		len(a.Features.Selected) != 1 ||
		a.Warnings[0].Severity != "theoretical" {
		t.Errorf("%+v", a)
	}
	for i, want := range []string{"is not the report of a training run",
		"is not the report of a training run", "is missing"} {
		run := got.Runs[i+1]
		if run.Error != run.Path+"/release/report.json "+want ||
			run.Target != "" {
			t.Errorf("%+v", run)
		}
	}
	r.askAPI(t, "runs", `{"path":"sub"}`, &got)
	if len(got.Runs) != 1 ||
		got.Runs[0].Path != "sub/d" {
		t.Errorf("%+v", got.Runs)
	}
}
