package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// TestParquetText checks that every cell is returned once, in order, as the text that Read compares with
// declared categories.
func TestParquetText(t *testing.T) {
	path := writeParquet(t, parquetRows(), parquet.MaxRowsPerRowGroup(2))
	names, err := Header(path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := make([][]string, len(names))
	last := -1
	err = ParquetText(t.Context(), path, 0, func(j int, cell []byte) {
		if j < last {
			t.Errorf("column %d after %d", j, last)
		}
		last = j
		got[j] = append(got[j], string(cell))
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"-12.34",
		"0.05", "1.00",
		"0.00",
	}
	if !slices.Equal(
		got[slices.Index(names, "decimal")], want) {
		t.Errorf(
			"decimals %q",
			got[slices.Index(names, "decimal")],
		)
	}
	want = []string{"red", "", "green", " blue"}
	if !slices.Equal(got[slices.Index(names, "opt")], want) {
		t.Errorf(
			"optional texts %q",
			got[slices.Index(names, "opt")],
		)
	}
	for j, name := range names {
		if slices.Contains([]string{"list", "group"}, name) {
			if got[j] != nil {
				t.Errorf(
					"%s has cells: %q",
					name, got[j],
				)
			}
			continue
		}
		if len(got[j]) != len(parquetRows()) {
			t.Fatalf(
				"%s has %d cells",
				name, len(got[j]),
			)
		}
		c := Column{Name: name, Kind: Category}
		for _, text := range got[j] {
			text = cell.Trim(text)
			if text != "" && !slices.Contains(c.Categories, text) {
				c.Categories = append(c.Categories, text)
			}
		}
		table, _, err := Read(
			t.Context(),
			path,
			Schema{Columns: []Column{c}},
			ReadOptions{},
		)
		if err != nil {
			t.Fatal(err)
		}
		for i, code := range table.Codes(0) {
			want := slices.Index(c.Categories, cell.Trim(got[j][i]))
			if want < 0 {
				want = len(c.Categories)
			}
			if int(code) != want {
				t.Errorf(
					"%s, row %d: code %d, want %d",
					name, i, code, want,
				)
			}
		}
	}
}

func TestParquetTextErrors(t *testing.T) {
	path := writeParquet(t, parquetRows())
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		writeFile(t, filepath.Join(dir, name), data)
		return filepath.Join(dir, name)
	}
	for path, want := range map[string]error{
		file("t.csv", []byte("a\n1\n")):         ErrFormat,
		file("t.txt", []byte("a\n1\n")):         ErrFormat,
		file("cut.parquet", data[:len(data)-9]): ErrCorrupt,
		file(
			"text.parquet",
			[]byte("a,b\n1,2\n"),
		): ErrFormat,
		filepath.Join(dir, "absent.parquet"): ErrUnreadable,
	} {
		err := ParquetText(t.Context(), path, 0, func(int, []byte) {
			t.Errorf("%s: a cell", path)
		})
		var typed *FileError
		if !errors.Is(err, want) || !errors.As(err, &typed) {
			t.Errorf(
				"%s: %v, want %v",
				path, err, want,
			)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = ParquetText(ctx, path, 0, func(int, []byte) {})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
