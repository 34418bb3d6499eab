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
			printableName(u.Column), countOf(u.MaxRows, "record"))
	}
	relation := map[string]string{
		"add-remove":                 "Addition or removal of one unit (unbounded differential privacy). The number of records is protected, too.",
		"substitute":                 "Substitution of one record (bounded differential privacy). The number of records is public.",
		"substitute-private-columns": "Substitution of the private columns of one record. All other columns, the target and the number of records are public.",
	}[g.Relation]
	if relation == "" {
		relation = printableName(g.Relation)
	}
	ledger := "This run is not in a ledger. The epsilons of all releases on the same people add up, and the others are not counted here."
	if l := r.Ledger; l != nil {
		ledger = fmt.Sprintf(
			"This run is entry %d of a ledger for the data set %s, which limits the total over all runs.",
			l.Entry, printableName(l.Dataset))
	}
	table := &document.Table{
		Head:  []string{"question", "answer"},
		Words: true,
		Rows: [][]string{
			{"Trust model",
				"Central. The data owner, who ran dptrain, had access to the records and is trusted. Recipients of the release are not trusted."},
			{"Attackers",
				"May know everything else, such as all other records, the recipe and the program, and have unlimited computing power. They see only the release."},
			{"Privacy unit", unit},
			{"Neighbouring tables", relation},
			{"Parameters",
				fmt.Sprintf(
					"Epsilon %s and delta %s. Delta limits the probability that the epsilon bound fails.",
					number(g.Epsilon), number(g.Delta))},
			{"Composition", ledger},
			{"Randomness and arithmetic",
				"Noise comes from the random source of the operating system, is sampled exactly on integers, and is added to integer sums. Therefore the low bits of floating-point numbers reveal nothing."},
			{"Timing, memory, file sizes",
				"Not covered. The run time, the memory and the traffic of the program depend on the records, so it must run where attackers cannot observe it. Nothing in the release depends on them."},
			{"Access to the machine",
				"Not covered: the table, the curator folder, scratch files, and anyone who can read the memory of the program."},
			{"Queries",
				"None. The release is complete: no further questions about it are answered from the records."},
			{"Population-level facts",
				"Not hidden. " + r.section().kind().general +
					" about people in general also applies to people who are not in the table."},
		},
	}
	return []document.Block{{
		Text:  "In the terms of NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees.",
		Table: table,
	}}
}
