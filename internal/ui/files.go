package ui

import (
	"errors"
	"io/fs"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dptrain/dptrain/internal/tablefile"
)

// localPath returns the path of a file in the folder; the file may be absent. It returns an error for names that
// lead out of the folder, including through symbolic links.
func (s *Server) localPath(name string) (string, error) {
	local := filepath.FromSlash(name)
	if local == "" || !filepath.IsLocal(local) {
		return "",
			refusef(http.StatusForbidden, "%s is not in the folder of this page",
				name)
	}
	for at := local; ; at = filepath.Dir(at) {
		_, err := s.root.Stat(at)
		switch {
		case err == nil:
			return s.prefix + filepath.Clean(local), nil
		case !errors.Is(err, fs.ErrNotExist) || at == ".":
			return "",
				refusef(http.StatusForbidden,
					"%s is not in the folder of this page, or cannot be read",
					name)
		}
	}
}

// removeDraftFolders removes the paths of draft folders from a text. Each is a folder with a random name in drafts.
func removeDraftFolders(text, drafts string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, drafts)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits > 0 && strings.HasPrefix(rest[digits:], string(filepath.Separator)) {
			rest = rest[digits+1:]
		}
		text = rest
	}
}

// shortenPaths removes the path of the folder from a text, since the page shows relative paths.
func (s *Server) shortenPaths(text string) string {
	text = removeDraftFolders(text, s.drafts+string(filepath.Separator))
	if s.prefix == "" {
		return text
	}
	return strings.ReplaceAll(text, s.prefix, "")
}

// A listed file is a folder, a table, a recipe, a ledger, or the results of a run. Sizes and times are omitted
// because they depend on records.
type listed struct {
	Name string `json:"name"`
	Path string `json:"path"`
	Kind string `json:"kind"`
}

// mostListed is the maximum number of files listed in a folder.
const mostListed = 2000

// A listing is the content of a folder, with paths relative to the folder of the server.
type listing struct {
	Folder string   `json:"folder"` // of the server
	Path   string   `json:"path"`
	Files  []listed `json:"files"`
}

// answerFiles answers with the selectable files of a folder.
func (s *Server) answerFiles(_ *http.Request, a *request) (any, error) {
	return s.listFolder(a.Path)
}

// listFolder lists the selectable files of a folder.
func (s *Server) listFolder(folder string) (*listing, error) {
	dir := path.Clean("/" + folder)[1:]
	if dir == "" {
		dir = "."
	}
	if _, err := s.localPath(dir); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(s.root.FS(), dir)
	if err != nil {
		return nil, refusef(http.StatusNotFound, "the folder %s cannot be read", folder)
	}
	out := []listed{}
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		if kind := s.kindOfPath(at); kind != "" && len(out) < mostListed {
			out = append(out, listed{e.Name(), at, kind})
		}
	}
	slices.SortStableFunc(out, func(x, y listed) int {
		return kindRank(x.Kind) - kindRank(y.Kind)
	})
	return &listing{s.o.Folder, dir, out}, nil
}

// kindRank returns the position of a kind of file in a listing.
func kindRank(kind string) int {
	return slices.Index([]string{"table", "results", "recipe", "ledger", "folder"}, kind)
}

// kindOfPath returns the kind of a file by its name, or "" if it cannot be selected.
func (s *Server) kindOfPath(at string) string {
	info, err := s.root.Stat(filepath.FromSlash(at))
	name := strings.ToLower(path.Base(at))
	switch {
	case err != nil || strings.HasPrefix(name, "."):
		return ""
	case info.IsDir():
		if _, err := s.root.Stat(filepath.Join(filepath.FromSlash(at), reportPage)); err == nil {
			return "results"
		}
		return "folder"
	case !info.Mode().IsRegular():
		return ""
	}
	return kindOfName(name)
}

// kindOfName returns the kind of a regular file.
func kindOfName(name string) string {
	if _, _, ok := tablefile.ParsePath(name); ok {
		return "table"
	}
	switch path.Ext(name) {
	case ".yaml", ".yml":
		return "recipe"
	case ".ledger":
		return "ledger"
	}
	return ""
}

// reportPage is the path of the report page, relative to the folder of a run.
var reportPage = filepath.Join("release", "report.html")

// maxPage is the maximum size in bytes of a report page.
const maxPage = 16 << 20

// pages holds the open report pages by key. The key is part of the address, because a frame sends no token; this is
// acceptable because a report may be published.
type pages struct {
	mu   sync.Mutex
	keys []string
	dirs []string
}

// mostPages is the maximum number of open reports.
const mostPages = 32

func (p *pages) register(key, dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = append(p.keys, key)
	p.dirs = append(p.dirs, dir)
	if len(p.keys) > mostPages {
		p.keys = p.keys[1:]
		p.dirs = p.dirs[1:]
	}
}

func (p *pages) folderOf(key string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.keys, key)
	if i < 0 {
		return "", false
	}
	return p.dirs[i], true
}

// answerReport opens the report of a run.
func (s *Server) answerReport(_ *http.Request, a *request) (any, error) {
	if _, err := s.localPath(a.Path); err != nil {
		return nil, err
	}
	if info, err := s.root.Stat(
		filepath.Join(filepath.FromSlash(a.Path), reportPage)); err != nil ||
		info.Size() > maxPage {
		return nil, refusef(http.StatusNotFound, "%s has no release/report.html", a.Path)
	}
	key := s.o.NewKey()
	s.pages.register(key, a.Path)
	return map[string]string{"url": "/report/" + key}, nil
}

// serveReport answers with a report in a sandbox. A report has no script, and the sandbox would not run any.
func (s *Server) serveReport(w http.ResponseWriter, r *http.Request) {
	dir, ok := s.pages.folderOf(r.PathValue("key"))
	if !ok {
		refuse(w, http.StatusNotFound, "unknown report")
		return
	}
	text, err := s.root.ReadFile(filepath.Join(filepath.FromSlash(dir), reportPage))
	if err != nil {
		refuse(w, http.StatusNotFound, dir+" has no release/report.html any more")
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy",
		"sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(text) // the browser may have closed the connection
}
