package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain/bench"
	"github.com/dptrain/dptrain/experiments/suite"
)

// runSuite is `dptrain bench --suite`.
func (a *app) runSuite(ctx context.Context, f *benchFlags, changed func(string) bool, args []string) error {
	o, err := f.suiteOptions(changed, args)
	if err != nil {
		return err
	}
	clearLine := func() {}
	if a.terminal {
		clearLine = func() { fmt.Fprint(a.screen, "\r\x1b[K") }
		o.Progress = func(p suite.Progress) {
			fmt.Fprintf(a.screen, "\r\x1b[K%s: %s, %d of %d", f.suite, p.Stage, p.Done, p.Total)
		}
	}
	records, err := suite.Run(ctx, f.suite, o)
	clearLine()
	if err != nil {
		return suiteError(err)
	}
	count := map[suite.Status]int{}
	for _, r := range records {
		count[r.Status]++
	}
	fmt.Fprintf(a.stdout, "%s: %d trials", f.suite, len(records))
	for _, s := range []suite.Status{suite.Abstained, suite.Failed, suite.Unavailable} {
		if count[s] > 0 {
			fmt.Fprintf(a.stdout, ", %d %s", count[s], s)
		}
	}
	fmt.Fprintln(a.stdout)
	for _, name := range []string{suite.PageFile, suite.SummaryTable, suite.ResultsTable, suite.ResultsFile} {
		fmt.Fprintln(a.stdout, filepath.Join(o.Out, name))
	}
	return nil
}

// suiteOptions reads the flags that a suite takes and refuses the others.
func (f *benchFlags) suiteOptions(changed func(string) bool, args []string) (suite.Options, error) {
	c := f.config
	switch {
	case f.suite == "":
		return suite.Options{}, usagef("--out needs --suite: one of %s", strings.Join(suite.Names(), ", "))
	case f.out == "":
		return suite.Options{}, usagef("--suite needs --out, the folder of its results")
	case len(args) > 0:
		return suite.Options{}, usagef("--suite has its own methods; leave out the recipe %s", args[0])
	case len(c.Data) > 1:
		return suite.Options{}, usagef("--suite takes one --data, a folder of tables")
	case changed("trials") && c.Trials < 1:
		return suite.Options{}, usagef("--trials must be at least 1")
	}
	for _, name := range []string{"method", "target", "epsilon", "delta", "relation", "rows", "balance", "json"} {
		if changed(name) {
			return suite.Options{}, usagef("--%s has no effect on a suite, which has its own methods and budgets", name)
		}
	}
	o := suite.Options{Public: c.Public, Out: f.out, Seed: c.Seed}
	if changed("trials") {
		o.Trials = c.Trials
	}
	if len(c.Data) == 1 {
		o.Data = c.Data[0]
	}
	return o, nil
}

// suiteError gives the mistakes of a command line their words and exit code.
func suiteError(err error) error {
	if errors.Is(err, bench.ErrNotPublic) {
		return benchError(err)
	}
	for _, mistake := range []error{suite.ErrUnknown, suite.ErrData, suite.ErrOutput} {
		if errors.Is(err, mistake) {
			return usagef("%v; see `dptrain bench --help`", err)
		}
	}
	return err
}
