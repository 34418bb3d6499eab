package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// hostileName contains characters that may control a terminal: ESC, BEL, DEL, a C1 control, a character that changes
// the writing direction, and one beyond 16 bits.
const hostileName = "a\x1b[2J\a\x7f\u009b2K\u202egpj\u2066\U000e0041"

// TestOutputHasNoControlCharacters passes names full of control characters to every command, as arguments and in
// recipes, tables, models, reports and ledgers. It checks that the output never contains these characters unescaped.
func TestOutputHasNoControlCharacters(t *testing.T) {
	chdirTemp(t)
	quoted := strconv.QuoteToASCII(hostileName)
	inYAML := strings.NewReplacer(
		`\x7f`, `\x7F`,
		`\a`, `\a`,
	).Replace(quoted)
	table := strings.Replace(
		lineCSV(40), "a,b,y",
		hostileName+",b,y", 1,
	)
	writeFile(t, "line.csv", table)
	writeFile(t, hostileName, table)
	writeFile(t, hostileName+".csv", table)
	writeFile(
		t,
		"paths.yaml",
		"data: {path: "+inYAML+", target: y}\noutput: {dir: "+inYAML+"}\nledger: {path: "+inYAML+
			", dataset: houses}\nprivacy: {epsilon: 1}\n",
	)
	writeFile(
		t,
		"turned.yaml",
		"data: {path: \"\\u202egpj.csv\", target: y}\noutput: {dir: \"\\u202eout\"}\nledger: {path: \"\\u2066l\", dataset: "+
			inYAML+"}\nprivacy: {epsilon: 1}\n",
	)
	writeFile(
		t,
		"good.yaml",
		"data: {path: line.csv, target: y}\nprivacy: {epsilon: 1}\nledger: {path: my.ledger, dataset: houses}\noutput: {dir: \"\\u202eout\"}\n",
	)
	model := strings.Replace(
		modelJSON,
		`"target": "y"`,
		`"target": "`+"\\u001b\u202e\u009b"+`"`,
		1,
	)
	writeFile(
		t, "model.json",
		strings.ReplaceAll(
			model, `"a"`,
			`"`+"x\u009b\u202e"+`"`,
		),
	)
	writeFile(
		t,
		"unknown.json",
		strings.Replace(
			model, `"kind"`,
			`"`+"k\u009b\u202e"+`"`,
			1,
		),
	)
	commands := [][]string{
		{
			"ledger", "init", "my.ledger",
			"--dataset", "houses", "--epsilon",
			"30",
		},
		{
			"ledger", "init", "my.ledger",
			"--dataset", hostileName, "--epsilon",
			"30",
		},
		{"fit", "good.yaml"},
		{"fit", "good.yaml"},
		{"fit", "good.yaml", "--force"},
		{"report", "\u202eout"},
		{"report", "\u202eout", "--registry"},
		{"report", "\u202eout", "--shape", hostileName},
		{"ledger", "show", "my.ledger"},
		{"ledger", "show", "my.ledger", "--json"},
		{"ledger", "verify", "my.ledger"},
		{"ledger", "export", "my.ledger"},
		{
			"ledger", "spend", "my.ledger",
			"--dataset", "houses",
			"--epsilon", ".1",
			"--note", hostileName,
		},
		{
			"ledger", "init", "my.ledger",
			"--dataset", "houses", "--epsilon",
			"30",
		},
		{
			"ledger", "init", "my.ledger",
			"--dataset", hostileName, "--epsilon",
			"30",
		},
		{
			"bench", "--public",
			"--data",
			hostileName + ".csv",
			"--target", hostileName,
		},
		{
			"bench", "--public", "--data",
			"line.csv", "--json",
			"--method", hostileName,
		},
		{"predict", "model.json", "line.csv"},
		{"predict", "unknown.json", "line.csv"},
		{"predict", hostileName, hostileName},
		{
			"predict", "\u202eout/release/model.json",
			"line.csv", "-o", hostileName,
		},
		{
			"predict",
			"\u202eout/release/model.json",
			"line.csv", "-o",
			"no/" + hostileName,
		},
		{
			"describe", "line.csv", "--epsilon",
			"3", "--out", "\u202ecard",
		},
		{"report", "\u202ecard"},
		{"verify", "\u202ecard"},
		{
			"describe", "line.csv", "--epsilon",
			"3", "--by", hostileName,
			"--out", "x",
		},
		{"describe", hostileName, "--epsilon", "3", "--plan"},
		{
			"describe", "line.csv",
			"--epsilon", "3",
			"--by", hostileName,
			"--plan",
			"--json",
		},
		{"init", hostileName + ".csv"},
		{"init", hostileName},
		{"init", "line.csv", "--target", hostileName},
		{hostileName},
		{"fit", "--" + hostileName},
		{"help", hostileName},
		{"completion", hostileName},
		{"report", hostileName},
		{"ledger", "show", hostileName},
	}
	for _, recipe := range []string{
		"paths.yaml", "turned.yaml",
		"good.yaml", hostileName,
	} {
		for _, verb := range []string{"check", "plan", "fit"} {
			commands = append(commands, []string{verb, recipe})
		}
		commands = append(commands, []string{"plan", recipe, "--json"})
	}
	for _, recipe := range []string{"paths.yaml", "turned.yaml", hostileName} { // these commands fail
		commands = append(
			commands,
			[]string{"audit", recipe},
			[]string{"audit", recipe, "--own-table"},
		)
	}
	printed := 0
	for _, args := range commands {
		got := dptrain(t, args...)
		for _, c := range got.stdout + got.stderr {
			if c != '\n' &&
				c != '\t' &&
				!unicode.IsGraphic(c) {
				t.Errorf(
					"%q prints %q:\n%.600q",
					args, c, got.stdout+got.stderr,
				)
				break
			}
		}
		if got.code == exitInternal {
			t.Errorf("%q: %+v", args, got)
		}
		printed += strings.Count(got.stdout+got.stderr, "202e")
	}
	if printed < 20 {
		t.Errorf("the names are printed %d times only", printed)
	}
	_, err := os.Stat("\u202eout/release/model.json")
	if err != nil {
		t.Error(err)
	}
}
