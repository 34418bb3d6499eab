package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/export"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/regression"
)

// An exportForm is a form in which export writes a model. Help texts and messages list all forms.
type exportForm struct {
	flag  string // of the command
	value string // placeholder of the value of the flag; empty for a flag without one
	holds string // what is written, in the help of the command
	help  string // of the flag
	write func(w io.Writer, m regression.Model, value, table string) error
}

// exportForms lists the forms in the order of the help text. A new form is one more entry.
var exportForms = []exportForm{
	{
		flag:  "python",
		holds: "a module for Python 3.8 and later, standard library only",
		help:  "write a Python module",
		write: plainForm(export.Python),
	},
	{
		flag:  "js",
		holds: "a module for Node, Deno and browsers",
		help:  "write a JavaScript module",
		write: plainForm(export.JavaScript),
	},
	{
		flag:  "go",
		holds: "a package for Go 1.21 and later, standard library only",
		help:  "write a Go package",
		write: plainForm(export.Go),
	},
	{
		flag:  "onnx",
		holds: "an ONNX graph in double precision, for onnxruntime and others",
		help:  "write an ONNX graph",
		write: plainForm(export.ONNX),
	},
	{
		flag:  "pmml",
		holds: "a PMML 4.4 document, for JPMML, PMML4S and others",
		help:  "write a PMML document",
		write: plainForm(export.PMML),
	},
	{
		flag:  "sql",
		value: "DIALECT",
		holds: "a query for duckdb, postgres or sqlite that selects the\n" +
			"                 columns of --table and the prediction",
		help:  "write a query in `DIALECT`: duckdb, postgres or sqlite",
		write: export.SQL,
	},
}

// plainForm is the form of a writer that needs the model only.
func plainForm(
	write func(io.Writer, regression.Model) error,
) func(io.Writer, regression.Model, string, string) error {
	return func(w io.Writer, m regression.Model, _, _ string) error {
		return write(w, m)
	}
}

// usage is the flag with its placeholder.
func (x *exportForm) usage() string {
	return strings.TrimSpace("--" + x.flag + " " + x.value)
}

// exportLong returns the help of the command.
func exportLong() string {
	var forms strings.Builder
	for _, x := range exportForms {
		fmt.Fprintf(&forms, "  %-13s  %s\n", x.usage(), x.holds)
	}
	return `Convert a model to a form that does not need dptrain: a self-contained program,
a graph, a document or a query. Its predictions agree with dptrain predict to
1e-9, including those for missing, infinite and unknown values.

` + forms.String() + `
Programs parse text in a numeric column as a plain number such as 1234.5, and
treat any other text as missing. Queries, graphs and documents require numbers.
Kernel models (boosted-kernel, often auto) cannot be exported as a query or a
PMML document, because they compare a record with hundreds of others.

An export is computed from the model alone, so it may be published whenever the
model may.`
}

// exportFlags are the flags of export.
type exportFlags struct {
	asked  []bool   // by form, for flags without a value
	values []string // by form, for flags with a value
	table  string
	out    string
	force  bool
}

func exportCommand(a *app) *cobra.Command {
	flags := exportFlags{
		asked:  make([]bool, len(exportForms)),
		values: make([]string, len(exportForms)),
	}
	cmd := &cobra.Command{
		Use:   "export MODEL",
		Short: "Export a model to Python, Go, JavaScript, ONNX, PMML or SQL",
		Long:  exportLong(),
		Example: `  dptrain export out/release/model.json --python -o model.py
  dptrain export out/release/model.json --js -o model.mjs
  dptrain export out/release/model.json --onnx -o model.onnx
  dptrain export out/release/model.json --pmml -o model.pmml
  dptrain export out/release/model.json --sql duckdb --table patients`,
		Args: exactly(1, "a model"),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := flags.writer()
			if err != nil {
				return err
			}
			return a.export(cmd, args[0], flags, write)
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	for i, x := range exportForms {
		if x.value == "" {
			set.BoolVar(&flags.asked[i], x.flag, false, x.help)
		} else {
			set.StringVar(&flags.values[i], x.flag, "", x.help)
		}
	}
	set.StringVar(&flags.table, "table", "records", "read `TABLE` in the query")
	set.StringVarP(&flags.out, "output", "o", "",
		"write to `FILE`, which is created only when complete")
	set.BoolVar(&flags.force, "force", false, "overwrite the output file if it exists")
	return cmd
}

// writer returns the writer of the requested form.
func (f *exportFlags) writer() (func(io.Writer, regression.Model) error, error) {
	var chosen []int
	usages := make([]string, len(exportForms))
	for i, x := range exportForms {
		usages[i] = x.usage()
		if f.asked[i] || f.values[i] != "" {
			chosen = append(chosen, i)
		}
	}
	if len(chosen) != 1 {
		last := len(usages) - 1
		return nil, usagef("give exactly one of %s and %s",
			strings.Join(usages[:last], ", "), usages[last])
	}
	i := chosen[0]
	return func(w io.Writer, m regression.Model) error {
		return exportForms[i].write(w, m, f.values[i], f.table)
	}, nil
}

func (a *app) export(
	cmd *cobra.Command,
	path string,
	flags exportFlags,
	write func(io.Writer, regression.Model) error,
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
