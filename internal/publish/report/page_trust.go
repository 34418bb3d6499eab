package report

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/publish/document"
)

// trustBlocks states the trust model, the privacy unit and the limits of the guarantee, in the terms of NIST SP
// 800-226, "Guidelines for evaluating differential privacy guarantees".
func trustBlocks(r *Report) []document.Block {
	g := r.Guarantee
	unit := "One record. If several records belong to one person, only each of them is protected, not the person: a privacy unit (privacy.unit) protects people."
	if u := g.Unit; u != nil {
		unit = fmt.Sprintf(
			"One value of the column %s, with at most %s; further records of it were not used.",
			shown(u.Column), countOf(u.MaxRows, "record"))
	}
	relation := map[string]string{
		"add-remove":                 "Addition or removal of one unit (unbounded differential privacy). The number of records is protected, too.",
		"substitute":                 "Substitution of one record (bounded differential privacy). The number of records is public.",
		"substitute-private-columns": "Substitution of the private columns of one record. All other columns, the target and the number of records are public.",
	}[g.Relation]
	if relation == "" {
		relation = shown(g.Relation)
	}
	ledger := "This run is in no ledger. The epsilons of all releases on the same people add up, and nothing here counts the others."
	if l := r.Ledger; l != nil {
		ledger = fmt.Sprintf(
			"This run is entry %d of a ledger for the data set %s, which limits the total over all runs.",
			l.Entry, shown(l.Dataset))
	}
	table := &document.Table{Head: []string{"question", "answer"}, Words: true, Rows: [][]string{
		{"Trust model",
			"Central. The data owner, who ran dptrain, saw the records and is trusted. Nobody who receives the release is."},
		{"Attackers",
			"May know everything else, such as all other records, the recipe and the program, and have any computing power. They see the release only."},
		{"Privacy unit", unit},
		{"Neighbouring tables", relation},
		{"Parameters",
			fmt.Sprintf(
				"Epsilon %s and delta %s. Delta bounds the probability with which the bound by epsilon fails.",
				number(g.Epsilon), number(g.Delta))},
		{"Composition", ledger},
		{"Randomness and arithmetic",
			"Noise is drawn from the random source of the operating system, by exact samplers on integers, and added to integer sums. So the low bits of floating-point numbers reveal nothing."},
		{"Timing, memory, file sizes",
			"Not covered. The run time, the memory and the traffic of the program depend on the records, so it must run where attackers cannot observe it. Nothing in the release depends on them."},
		{"Access to the machine",
			"Not covered: the table, the folder curator, scratch files and whoever can read the memory of the program."},
		{"Queries",
			"None. The release is complete: nothing about it is answered later from the records."},
		{"Population-level facts",
			"Not hidden. " + r.section().kind().general +
				" about people in general also holds for people who are not in the table."},
	}}
	return []document.Block{{
		Text:  "In the terms of NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees.",
		Table: table,
	}}
}
