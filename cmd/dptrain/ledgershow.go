package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/terminal"
)

// accountJSON is a data set in the output of `ledger show --json`.
type accountJSON struct {
	Dataset   string     `json:"dataset"`
	Relation  string     `json:"relation"`
	Private   []string   `json:"private,omitempty"`
	Unit      string     `json:"unit,omitempty"`
	Epsilon   float64    `json:"epsilon"`
	Delta     float64    `json:"delta"`
	Currency  string     `json:"currency"`
	Limit     amount     `json:"limit"`
	Reserved  amount     `json:"reserved"`
	Committed amount     `json:"committed"`
	Left      amount     `json:"left"`
	Runs      []runJSON  `json:"runs"`
	Notes     []noteJSON `json:"notes,omitempty"`
	// Spends lists releases of other tools.
	Spends []spendJSON `json:"spends,omitempty"`
}

// spendJSON is a release of another tool.
type spendJSON struct {
	Entry   int64   `json:"entry"`
	Date    string  `json:"date"`
	Rho     float64 `json:"rho,omitempty"`
	Mu      float64 `json:"mu,omitempty"`
	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	Note    string  `json:"note,omitempty"`
	Cost    amount  `json:"cost"`
}

// noteJSON is an entry of price 0, such as an audit of the table whose result only the data owner received.
type noteJSON struct {
	Entry  int64  `json:"entry"`
	Date   string `json:"date"`
	What   string `json:"what"`
	Method string `json:"method"`
}

type runJSON struct {
	Entry        int64   `json:"entry"`
	Date         string  `json:"date"`
	Method       string  `json:"method"`
	Target       string  `json:"target"`
	Epsilon      float64 `json:"epsilon"`
	Delta        float64 `json:"delta"`
	Cost         amount  `json:"cost"`
	Committed    bool    `json:"committed"`
	Stopped      bool    `json:"stopped,omitempty"` // after the first step; the cost is that of this step
	CuratorNotes bool    `json:"curator_notes"`
	Note         string  `json:"note,omitempty"`
}

func (a *app) showJSON(book *ledger.Book, accounts []*ledger.Account) error {
	out := struct {
		Format   string        `json:"format"`
		Head     string        `json:"head"`
		Datasets []accountJSON `json:"datasets"`
	}{ledgerFormat, book.Head().String(), []accountJSON{}}
	for _, acc := range accounts {
		x := accountJSON{
			acc.Name, acc.Relation, acc.Private, acc.Unit, acc.Epsilon, acc.Delta, acc.Currency,
			amountOf(acc.Limit), amountOf(acc.Reserved),
			amountOf(acc.Committed), amountOf(acc.Left()), []runJSON{}, nil, nil,
		}
		for _, r := range acc.Spends {
			x.Spends = append(x.Spends,
				spendJSON{r.Sequence, r.Date, r.Rho, r.Mu, r.Epsilon, r.Delta, r.Note,
					amountOf(r.Charge)})
		}
		for _, n := range acc.Notes {
			x.Notes = append(x.Notes, noteJSON{n.Sequence, n.Date, n.What, n.Method})
		}
		for _, r := range acc.Runs {
			x.Runs = append(x.Runs,
				runJSON{r.Sequence, r.Date, r.Method, r.Target, r.Epsilon, r.Delta,
					amountOf(r.Cost()), r.Committed, r.Stopped != nil, r.CuratorNotes, r.Note})
		}
		out.Datasets = append(out.Datasets, x)
	}
	return writeJSON(a.stdout, out)
}

func (a *app) showText(book *ledger.Book, accounts []*ledger.Account) error {
	var b strings.Builder
	for _, acc := range accounts {
		b.WriteString(accountText(acc) + "\n")
	}
	b.WriteString(report.Paragraph("Head", book.Head().String()))
	_, err := fmt.Fprint(a.stdout, b.String())
	return err
}

// auditsOf returns the number of audits and first looks, whose results only the data owner received, for the line of
// runs.
func auditsOf(acc *ledger.Account) string {
	var audits, looks int
	for _, n := range acc.Notes {
		if n.What == ledger.NoteLook {
			looks++
		} else {
			audits++
		}
	}
	out := ""
	if audits > 0 {
		out += fmt.Sprintf("; %s of the table for the data owner", plural(audits, "audit", "audits"))
	}
	if looks > 0 {
		out += fmt.Sprintf("; %s of the table for the data owner",
			plural(looks, "profile", "profiles"))
	}
	return out
}

// othersOf returns the number of releases of other tools for the line of runs.
func othersOf(acc *ledger.Account) string {
	if len(acc.Spends) == 0 {
		return ""
	}
	return "; " + plural(len(acc.Spends), "release", "releases") + " by other tools"
}

