package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/recipe"
)

// A request is the body of a request from the page. Each route uses some of the fields.
type request struct {
	Path    string          `json:"path"`    // of a table, a folder, the results of a run or a ledger, relative to the folder of the server
	Recipe  json.RawMessage `json:"recipe"`  // in JSON, with the keys of a recipe file
	File    string          `json:"file"`    // recipe file to save, or to read if Recipe is empty
	Epsilon float64         `json:"epsilon"` // replaces the epsilon of File
	Replace bool            `json:"replace"` // replace an existing recipe and existing results
	Job     int             `json:"job"`
	// Format is the text format of the table. Dates and Text are the columns currently declared on the page as
	// dates, with their layouts, and as text. Fold is data.fold. Target is a target that should be numeric.
	Format recipe.Format     `json:"format"`
	Dates  map[string]string `json:"dates"`
	Text   []string          `json:"text"`
	Fold   string            `json:"fold"`
	Target string            `json:"target"`
	Total  struct {
		Dataset  string `json:"dataset"`
		Epsilon  string `json:"epsilon"`
		Delta    string `json:"delta"`
		Relation string `json:"relation"`
		Unit     string `json:"unit"`
	} `json:"total"`
}

// runCommand runs a quick command.
func (s *Server) runCommand(ctx context.Context, args ...string) output {
	var stdout, stderr bytes.Buffer
	code := s.o.Run(ctx,
		Call{
			Args:     args,
			Stdout:   &stdout,
			Stderr:   &stderr,
			Progress: func(int, int, string) {},
		})
	return output{code, s.shortenPaths(stdout.String()), s.shortenPaths(stderr.String())}
}

// answerColumns returns the columns in the header of a table. No row is read.
func (s *Server) answerColumns(r *http.Request, a *request) (any, error) {
	table, err := s.localPath(a.Path)
	if err != nil {
		return nil, err
	}
	args := append([]string{"init", "--json"}, formatFlags(a.Format)...)
	return s.runCommand(r.Context(), append(args, "--", table)...), nil
}

// formatFlags returns the flags of a format, which have the names of its keys. It leaves out the key header, because
// the flag --header lists columns.
func formatFlags(f recipe.Format) []string {
	f.Header = ""
	var args []string
	encoded, _ := json.Marshal(f) // cannot fail: the fields are texts and finite numbers
	var keys map[string]any
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	_ = decoder.Decode(&keys) // cannot fail: it was encoded here
	for name, value := range keys {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		texts := make([]string, len(list))
		for i, x := range list {
			texts[i] = fmt.Sprint(x)
		}
		args = append(args, "--"+name+"="+strings.Join(texts, ","))
	}
	slices.Sort(args)
	return args
}

// A mistake is an error in a recipe.
type mistake struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Msg  string `json:"msg"`
	Hint string `json:"hint"`
}

// A text is a recipe as YAML, with its errors.
type text struct {
	Text     string    `json:"text"`
	Mistakes []mistake `json:"mistakes"`
	read     *recipe.Recipe
}

// readRecipe returns the recipe of a request.
func (s *Server) readRecipe(a *request) (*text, error) {
	var src []byte
	var err error
	switch {
	case len(a.Recipe) > 0:
		if src, err = recipe.Tidy(a.Recipe); err != nil {
			return nil, refusef(http.StatusBadRequest, "the recipe cannot be written: %v", err)
		}
	default:
		if _, err := s.localPath(a.File); err != nil {
			return nil, err
		}
		if info, err := s.root.Stat(filepath.FromSlash(a.File)); err != nil ||
			info.Size() > recipe.MaxSize {
			return nil, refusef(http.StatusNotFound, "the recipe %s cannot be read", a.File)
		}
		if src, err = s.root.ReadFile(filepath.FromSlash(a.File)); err != nil {
			return nil, refusef(http.StatusNotFound, "the recipe %s cannot be read", a.File)
		}
	}
	name := a.File
	if name == "" {
		name = recipeName
	}
	r, problems := recipe.Parse(name, src)
	return &text{
		Text:     string(src),
		Mistakes: mistakesOf(problems),
		read:     r,
	}, nil
}

