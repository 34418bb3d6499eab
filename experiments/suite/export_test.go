package suite

import (
	"errors"
	"testing"
)

func TestCSV(t *testing.T) {
	second := trialRecord("a", "m", 2, .5)
	second.Values["overlap"] = .6
	second.Picked = []int{2, 7}
	failed := trialRecord("a", "m", 3, 0)
	failed.Outcome = failure(Failed, errors.New(`k is 5, "too many"`))
	records := []Record{
		trialRecord("a", "m", 1, .25),
		second, failed,
	}

	results, err := ResultsCSV(records)
	if err != nil {
		t.Fatal(err)
	}
	want := `data,method,k,epsilon,delta,n,copies,share,noise,lambda,trial,status,overlap,r2,seconds,picked,reason
a,m,5,1,,,,,,,1,ok,,0.25,0.5,,
a,m,5,1,,,,,,,2,ok,0.6,0.5,0.5,2 7,
a,m,5,1,,,,,,,3,failed,,,0,,"k is 5, ""too many"""
`
	if string(results) != want {
		t.Errorf("results:\n%s", results)
	}
	summary, err := SummaryCSV(records)
	if err != nil {
		t.Fatal(err)
	}
	want = `data,method,k,epsilon,delta,n,copies,share,noise,lambda,metric,trials,mean,low95,high95,min,q25,median,q75,max,abstained,not_applicable,failed,unavailable,reason
a,m,5,1,,,,,,,overlap,1,0.6,,,0.6,0.6,0.6,0.6,0.6,0,0,1,0,"k is 5, ""too many"""
a,m,5,1,,,,,,,r2,2,0.375,0.13000450193249324,0.6199954980675068,0.25,0.3125,0.375,0.4375,0.5,0,0,1,0,"k is 5, ""too many"""
`
	if string(summary) != want {
		t.Errorf("summary:\n%s", summary)
	}
}

func TestSettingString(t *testing.T) {
	for want, s := range map[string]Setting{
		"share=0.04 noise=0.32": {Share: .04, Noise: .32},
		"":                      {},
		"k=5 epsilon=0.5":       {K: 5, Epsilon: .5},
		"epsilon=1 delta=1e-05 n=100 copies=3": {
			Epsilon: 1,
			Delta:   1e-5,
			N:       100,
			Copies:  3,
		},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
