package regression_test

import (
	"bytes"
	"fmt"
	"log"
	"math"
	"os"

	"github.com/dptrain/dptrain/regression"
)

func housesModel() *regression.Linear {
	return &regression.Linear{
		Target: "price",
		Columns: []regression.Column{
			{Name: "rooms", Lower: 1, Upper: 10, Missing: 4},
			{
				Name:       "ocean",
				Type:       regression.Category,
				Categories: []string{"inland", "near bay"},
				Other:      true,
			},
		},
		Terms: []regression.Term{
			{Column: 0, Coefficient: 20, StdError: 0.5},
			{Column: 1, Category: "near bay", Coefficient: 100, StdError: 2},
		},
		Intercept:         50,
		InterceptStdError: 1,
		Lower:             0,
		Upper:             300,
		Guarantee: &regression.Guarantee{
			Epsilon:  1,
			Delta:    1e-6,
			Mu:       0.25,
			Relation: "add-remove",
		},
	}
}

// A model treats new rows as training treated its own: the second row's missing number of rooms becomes 4, the
// third's is clamped to 10 and its place is "other".
func ExampleLinear() {
	pred, err := housesModel().Predict(nil, regression.Rows{
		N:       3,
		Numeric: map[string][]float64{"rooms": {3, math.NaN(), 5000}},
		Labels:  map[string][]string{"ocean": {"inland", "near bay", "the Moon"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pred)
	// Output: [110 230 250]
}

// A compiled model predicts single records, such as those of a request.
func ExampleCompile() {
	p, err := regression.Compile(housesModel())
	if err != nil {
		log.Fatal(err)
	}
	for _, record := range []map[string]any{
		{"rooms": 3, "ocean": "inland"},
		{"rooms": nil, "ocean": "near bay"},
		{"rooms": "5000", "ocean": "the Moon"},
	} {
		price, err := p.PredictRecord(record)
		fmt.Println(price, err)
	}
	fmt.Println(
		p.PredictRow([]regression.Cell{
			regression.NumberCell(3),
			regression.TextCell("near bay"),
		}))
	// Output:
	// 110 <nil>
	// 230 <nil>
	// 250 <nil>
	// 210
}

// All absent columns are reported at once.
func ExampleColumnError() {
	_, err := housesModel().Predict(nil, regression.Rows{N: 1})
	fmt.Println(err)
	// Output:
	// column "rooms": the model needs this column, but the rows do not contain it
	// column "ocean": the model needs this column, but the rows do not contain it
}

func ExampleEncodeModel() {
	if err := regression.EncodeModel(os.Stdout, housesModel()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {
	//   "format": "dptrain.model/2",
	//   "kind": "linear",
	//   "task": "regression",
	//   "target": "price",
	//   "columns": [
	//     {"name":"rooms","type":"numeric","lower":1,"upper":10,"missing":4},
	//     {"name":"ocean","type":"category","categories":["inland","near bay"],"other":true}
	//   ],
	//   "terms": [
	//     {"column":"rooms","coefficient":20,"std_error":0.5},
	//     {"column":"ocean","category":"near bay","coefficient":100,"std_error":2}
	//   ],
	//   "intercept": {"coefficient":50,"std_error":1},
	//   "prediction": {"lower":0,"upper":300},
	//   "guarantee": {"epsilon":1,"delta":0.000001,"mu":0.25,"relation":"add-remove"}
	// }
}

func ExampleDecodeModel() {
	var file bytes.Buffer
	if err := regression.EncodeModel(&file, housesModel()); err != nil {
		log.Fatal(err)
	}
	spoilt := bytes.Replace(
		file.Bytes(),
		[]byte(`"rooms","coefficient"`),
		[]byte(`"Rooms","coefficient"`),
		1,
	)

	m, err := regression.DecodeModel(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Kind(), m.Output().Target, len(m.Inputs()))

	_, err = regression.DecodeModel(bytes.NewReader(spoilt))
	fmt.Println(err)
	// Output:
	// linear price 2
	// model file 11:15: terms[0].column: no column has this name
}

// A line and a curve: values are looked up between edges.
func ExampleAdditive() {
	m := &regression.Additive{
		Linear: regression.Linear{
			Target:    "rentals",
			Columns:   []regression.Column{{Name: "hour", Lower: 0, Upper: 24}},
			Terms:     []regression.Term{{Column: 0, Coefficient: 1}},
			Intercept: 10,
			Upper:     100,
		},
		Shapes: []regression.Shape{{
			Column: 0,
			Step:   regression.Step{Edges: []float64{7, 19}, Values: []float64{-8, 30, 0}},
		}},
	}
	got, err := m.Predict(
		nil,
		regression.Rows{N: 3, Numeric: map[string][]float64{"hour": {2, 7, 20}}},
	)
	fmt.Println(got, err)
	// Output: [4 47 30] <nil>
}