// createNew are the flags for a file that must not exist.
const createNew = os.O_CREATE | os.O_WRONLY | os.O_EXCL

// recipeName is the file name of an unsaved recipe.
const recipeName = "recipe.yaml"

// answerRecipe returns the text of a recipe.
func (s *Server) answerRecipe(_ *http.Request, a *request) (any, error) {
	return s.readRecipe(a)
}

// commandFlags returns the flags that complement a recipe for a command: the flags for its files, which must be in
// the folder, and the others.
func (s *Server) commandFlags(
	a *request,
	r *recipe.Recipe,
) (files, other []string, err error) {
	if r.Task == recipe.TaskCausal {
		return nil, nil,
			refusef(http.StatusBadRequest,
				"this page only trains models; run this recipe with `dptrain causal`")
	}
	folder := filepath.Dir(filepath.FromSlash(a.File)) // paths in a recipe are relative to its folder
	if len(a.Recipe) > 0 {
		folder = "."
	}
	resolve := func(name string) (string, error) {
		if strings.ContainsAny(name, "*?[") || strings.HasPrefix(name, "-") {
			return "",
				refusef(http.StatusBadRequest,
					"this page reads only single files; train on %s with `dptrain fit`", name)
		}
		if filepath.IsAbs(name) {
			below, err := filepath.Rel(s.o.Folder, name)
			if err != nil {
				return "",
					refusef(http.StatusForbidden,
						"%s is not in the folder of this page", name)
			}
			return s.localPath(below)
		}
		return s.localPath(filepath.Join(folder, filepath.FromSlash(name)))
	}
	if r.Data.SQL != nil || r.Data.Spark != "" {
		return nil, nil,
			refusef(http.StatusBadRequest,
				"this page reads only single files; run the recipe with `dptrain fit`")
	}
	table, err := resolve(r.Data.Path)
	if err != nil {
		return nil, nil, err
	}
	files = []string{"--data=" + table}
	if r.Ledger != nil {
		book, err := resolve(r.Ledger.Path)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, "--ledger="+book)
	}
	if len(a.Recipe) == 0 && a.Epsilon > 0 {
		other = append(other, "--epsilon="+strconv.FormatFloat(a.Epsilon, 'g', -1, 64))
	}
	return files, other, nil
}

// A draft is the file of an unsaved recipe for a command.
type draft struct {
	*text
	args  []string
	clean func()
}

// writeDraft writes the recipe of a request to a file for a command. args is empty if the recipe has errors.
func (s *Server) writeDraft(a *request) (*draft, error) {
	t, err := s.readRecipe(a)
	if err != nil {
		return nil, err
	}
	d := &draft{text: t, clean: func() {}}
	if t.read == nil {
		return d, nil
	}
	files, other, err := s.commandFlags(a, t.read)
	if err != nil {
		return nil, err
	}
	at := s.prefix + filepath.Clean(filepath.FromSlash(a.File))
	if len(a.Recipe) > 0 {
		dir, err := os.MkdirTemp(s.drafts, "")
		if err != nil {
			return nil, err
		}
		d.clean = func() { _ = os.RemoveAll(dir) } // the server removes the rest when it is closed
		at = filepath.Join(dir, recipeName)
		if err := os.WriteFile(at, []byte(t.Text), 0o600); err != nil {
			return nil, err
		}
	}
	d.args = slices.Concat(files, other, []string{"--", at})
	return d, nil
}

// answerPlan computes the price of a recipe. No row is read.
func (s *Server) answerPlan(r *http.Request, a *request) (any, error) {
	d, err := s.writeDraft(a)
	if err != nil {
		return nil, err
	}
	defer d.clean()
	out := struct {
		*text
		output
	}{text: d.text}
	if d.args != nil {
		out.output = s.runCommand(r.Context(), append([]string{"plan", "--json"}, d.args...)...)
		out.Out = strings.ReplaceAll(out.Out, s.drafts, "")
	}
	return out, nil
}

