package ui

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the sample table
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/dptrain/dptrain/internal/tablefile"
)

// sample is the synthetic table testdata/houses.csv, compressed.
//
//go:embed sample.csv.gz
var sample []byte

// sampleName is the name under which the sample is written to the folder.
const sampleName = "sample-houses.csv"

// maxTable is the maximum size in bytes of a table that is copied into the folder.
const maxTable = 8 << 30

// An imported table is in the folder of the server.
type imported struct {
	Path string `json:"path"`
}

// answerSample writes the sample table to the folder, unless a file with its name exists.
func (s *Server) answerSample(*http.Request, *request) (any, error) {
	text, err := gzip.NewReader(bytes.NewReader(sample))
	if err != nil {
		return nil, err
	}
	var refused *badRequest
	err = s.copyTable(sampleName, text)
	if errors.As(err, &refused) && refused.status == http.StatusConflict {
		err = nil
	}
	return imported{sampleName}, err
}

// serveImport copies the body of a request into the folder, under the name in the query. The table comes from the
// browser of the data owner, who chose it or dropped it on the page; it does not leave the computer.
func (s *Server) serveImport(w http.ResponseWriter, r *http.Request) {
	if !s.hasToken(r) {
		refuse(w, http.StatusUnauthorized,
			"the token is missing or wrong: open the address shown in the terminal")
		return
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		kind != "application/octet-stream" {
		refuse(w, http.StatusUnsupportedMediaType,
			"the Content-Type must be application/octet-stream")
		return
	}
	// A large table takes longer than other requests. A recorder of a test has no deadline.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	name := r.URL.Query().Get("name")
	s.respond(
		w,
		imported{name},
		s.copyTable(name, http.MaxBytesReader(w, r.Body, maxTable)),
	)
}

// copyTable writes a table to a new file of the folder. A file that is not complete is removed.
func (s *Server) copyTable(name string, from io.Reader) error {
	if name == "" || filepath.Base(name) != name || !filepath.IsLocal(name) ||
		strings.HasPrefix(name, ".") || strings.ContainsAny(name, `*?[\`) ||
		kindOfName(strings.ToLower(name)) != "table" {
		return refusef(http.StatusBadRequest,
			"%s is not the name of a table, which ends in %s", name, tablefile.Names)
	}
	f, err := s.root.OpenFile(name, createNew, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return refusef(http.StatusConflict,
			"%s is in the folder already: choose it in the list, or rename the file", name)
	}
	if err != nil {
		return refusef(http.StatusForbidden, "%s cannot be written to the folder", name)
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = s.root.Remove(name) // the error of the copy matters
		return refusef(http.StatusBadRequest, "%s could not be copied completely", name)
	}
	return nil
}
