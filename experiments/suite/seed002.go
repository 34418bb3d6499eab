package suite

import (
	"fmt"
	"os"
	"path/filepath"
)

// seed002 is the name of the experiments of the thesis "Learning in the Real World: Constraints
// on Cost, Space, and Privacy".
const seed002 = "seed-002"

// A thesisPart is a chapter of the thesis. It is a suite of its own, and also a part of seed-002.
type thesisPart struct {
	name     string // of its own suite: seed-002-name
	title    string
	lead     []string                        // paragraphs below the title
	tasks    func(Options) ([]Task, error)   // see partFolder
	sections func(index, []Record) []Section // of the page
}

// thesisParts lists the parts in the order of the thesis.
func thesisParts() []thesisPart {
	return []thesisPart{costPart(), spacePart(), causalPart()}
}

// seed002Suites returns the suite of the whole thesis and one for each of its parts.
func seed002Suites() []experiment {
	parts := thesisParts()
	out := []experiment{{seed002, true,
		thesisPlan("The thesis: constraints on cost, space and privacy (seed 002)", parts...)}}
	for _, p := range parts {
		out = append(out,
			experiment{seed002 + "-" + p.name, true, thesisPlan(p.title+" (seed 002)", p)})
	}
	return out
}

// thesisPlan is the experiment on some parts.
func thesisPlan(
	title string,
	parts ...thesisPart,
) func(Options) (*Plan, error) {
	return func(o Options) (*Plan, error) {
		p := &Plan{Page: func(records []Record) Page {
			page := Page{Title: title}
			x := newIndex(records)
			for _, part := range parts {
				page.Lead = append(page.Lead, part.lead...)
				page.Sections = append(page.Sections, part.sections(x, records)...)
			}
			return page
		}}
		for _, part := range parts {
			tasks, err := part.tasks(o)
			if err != nil {
				return nil, fmt.Errorf("%s-%s: %w", seed002, part.name, err)
			}
			p.Tasks = append(p.Tasks, tasks...)
		}
		return p, nil
	}
}

// partFolder returns the folder of a kind of tables: the subfolder of that name in dir, or dir if there is no such
// subfolder.
func partFolder(dir, kind string) string {
	below := filepath.Join(dir, kind)
	if info, err := os.Stat(below); err == nil && info.IsDir() {
		return below
	}
	return dir
}