// answerExplain starts a simulation of the expected results of a recipe. No row is read.
func (s *Server) answerExplain(_ *http.Request, a *request) (any, error) {
	d, err := s.writeDraft(a)
	if err != nil {
		return nil, err
	}
	if d.args == nil {
		return nil, refusef(http.StatusBadRequest, "the recipe has errors")
	}
	return s.startJob(
		explaining,
		append([]string{"plan", "--explain", "--json"}, d.args...),
		d.clean,
	)
}

// answerFit saves a recipe and starts its run.
func (s *Server) answerFit(_ *http.Request, a *request) (any, error) {
	t, err := s.readRecipe(a)
	if err != nil {
		return nil, err
	}
	if t.read == nil {
		return nil, refusef(http.StatusBadRequest, "the recipe has errors")
	}
	_, other, err := s.commandFlags(a, t.read)
	if err != nil {
		return nil, err
	}
	dir := t.read.Output.Dir
	if filepath.IsAbs(dir) {
		return nil,
			refusef(http.StatusBadRequest,
				"output.dir is an absolute path; run this recipe with `dptrain fit`")
	}
	out, err := s.localPath(dir)
	if err != nil {
		return nil, err
	}
	if len(a.Recipe) > 0 {
		if err := s.saveRecipe(a, t.Text); err != nil {
			return nil, err
		}
	}
	args := append([]string{"fit", "--out=" + out}, other...)
	if a.Replace {
		args = append(args, "--force")
	}
	return s.startJob(fitting,
		append(args, "--", s.prefix+filepath.Clean(filepath.FromSlash(a.File))), func() {})
}

// saveRecipe writes a recipe to the folder. It returns an error if another file exists and may not be replaced.
func (s *Server) saveRecipe(a *request, recipe string) error {
	if a.File == "" || filepath.Base(a.File) != a.File || strings.HasPrefix(a.File, ".") ||
		kindOfName(a.File) != "recipe" {
		return refusef(http.StatusBadRequest,
			"the name of a recipe must end in .yaml and must not contain a folder")
	}
	how := createNew
	if a.Replace {
		how = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	}
	f, err := s.root.OpenFile(a.File, how, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if before, err := s.root.ReadFile(a.File); err == nil && string(before) == recipe {
			return nil
		}
		return refusef(http.StatusConflict, "%s already exists: choose another name, or overwrite it",
			a.File)
	}
	if err != nil {
		return refusef(http.StatusForbidden, "%s cannot be written", a.File)
	}
	_, err = f.WriteString(recipe)
	return errors.Join(err, f.Close())
}

// answerLedger shows a ledger.
func (s *Server) answerLedger(r *http.Request, a *request) (any, error) {
	at, err := s.localPath(a.Path)
	if err != nil {
		return nil, err
	}
	return s.runCommand(r.Context(), "ledger", "show", "--json", "--", at), nil
}

// answerRegister enters a data set in a ledger, which is created if it does not exist.
func (s *Server) answerRegister(r *http.Request, a *request) (any, error) {
	at, err := s.localPath(a.Path)
	if err != nil {
		return nil, err
	}
	if name := filepath.Base(at); kindOfName(name) != "ledger" || strings.HasPrefix(name, ".") {
		return nil,
			refusef(http.StatusBadRequest,
				"the name of a ledger must end in .ledger")
	}
	args := []string{"ledger", "init", "--dataset=" + a.Total.Dataset,
		"--epsilon=" + a.Total.Epsilon, "--relation=" + a.Total.Relation, "--unit=" + a.Total.Unit}
	if a.Total.Delta != "" {
		args = append(args, "--delta="+a.Total.Delta)
	}
	return s.runCommand(r.Context(), append(args, "--", at)...), nil
}
