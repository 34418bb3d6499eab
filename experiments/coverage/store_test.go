package coverage

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/train/pipeline"
)

var (
	runs     = flag.Int("runs", 0, "releases or fits of each setting; 0 measures a few")
	out      = flag.String("out", "", "file of finished settings, one line of JSON each")
	epsilons = flag.String("epsilons", "1", "list of epsilons")
	sizes    = flag.String(
		"sizes",
		"500,2000,16000",
		"list of numbers of held-out records of the laws",
	)
	share = flag.Float64(
		"share",
		.6,
		"share of a table that a fit sees; the rest is fresh",
	)
	most = flag.Int("most", 40000, "records of a table that are used at most")
	held = flag.Float64(
		"holdout",
		pipeline.DefaultHoldout,
		"share of records that pools hold out",
	)
	fits = flag.Float64(
		"fits",
		0,
		"epsilon of the models of pools; 0 means that of the release",
	)
	folder = flag.String("folder", "regression", "folder of public tables")
	only   = flag.String("only", "", "names of laws or tables; empty means all")
)

const delta = 1e-6

func parseFloats(t *testing.T, text string) []float64 {
	t.Helper()
	var numbers []float64
	for _, part := range strings.Split(text, ",") {
		x, err := strconv.ParseFloat(part, 64)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, x)
	}
	return numbers
}

func isWanted(name string) bool {
	return *only == "" || slices.Contains(
		strings.Split(*only, ","), name,
	)
}

// A line is a finished setting.
type line struct {
	Kind    string  `json:"kind"` // laws, tables, split or pools
	Name    string  `json:"name"`
	N       int     `json:"n"` // held-out records of laws, else records of a fit
	Epsilon float64 `json:"epsilon"`
	Runs    int     `json:"runs"`

	Covered    float64 `json:"covered"`    // share of runs whose interval holds the stated R² of new records
	AllErrors  float64 `json:"all_errors"` // the same of the R² of all errors, between its lower bound and the upper end
	Far        float64 `json:"far"`        // share of runs with far-targets
	Unreported float64 `json:"unreported"` // share of runs whose interval is wider than 1
	Error      float64 `json:"error"`      // median of |reported - stated|
	Bias       float64 `json:"bias"`       // median of reported - stated
	Hidden     float64 `json:"hidden"`     // median of the stated R² less that of all errors
	RMS        float64 `json:"rms"`        // root mean square of reported - stated
	Width      float64 `json:"width"`      // median
	Plain      float64 `json:"plain"`      // median width of an interval of the same quantity from the same number of records without privacy

	MAE, RMSE float64         // share of runs whose intervals hold those of new records, cut as stated
	Intervals map[string]mean `json:"intervals,omitempty"`
}

// A mean is the mean coverage of prediction intervals.
type mean struct {
	Published float64 `json:"published"` // share of runs
	Covered   float64 `json:"covered"`   // mean share of fresh records
}

func (l line) key() string {
	return fmt.Sprintf(
		"%s %s %d %g",
		l.Kind, l.Name, l.N,
		l.Epsilon,
	)
}

// finishedKeys returns the keys of the settings in the file.
func finishedKeys(t *testing.T) map[string]bool {
	t.Helper()
	done := map[string]bool{}
	f, err := os.Open(*out)
	if err != nil {
		return done
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		done[l.key()] = true
	}
	return done
}

// appendLine appends a setting to the file.
func appendLine(t *testing.T, l any) {
	t.Helper()
	data, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", data)
	if *out == "" {
		return
	}
	f, err := os.OpenFile(*out, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(data, '\n')); err != nil {
		t.Fatal(err)
	}
}

// median returns the median of x, or NaN if x is empty.
func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
