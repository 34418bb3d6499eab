package ui

import (
	"net/http"
	"strings"

	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/ui/look"
)

// answerPreview answers with the first records of a table, read with the settings of the page, and proposes settings
// that would read more of the cells. The answer depends on private records and is for the data owner only.
func (s *Server) answerPreview(r *http.Request, a *request) (any, error) {
	table, err := s.localPath(a.Path)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(a.Path, "*?[") || kindOfName(strings.ToLower(a.Path)) != "table" {
		return nil, refusef(http.StatusBadRequest, "%s is not a single table", a.Path)
	}
	data, wrong := recipe.Data{
		Path:   table,
		Format: &a.Format,
	}.WithSettings(nil)
	if len(wrong) > 0 {
		return map[string]any{"mistakes": mistakesOf(wrong)}, nil
	}
	opts := data.Reading()
	if a.Target != "" {
		opts.Known = []string{a.Target}
	}
	sample, err := look.First(r.Context(), table, opts)
	if err != nil {
		return nil, refusef(http.StatusUnprocessableEntity, "%s", s.shortenPaths(err.Error()))
	}
	text := make(map[string]bool, len(a.Text))
	for _, name := range a.Text {
		text[name] = true
	}
	return sample.Preview(
		look.Reading{
			Format: opts.Format,
			Dates:  a.Dates,
			Text:   text,
			Fold:   a.Fold,
			Target: a.Target,
		}), nil
}

// mistakesOf returns the errors of a recipe for the page.
func mistakesOf(problems recipe.Problems) []mistake {
	out := []mistake{}
	for _, p := range problems {
		out = append(out, mistake{p.Path, p.Line, p.Msg, p.Hint})
	}
	return out
}
