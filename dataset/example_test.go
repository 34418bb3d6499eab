package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/parquet-go/parquet-go"
)

// A file is read under a declared schema; the content of a row never causes an error.
func Example() {
	schema := dataset.Schema{Columns: []dataset.Column{
		{
			Name:       "age",
			Ranged:     true,
			Lower:      0,
			Upper:      120,
			HasMissing: true,
			Missing:    40,
		},
		{Name: "colour", Kind: dataset.Category, Categories: []string{"red", "blue"}},
		{Name: "price"},
	}}
	rows := "id,age,colour,price\n" +
		"1,31,red,9.5\n" +
		"2,unknown,blue,8\n" +
		"3,NA,green\n"
	table, stats, err := dataset.ReadFrom(
		context.Background(),
		strings.NewReader(rows),
		"stdin",
		schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Float(0))
	fmt.Println(table.Codes(1))
	fmt.Println(table.Float(2))
	fmt.Println("for the curator only:", stats.Rows, "rows,", stats.Short, "short")
	// Output:
	// [31 40 40]
	// [0 1 2]
	// [9.5 8 NaN]
	// for the curator only: 3 rows, 1 short
}

func ExampleRead() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "houses.csv")
	err = os.WriteFile(path, []byte("rooms,price\n3,100\n5,180\n"), 0o600)
	if err != nil {
		fmt.Println(err)
		return
	}
	names, _ := dataset.Header(path, dataset.ReadOptions{})
	fmt.Println(names)

	schema := dataset.Schema{Columns: []dataset.Column{{Name: "price"}}}
	table, _, _ := dataset.Read(context.Background(), path, schema, dataset.ReadOptions{})
	fmt.Println(table.Float(0))

	schema.Columns[0].Name = "Price"
	_, _, err = dataset.Read(context.Background(), path, schema, dataset.ReadOptions{})
	var fe *dataset.FileError
	fmt.Println(errors.Is(err, dataset.ErrNoColumn), errors.As(err, &fe))
	fmt.Println(fe.Msg)
	// Output:
	// [rooms price]
	// [100 180]
	// true true
	// there is no column "Price"
}

func ExampleNewTable() {
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "x"},
		{Name: "colour", Kind: dataset.Category, Categories: []string{"red", "blue"}},
	}}
	table, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{
			{Floats: []float64{1.5, 2.5}},
			{Codes: []int32{1, 9}},
		},
		nil,
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Len(), table.Float(0), table.Codes(1))
	// Output: 2 [1.5 2.5] [1 2]
}

func ExampleForEach() {
	schema := dataset.Schema{Columns: []dataset.Column{{Name: "x"}}}
	table, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Floats: []float64{1, 2, 3}}},
		nil,
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	doubled := make([]float64, table.Len())
	err = dataset.ForEach(context.Background(), table.View(), 2, func(b dataset.Block, start int) {
		for k, x := range b.Float(0, nil) {
			doubled[start+k] = 2 * x
		}
	})
	fmt.Println(doubled, err)
	// Output: [2 4 6] <nil>
}

// The caller provides the coins of the split: here, whether the identity is even.
func ExampleView_Split() {
	schema := dataset.Schema{Columns: []dataset.Column{{Name: "x"}}}
	table, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Floats: []float64{10, 11, 12}}},
		nil,
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	parts := table.View().Split(2, func(id uint64) int { return int(id % 2) })
	for _, v := range parts {
		fmt.Println(v.Block(0, v.Len()).Float(0, nil))
	}
	// Output:
	// [10 12]
	// [11]
}

// The cells of a public file are collected as text.
func ExampleParquetText() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "loans.parquet")
	type row struct {
		Amount float64 `parquet:"amount"`
		Repaid bool    `parquet:"repaid"`
	}
	if err := parquet.WriteFile(path, []row{{2.5, true}, {10, false}}); err != nil {
		fmt.Println(err)
		return
	}
	err = dataset.ParquetText(context.Background(), path, 0, func(column int, cell []byte) {
		fmt.Printf("%d: %s\n", column, cell)
	})
	fmt.Println(err)
	// Output:
	// 0: 2.5
	// 0: 10
	// 1: true
	// 1: false
	// <nil>
}
