package recipe

import (
	"io"
	"math"
	"os"
	"slices"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/tablefile"
)

// MaxSize is the largest recipe that is read, in bytes.
const MaxSize = 1 << 20

// Options modify how a recipe is read. The zero value is the one for runs on private data.
type Options struct {
	// Bench reads a recipe for an experiment on public data: names of methods without privacy are accepted, data.path
	// and data.target may be missing, and epsilon and delta default to ln(3) and 1e-5.
	Bench bool
	// Set overrides values of the text.
	Set []Setting
	// Flags maps the paths of keys to the flags of a command. Problems of an unset key name its flag if there is no
	// text, or if another flag sets a key of the same section.
	Flags map[string]string
	// Task is the required task of the recipe; empty for any task except [TaskDescribe].
	Task string
	// Description is not nil for a description, which never comes from a text.
	Description *Description
}

// Parse reads a recipe from src; name is the file name used in problems. It returns the recipe with every default
// filled in, or all problems of the recipe (and a nil recipe). It never panics on any src.
func Parse(name string, src []byte) (*Recipe, Problems) {
	return Options{}.Parse(name, src)
}

// Load reads the recipe at path and parses it. The error is [Problems], even if the file cannot be read;
// errors.Is(err, fs.ErrNotExist) distinguishes that case.
func Load(path string) (*Recipe, error) {
	return Options{}.Load(path)
}

// Load is [Load] with options.
func (o Options) Load(path string) (*Recipe, error) {
	fail := func(msg, hint string, err error) error {
		return Problems{{
			File: path,
			Msg:  msg,
			Hint: hint,
			err:  err,
		}}
	}
	if tablefile.Holds(path) {
		return nil,
			fail("this is a table, not a recipe",
				"give the table with --data, or write a recipe with `dptrain init`", nil)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fail("the recipe cannot be read: "+fault.Cause(err).Error(), "", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, fail("the recipe cannot be read: "+fault.Cause(err).Error(), "", err)
	}
	r, problems := o.Parse(path, src)
	return r, problems.Err()
}

// Parse is [Parse] with options.
func (o Options) Parse(name string, src []byte) (*Recipe, Problems) {
	return o.parse(name, src, thisBuild())
}

func (o Options) parse(
	name string,
	content []byte,
	can availability,
) (*Recipe, Problems) {
	one := func(line, col int, msg, hint string) Problems {
		return Problems{{
			File:   name,
			Line:   line,
			Column: col,
			Msg:    msg,
			Hint:   hint,
		}}
	}
	if len(content) > MaxSize {
		return nil, one(1, 1, "the recipe is larger than 1 MiB", "is this a table?")
	}
	root, problems := readYAML(name, content)
	if root == nil {
		return nil, problems
	}
	if root.kind == null {
		return nil,
			one(root.line, root.col, "the recipe is empty", "`dptrain init` writes a starter")
	}
	if !looksLikeRecipe(root) {
		return nil,
			one(root.line, root.col, "this is not a recipe: it has none of the keys of one",
				"a recipe needs the sections data and privacy; `dptrain init` writes a starter")
	}
	problems = append(problems, spreadTarget(root, name)...)
	src := newSource(name, root)
	if found := root.get("task"); o.Task == TaskCausal &&
		(found == nil || found.literal != TaskCausal) {
		return nil,
			Problems{src.problem("task", "the recipe trains a model: its task is "+taskOf(found),
				"`dptrain fit` runs it; a study of causal directions has task: causal")}
	}
	src.text = src.at
	settings, more := applyAll(root, o.Set)
	problems = append(problems, more...)
	problems = append(problems, spreadTarget(root, name)...)
	src.at = newSource(name, root).at
	src.settings = settings
	src.flags = o.Flags
	r, more := o.build(root, src, can)
	if problems = append(problems, more...); len(problems) > 0 {
		return nil, problems.sorted()
	}
	return r, nil
}

// taskOf returns the task in a recipe, or the default one.
func taskOf(n *node) string {
	if n == nil {
		return tasks[0]
	}
	return quoted(n.literal)
}

// looksLikeRecipe detects files that are not recipes, above all tables, so that messages do not quote them.
func looksLikeRecipe(root *node) bool {
	if root.kind != mapping {
		return false
	}
	known := keysAt(nil)
	return slices.ContainsFunc(root.keys, func(k *node) bool {
		return slices.Contains(known, k.literal)
	})
}

// build checks and decodes a tree that has been read.
func (o Options) build(
	root *node,
	src *source,
	can availability,
) (*Recipe, Problems) {
	found := checkStructure(root, src)
	r := Default()
	r.src = src
	if o.Description != nil {
		r.Task = TaskDescribe
		r.Description = o.Description
	}
	if o.Bench {
		r.Privacy.Epsilon = math.Log(3)
		r.Privacy.Delta = 1e-5
	}
	r.fillDefaults(decode(root, &r), can)
	if o.Bench || o.Description != nil {
		found = slices.DeleteFunc(found, isOptional)
	}
	if problems := merge(found, checkRules(&r, can, o.Bench)); len(problems) > 0 {
		return nil, problems
	}
	return &r, nil
}

// isOptional reports whether a finding is about a key that an experiment takes from its flags, or that only the rules
// require of a description.
func isOptional(f finding) bool {
	return !f.structural &&
		slices.Contains([]string{"data", "data.path", "data.target", "privacy", "privacy.epsilon"},
			f.Path)
}
