package dptrain_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain"
	"github.com/dptrain/dptrain/budget"
)

// flat is a record of the tests of tables of structs.
type flat struct {
	Area   float64 `dptrain:"area"`
	Floor  *int    `dptrain:"floor"`
	Street string  `dptrain:"street"`
	Lift   bool    `dptrain:"lift"`
	Owner  string  `dptrain:"owner,unit"`
	Note   []byte  `dptrain:"-"`
	Rent   float64 `dptrain:"rent"`
}

// flatRecords returns records whose rent is ten per square metre, and 300 more in the street "Elm".
func flatRecords(n int) []flat {
	out := make([]flat, n)
	for i := range out {
		floor := i % 5
		out[i] = flat{
			Area:   30 + float64(i%71),
			Floor:  &floor,
			Street: []string{"Oak", "Elm", "Fir"}[i%3],
			Lift:   i%2 == 0,
			Owner:  string(rune('a' + i%26)),
		}
		out[i].Rent = 10 * out[i].Area
		if out[i].Street == "Elm" {
			out[i].Rent += 300
		}
		if i%10 == 9 {
			out[i].Floor = nil
			out[i].Street = ""
		}
	}
	return out
}

// TestHoldRows checks runs on structs, with categories that are declared and with categories that are found, and the
// predictions of single structs and of a table of structs, whose missing cells are no error.
func TestHoldRows(t *testing.T) {
	table := must(dptrain.HoldRows(flatRecords(8_000)))
	want := []string{
		"area", "floor", "street", "lift",
		"rent", "owner",
	}
	if !slices.Equal(table.Header, want) {
		t.Errorf("header %v", table.Header)
	}
	for name, street := range map[string]dptrain.Column{
		"declared": dptrain.Categories("Elm", "Oak"),
		"found":    {FindCategories: true},
	} {
		run := dptrain.Run{
			Target:  "rent",
			Epsilon: 5,
			Exclude: []string{"owner"},
			Columns: map[string]dptrain.Column{
				"area":   dptrain.Range(20, 110),
				"floor":  dptrain.Range(0, 5),
				"street": street,
			},
		}
		plan, err := run.Plan(table)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fit := must(plan.Fit(t.Context(), table))
		if fit.R2 == nil || fit.R2.Value < .7 {
			t.Errorf("%s: %v", name, fit.R2)
		}
		found := fit.FoundCategories["street"]
		if (name == "found") != slices.Equal(found, []string{"Elm", "Fir", "Oak"}) {
			t.Errorf("%s: found %v", name, found)
		}
		predictor := must(fit.Predictor())
		rows := flatRecords(20)
		all := must(dptrain.Predict(
			t.Context(), fit.Model,
			must(dptrain.HoldRows(rows)),
		))
		for i := range rows {
			rent, err := predictor.PredictStruct(&rows[i])
			if err != nil ||
				rent != all[i] ||
				math.Abs(rent-rows[i].Rent) > 500 {
				t.Errorf(
					"%s: %v, %v, in a table %v, want about %v",
					name,
					rent,
					err,
					all[i],
					rows[i].Rent,
				)
			}
		}
		_, err = predictor.PredictStruct(struct{ Area float64 }{70})
		if err == nil || !strings.Contains(err.Error(), "street") {
			t.Errorf(
				"%s: a struct without a column: %v",
				name, err,
			)
		}
	}
}

// TestHoldRowsClasses checks that a target of strings makes a classification, and one of booleans too, whose units are
// protected.
func TestHoldRowsClasses(t *testing.T) {
	table := must(dptrain.HoldRows(flatRecords(8_000)))
	for _, run := range []dptrain.Run{
		{
			Target:  "street",
			Classes: []string{"Elm", "Oak", "Fir"},
			Exclude: []string{"owner"},
		},
		{Target: "street", Exclude: []string{"owner"}},
		{Target: "lift", Unit: budget.Unit{Column: "owner", MaxRows: 1000}},
	} {
		run.Epsilon = 5
		plan, err := run.Plan(table)
		if err != nil {
			t.Fatalf("%s: %v", run.Target, err)
		}
		fit := must(plan.Fit(t.Context(), table))
		if fit.Confusion == nil ||
			fit.Task != "classification" ||
			fit.R2 != nil {
			t.Errorf(
				"%s: %+v",
				run.Target, fit.Confusion,
			)
		}
	}
}

// TestHoldRowsRejected checks that types without columns are rejected, and a string column that is declared as a number.
func TestHoldRowsRejected(t *testing.T) {
	if _, err := dptrain.HoldRows([]int{1}); !errors.Is(err, dptrain.ErrSchema) {
		t.Errorf("numbers: %v", err)
	}
	_, err := dptrain.HoldRows([]struct{ A []string }{})
	if !errors.Is(err, dptrain.ErrSchema) ||
		!strings.Contains(err.Error(), "field A") {
		t.Errorf("lists: %v", err)
	}
	if _, err := dptrain.HoldRows([]struct{}{}); !errors.Is(err, dptrain.ErrSchema) {
		t.Errorf("without fields: %v", err)
	}
	run := dptrain.Run{
		Target:  "rent",
		Epsilon: 1,
		Exclude: []string{"owner"},
		Columns: map[string]dptrain.Column{"street": dptrain.Range(0, 1)},
	}
	_, err = run.Plan(must(dptrain.HoldRows(flatRecords(10))))
	if !errors.Is(err, dptrain.ErrSchema) {
		t.Errorf("text as a number: %v", err)
	}
}

// TestForeignMethods checks that methods of another module are rejected with the name of the field.
func TestForeignMethods(t *testing.T) {
	table := &dptrain.Table{Header: []string{"x", "y"}}
	for want, run := range map[string]dptrain.Run{
		"Model: dptrain_test.foreign is no method":    {Model: foreign{}},
		"Fallback: dptrain_test.foreign is no method": {Fallback: foreign{}},
		"Selector: dptrain_test.foreign is no method": {Selector: foreign{}},
		"Search.Candidates[1].Model: dptrain_test.fo": {Search: &dptrain.Search{
			Candidates: []dptrain.Candidate{{}, {Model: foreign{}}},
		}},
	} {
		run.Target = "y"
		run.Epsilon = 1
		_, err := run.Plan(table)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// foreign is a method of another module.
type foreign struct{}

func (foreign) Name() string {
	return "kendall"
}