func accountText(acc *ledger.Account) string {
	symbol := acc.Promise.Currency.Symbol()
	show := func(c budget.Charge) string {
		x := amountOf(c)
		s := symbol + " " + digits(x.Cost)
		if acc.Spent().Delta > 0 {
			s += ", delta " + digits(x.Delta)
		}
		return s
	}
	notes := 0
	for _, r := range acc.Runs {
		if r.CuratorNotes {
			notes++
		}
	}
	s := report.Paragraph("Data set", printable(acc.Name)) +
		report.Paragraph("Total",
			fmt.Sprintf("epsilon %v, delta %s (relation %s%s): %s", acc.Epsilon,
				fault.Readable(acc.Delta), hidden(acc.Relation, acc.Private), ofUnit(acc.Unit), show(acc.Limit))) +
		report.Paragraph("Spent",
			fmt.Sprintf(
				"%s (%s committed, %s reserved); this is epsilon %s if all runs were fixed in advance",
				show(acc.Spent()), show(acc.Committed), show(acc.Reserved),
				digits(acc.Promise.EpsilonOf(acc.Spent())))) +
		report.Paragraph("Left", show(acc.Left())) +
		recordsText(acc.Records) +
		report.Paragraph("Runs",
			fmt.Sprintf("%d (%d with exact notes for the data owner)", len(acc.Runs), notes)+
				auditsOf(acc)+othersOf(acc))
	return s + spendsTable(acc)
}

// spendsTable returns a table of runs and releases of other tools in the order of their entries, followed by their
// labels.
func spendsTable(acc *ledger.Account) string {
	type line struct {
		entry int64
		row   table.Row
		note  string
	}
	var lines []line
	cost := func(c budget.Charge) string {
		return digits(amountOf(c).Cost)
	}
	for _, r := range acc.Runs {
		state := "reserved"
		switch {
		case r.Stopped != nil:
			state = "stopped"
		case r.Committed:
			state = "ended"
		}
		lines = append(lines,
			line{r.Sequence,
				table.Row{r.Sequence, day(r.Date), shorten(r.Method, 16), shorten(r.Target, 12),
					digits(r.Epsilon), cost(r.Cost()), state}, r.Note})
	}
	for _, x := range acc.Spends {
		epsilon := ""
		if x.Epsilon > 0 {
			epsilon = digits(x.Epsilon)
		}
		lines = append(lines,
			line{x.Sequence,
				table.Row{x.Sequence, day(x.Date), "another tool", "", epsilon, cost(x.Charge),
					"spent"}, x.Note})
	}
	if len(lines) == 0 {
		return ""
	}
	slices.SortFunc(lines, func(x, y line) int {
		return cmp.Compare(x.entry, y.entry)
	})
	t := table.NewWriter()
	t.SetStyle(terminal.PlainTable())
	t.SuppressTrailingSpaces()
	t.AppendHeader(
		table.Row{"entry", "date", "method", "target", "epsilon", acc.Promise.Currency.Symbol(),
			"state"})
	notes := ""
	for _, x := range lines {
		t.AppendRow(x.row)
		if x.note != "" {
			notes += report.Paragraph(fmt.Sprintf("Note %d", x.entry), printable(x.note))
		}
	}
	return "\n" + t.Render() + "\n" + notes
}

// day returns the date of an entry without its time.
func day(date string) string {
	day, _, _ := strings.Cut(date, "T")
	return day
}

// shorten shortens a name to at most most characters.
func shorten(name string, most int) string {
	name = printable(name)
	if utf8.RuneCountInString(name) <= most {
		return name
	}
	return string([]rune(name)[:most-1]) + "…"
}

// recordsText describes how runs on a data set split it into records, if not by line.
func recordsText(r ledger.Records) string {
	if r != ledger.RecordsQuoted {
		return ""
	}
	return report.Paragraph("Records",
		"quoted cells may contain line breaks (data.multiline_quotes) in all runs")
}

// hidden returns the name of a relation, with the private columns if they are listed.
func hidden(relation string, private []string) string {
	if len(private) == 0 {
		return relation
	}
	shown := make([]string, len(private))
	for i, name := range private {
		shown[i] = printable(name)
	}
	return relation + " of " + strings.Join(shown, ", ")
}

// printable makes a text from a file safe to print on a terminal.
func printable(s string) string {
	if strings.ContainsFunc(s, func(c rune) bool {
		return !unicode.IsPrint(c)
	}) {
		return strconv.Quote(s)
	}
	return s
}

const ledgerVerifyLong = `Check the whole ledger: the hash of every entry, every sum against its total,
and the price of every run from its plan. This detects entries that were edited,
removed or added.

Anyone who can write the file could also recompute all hashes or restore an
earlier copy. Heads that were published elsewhere detect both: give the heads
from reports, or the reports themselves.`
