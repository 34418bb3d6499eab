package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/bench"
	"github.com/dptrain/dptrain/internal/tablefile"
)

// These are the errors of [Run] in addition to those of [Store] and of the tables.
var (
	// ErrUnknown is returned for a name that no suite has.
	ErrUnknown = errors.New("no such suite")
	// ErrData is returned if the tables are missing, or if they are given to a suite that generates its own.
	ErrData = errors.New("the data folder")
)

// Options are the choices of a run.
type Options struct {
	// Public states that every table is public, as in package bench.
	Public bool
	// Data is the folder of the tables (.csv.gz, .tsv.gz, .csv, .tsv, .parquet), whose last column is the target. It
	// must be empty for a suite that generates its own tables.
	Data string
	// Out is the output folder. An unfinished run of the same suite and seed is continued.
	Out string
	// Trials is the number of trials of each cell; 0 selects that of the paper. A larger number extends a finished
	// run.
	Trials int
	// Seed determines splits and synthetic tables. It is public and does not affect the noise.
	Seed uint64
	// Progress, if set, receives the progress of the run. Its calls do not overlap.
	Progress func(Progress)
}

func (o Options) trials(usual int) int {
	if o.Trials == 0 {
		return usual
	}
	return o.Trials
}

// An experiment is a suite that [Run] carries out.
type experiment struct {
	name   string
	tables bool // it needs a data folder
	plan   func(Options) (*Plan, error)
}

// suites lists the experiments in the order of [Names].
func suites() []experiment {
	return append([]experiment{
		{Seed001, true, regressionPlan},
		{Seed000, true, screeningPlan},
		{Copies, false, copiesPlan},
		{Targets, true, targetsPlan},
		{Seed004, true, partlyPlan},
		{Seed003, true, separationPlan},
	}, seed002Suites()...)
}

// Names lists the suites.
func Names() []string {
	var names []string
	for _, s := range suites() {
		names = append(names, s.name)
	}
	return names
}

// NewPlan lists the trials of a suite. Only the names of tables are read. Errors:
// [bench.ErrNotPublic], [bench.ErrTrials], [ErrUnknown], [ErrData].
func NewPlan(name string, o Options) (*Plan, error) {
	switch {
	case !o.Public:
		return nil, bench.ErrNotPublic
	case o.Trials < 0:
		return nil, fmt.Errorf("%w, not %d", bench.ErrTrials, o.Trials)
	}
	for _, s := range suites() {
		if s.name != name {
			continue
		}
		if !s.tables && o.Data != "" {
			return nil, fmt.Errorf("%w has no use in %s, which makes its own tables", ErrData, name)
		}
		p, err := s.plan(o)
		if err != nil {
			return nil, err
		}
		p.Header = Header{
			Suite:   name,
			Version: resultsVersion,
			Seed:    o.Seed,
		}
		return p, nil
	}
	return nil, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(Names(), ", "))
}

// Run executes the remaining trials of a suite and then writes [ResultsTable], [SummaryTable], [PageFile] and
// [TablesFile]. It returns the records of the whole experiment. If ctx ends first, it returns the error of ctx, keeps
// the finished trials, and leaves the four files unchanged.
func Run(ctx context.Context, name string, o Options) ([]Record, error) {
	p, err := NewPlan(name, o)
	if err != nil {
		return nil, err
	}
	s, err := OpenStore(o.Out, p.Header)
	if err != nil {
		return nil, err
	}
	err = p.Run(ctx, s, o.Progress)
	if closed := s.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return s.Records(), err
	}
	return s.Records(), p.Write(o.Out, s.Records())
}

// Write writes the tables and the page of finished trials to a folder. The error
// wraps [ErrOutput].
func (p *Plan) Write(dir string, records []Record) error {
	results, err := ResultsCSV(records)
	if err != nil {
		return err
	}
	summary, err := SummaryCSV(records)
	if err != nil {
		return err
	}
	var page, tables bytes.Buffer
	document := p.Page(records)
	if err := errors.Join(document.HTML(&page), document.Markdown(&tables)); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		text []byte
	}{
		{ResultsTable, results},
		{SummaryTable, summary},
		{PageFile, page.Bytes()},
		{TablesFile, tables.Bytes()},
	} {
		if err := replace(dir, f.name, f.text); err != nil {
			return err
		}
	}
	return nil
}

// tableFile is a table of the data folder.
type tableFile struct{ name, path string }

// listTables lists the tables of a folder by name.
func listTables(dir string) ([]tableFile, error) {
	if dir == "" {
		return nil, fmt.Errorf("%w is missing: name the one with the tables", ErrData)
	}
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("%w cannot be listed: %w", ErrData, err)
	}
	var tables []tableFile
	for _, e := range entries {
		_, name, ok := tablefile.ParsePath(e.Name())
		if !ok || e.IsDir() {
			continue
		}
		if slices.ContainsFunc(tables, func(t tableFile) bool {
			return t.name == name
		}) {
			name = e.Name() // the same table in another format
		}
		tables = append(tables, tableFile{name, filepath.Join(dir, e.Name())})
	}
	if len(tables) == 0 {
		return nil,
			fmt.Errorf("%w %s holds no file that ends in %s", ErrData, dir,
				strings.Join(tablefile.Suffixes(), ", "))
	}
	return tables, nil
}
