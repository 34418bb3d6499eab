package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/export"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/regression"
)

const exportLong = `Write a model in a form that needs no dptrain: a program that holds the model
and predicts with it, or a query. What it predicts agrees with dptrain predict
to 1e-9, for missing, infinite and unknown cells too.

  --python       a module for Python 3.8 and later, standard library only
  --js           a module for Node, Deno and browsers
  --go           a package for Go 1.21 and later, standard library only
  --onnx         a graph of ONNX in double precision, for onnxruntime and others
  --pmml         a document of PMML 4.4, for JPMML, PMML4S and others
  --sql DIALECT  a query for duckdb, postgres or sqlite, which selects the
                 columns of --table and the prediction

Programs read a text in a numeric column as a plain number, 1234.5, and take
what else is written there as missing. Queries, graphs and documents want
numbers there. A model of kernels (boosted-kernel, auto) has no query and no
document: it compares a record with hundreds of others.

An export is made from the model alone and may be published as it may.`

// exportFlags are the flags of export.
type exportFlags struct {
	python, js, goPackage, onnx, pmml bool
	dialect, table                    string
	out                               string
	force                             bool
}

func exportCommand(a *app) *cobra.Command {
	var flags exportFlags
	cmd := &cobra.Command{
		Use:   "export MODEL",
		Short: "Export a model to Python, Go, JavaScript, ONNX, PMML or SQL",
		Long:  exportLong,
		Example: `  dptrain export out/release/model.json --python -o model.py
  dptrain export out/release/model.json --js -o model.mjs
  dptrain export out/release/model.json --onnx -o model.onnx
  dptrain export out/release/model.json --pmml -o model.pmml
  dptrain export out/release/model.json --sql duckdb --table patients`,
		Args: exactly(1, "a model"),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := flags.form()
			if err != nil {
				return err
			}
			return a.export(cmd, args[0], flags, write)
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.BoolVar(&flags.python, "python", false, "write a Python module")
	set.BoolVar(&flags.js, "js", false, "write a JavaScript module")
	set.BoolVar(&flags.goPackage, "go", false, "write a Go package")
	set.BoolVar(&flags.onnx, "onnx", false, "write a graph of ONNX")
	set.BoolVar(&flags.pmml, "pmml", false, "write a document of PMML")
	set.StringVar(&flags.dialect, "sql", "",
		"write a query in this `DIALECT`: duckdb, postgres or sqlite")
	set.StringVar(&flags.table, "table", "records", "the `TABLE` that the query reads")
	set.StringVarP(&flags.out, "output", "o", "",
		"write to `FILE`, which appears when it is complete")
	set.BoolVar(&flags.force, "force", false, "replace the file of -o if it is there already")
	return cmd
}

// form returns the writer of the requested format.
func (f *exportFlags) form() (func(io.Writer, regression.Model) error, error) {
	var forms []func(io.Writer, regression.Model) error
	for _, x := range []struct {
		asked bool
		write func(io.Writer, regression.Model) error
	}{
		{f.python, export.Python}, {f.js, export.JavaScript}, {f.goPackage, export.Go},
		{f.onnx, export.ONNX}, {f.pmml, export.PMML},
		{f.dialect != "", func(w io.Writer, m regression.Model) error {
			return export.SQL(w, m, f.dialect, f.table)
		}},
	} {
		if x.asked {
			forms = append(forms, x.write)
		}
	}
	if len(forms) != 1 {
		return nil,
			usagef("export writes one form; give one of --python, --js, --go, --onnx, --pmml and --sql DIALECT")
	}
	return forms[0], nil
}

func (a *app) export(
	cmd *cobra.Command, path string, flags exportFlags, write func(io.Writer, regression.Model) error,
) error {
	model, err := readModel(path, "")
	if err != nil {
		return err
	}
	form := func(w io.Writer) error {
		err := write(w, model)
		if errors.Is(err, export.ErrKind) || errors.Is(err, export.ErrDialect) {
			return fault.WithKind(fault.Usage, &pathError{path, err})
		}
		return err
	}
	if flags.out == "" {
		return form(a.data)
	}
	return writeOutput(cmd.Context(), flags.out, flags.force, form)
}
