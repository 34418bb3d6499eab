package audit

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/train/causal"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// releasedRun returns the published results of a run, model.json and report.json, as named numbers: an adversary
// sees only these files. A text becomes the number 1 under a name of its own.
func releasedRun(res *pipeline.Result) (map[string]float64, error) {
	out := map[string]float64{}
	var buf bytes.Buffer
	if res.Model != nil {
		if err := regression.EncodeModel(&buf, res.Model); err != nil {
			return nil, err
		}
		if err := flatten(out, "model", buf.Bytes()); err != nil {
			return nil, err
		}
	}
	buf.Reset()
	if err := report.Encode(&buf, report.New(res)); err != nil {
		return nil, err
	}
	return out, flatten(out, "report", buf.Bytes())
}

// releasedStudy is the same for a study: causal.json, without public parts that change from run to run.
func releasedStudy(res *causal.Result) (map[string]float64, error) {
	out := map[string]float64{}
	var buf bytes.Buffer
	r := report.NewCausal(res)
	r.Causal.Redraws.Seed = ""
	if err := report.Encode(&buf, r); err != nil {
		return nil, err
	}
	return out, flatten(out, "causal", buf.Bytes())
}

func flatten(out map[string]float64, name string, text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	walk(out, name, v)
	return nil
}

func walk(out map[string]float64, name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		key := name
		if s, ok := v["name"].(string); ok { // the entries of a list that move when others come
			key = name + "/" + s
		}
		for k, x := range v {
			walk(out, key+"/"+k, x)
		}
	case []any:
		for i, x := range v {
			if s, ok := x.(string); ok {
				out[name+"="+s] = 1
				continue
			}
			walk(out, name+"/"+strconv.Itoa(i), x)
		}
	case float64:
		out[name] = v
	case bool:
		if v {
			out[name] = 1
		}
	case string:
		out[name+"="+v] = 1
	}
}

// columnsOf lists the names whose values differ among some runs, in order.
func columnsOf(runs []map[string]float64) []string {
	first := map[string]float64{}
	varies := map[string]bool{}
	for i, r := range runs {
		for k, v := range r {
			if w, ok := first[k]; !ok {
				first[k] = v
				varies[k] = varies[k] || i > 0
			} else if v != w {
				varies[k] = true
			}
		}
		for k := range first {
			if _, ok := r[k]; !ok {
				varies[k] = true
			}
		}
	}
	return sortedTrue(varies)
}

// inOrder returns the values of names; one that a run did not release is 0.
func inOrder(values map[string]float64, names []string) []float64 {
	out := make([]float64, len(names))
	for i, k := range names {
		v := values[k]
		if math.IsNaN(v) {
			v = -math.MaxFloat64
		}
		out[i] = v
	}
	return out
}
