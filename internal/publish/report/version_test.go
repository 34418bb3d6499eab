package report

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeThree is the flag with which the golden files of version 3 were written.
var writeThree = flag.Bool(
	"write-report-3",
	false,
	"write testdata/report-3*.json anew; never after version 3 was published",
)

// asVersion3 returns a report in version 3 with every key of its task.
func asVersion3(r *Report) *Report {
	r.Format = format3
	r.Files = Hashes{
		Model:  strings.Repeat("0a", 32),
		Recipe: strings.Repeat("1b", 32),
	}
	r.Guarantee = r.Guarantee.explained()
	r.Guarantee.Meaning = r.Guarantee.formerMeaningOf()
	r.Events = append(
		r.Events,
		Event{
			ID:    "fit/train/all/model/gram",
			Stage: "model",
			Law:   "gaussian",
			Draws: 1,
			Part:  "train",
			Mu:    .25,
			Taken: new(bool),
		},
	)
	r.Metrics.Records = &Count{9876.5, 12.25, true, "holdout"}
	r.Metrics.MissingTargets = &Missing{
		-3, 12.25, 0, 0, .125,
		.95, true, "holdout",
	}
	r.Importances = []Importance{
		{"age", 12.5, 11.25, 13.75, .95},
		{"near \"bay\"", .125, 0, .5, .95},
	}
	r.Columns = []Unread{
		{Column: "admitted", Left: true},
		{
			Column: "weight",
			Left:   true,
			TooFew: true,
		},
		{
			Column:   "stay",
			Unread:   .25,
			StdError: .015625,
		},
	}
	if m := r.Metrics.R2; m != nil {
		m.ResidualClip = 0
		m.Beyond = .004
		m.BeyondUpper = .01
		r.Metrics.MAE = &Quality{70, 65, 75, .95, true, "holdout"}
		r.Metrics.RMSE = &Quality{100, 90, 120, .95, true, "holdout"}
		r.Metrics.Intervals = []Interval{{.9, 250}, {.95, 354}}
	}
	return r
}

func TestFormatThree(t *testing.T) {
	for path, want := range map[string]*Report{
		"testdata/report-3.json":         asVersion3(frozenReport()),
		"testdata/report-3-classes.json": asVersion3(withScores(frozenClasses())),
	} {
		var b bytes.Buffer
		if err := Encode(&b, want); err != nil {
			t.Fatal(err)
		}
		if *writeThree {
			err := os.WriteFile(path, b.Bytes(), 0o644)
			if err != nil {
				t.Fatal(err)
			}
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		diff := cmp.Diff(string(file), b.String())
		if diff != "" {
			t.Errorf(
				"%s: encoded differs (-want +got):\n%s",
				path, diff,
			)
		}
		got, err := Decode(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		want.Checksum = got.Checksum // Encode fills it in
		diff = cmp.Diff(want, got)
		if diff != "" {
			t.Errorf(
				"%s: decoded differs (-want +got):\n%s",
				path, diff,
			)
		}
	}
}

// TestChecksum checks that the checksum is that of the text with an empty string in its place, and that every edit of
// a value changes it.
func TestChecksum(t *testing.T) {
	file, err := os.ReadFile("testdata/report-3.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	empty := strings.Replace(string(file), r.Checksum, "", 1)
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(empty)))
	if len(r.Checksum) != 64 || sum != r.Checksum {
		t.Errorf("%s, want %s", r.Checksum, sum)
	}
	r.Guarantee.Epsilon = .5
	var b bytes.Buffer
	if err := Encode(&b, r); err != nil || strings.Contains(b.String(), r.Checksum) {
		t.Errorf(
			"the checksum of another report is the same: %v",
			err,
		)
	}
}

// TestKeysOfVersions checks that a key is rejected in versions that do not know it, may be absent if it is optional,
// and is required otherwise.
func TestKeysOfVersions(t *testing.T) {
	for _, tt := range []struct {
		name, path, old, new string
		says                 string // empty if the report is valid
	}{
		{"a key of 3 in 1", "report-1.json", `"metrics": {`,
			`"metrics": {"records":{"value":1,"scale":1,"private":true,"part":"holdout"},`,
			`metrics: unknown key "records"`},
		{"a key of 3 in 2", "report-2.json", `"metrics": {`, `"metrics": {"records":null,`,
			`metrics: unknown key "records"`},
		{
			"version 1 without r2", "report-1.json",
			`"r2":`, `"r3":`,
			`metrics: unknown key "r3"`,
		},
		{
			"version 3 without r2",
			"report-3-classes.json",
			`"target":`, `"target":`,
			"",
		},
		{
			"both tasks in 3", "report-3.json",
			`"metrics": {`,
			`"metrics": {"accuracy":null,`,
			"",
		},
		{"an unknown key in 3", "report-3.json", `"metrics": {`, `"metrics": {"r3":null,`,
			`metrics: unknown key "r3"`},
		{"an absent key in 3", "report-3.json", `"scale":12.25,"private":true`, `"private":true`,
			`metrics.records: key "scale" is absent`},
	} {
		file, err := os.ReadFile("testdata/" + tt.path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Decode(strings.NewReader(strings.Replace(
			string(file),
			tt.old,
			tt.new,
			1,
		)))
		if tt.says == "" && err != nil ||
			tt.says != "" &&
				(!errors.Is(err, ErrContent) || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf(
				"%s: %v, want one that says %q",
				tt.name, err, tt.says,
			)
		}
	}
}
