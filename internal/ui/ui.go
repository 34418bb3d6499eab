// Package ui serves a page for the data owner's browser on the owner's own computer. The page runs commands and
// shows their output, the reports of earlier runs, and a preview of the first records of a table. The preview is the
// only record-level data sent to the browser, and it is written to no file. The browser sends records only if the data
// owner drops a table on the page: the server then copies it into its folder.
//
// The server listens on the loopback interface, which other programs and pages of other origins in the same browser
// can also reach. Each request must therefore use the host name of the server, come from no other origin, and
// contain a token known only to the terminal and the page. The page is loaded before it has the token and contains
// no data by itself.
package ui

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// A Call is a command that runs in the process of the server.
type Call struct {
	Args     []string
	Stdout   io.Writer
	Stderr   io.Writer
	Progress func(done, total int, what string) // reports progress, independent of the records
}

// Options of a server. All are required.
type Options struct {
	Folder string                                // holds tables, recipes and results; other folders are not touched
	Token  string                                // the secret that authenticates requests
	NewKey func() string                         // returns an unguessable name
	Run    func(ctx context.Context, c Call) int // carries out a command, and returns its exit code
}

// A Server serves the page and its API.
type Server struct {
	o      Options
	root   *os.Root
	token  [sha256.Size]byte
	prefix string // prefix for file names in arguments of commands; empty in the working directory
	drafts string // a folder for unsaved recipes
	jobs   jobs
	pages  pages
}

// New returns a server for a folder. Errors are those of the file system.
func New(o Options) (*Server, error) {
	folder, err := filepath.Abs(o.Folder)
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return nil, err
	}
	o.Folder = folder
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	drafts, err := os.MkdirTemp("", "dptrain-ui-")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	s := &Server{
		o:      o,
		root:   root,
		token:  sha256.Sum256([]byte(o.Token)),
		drafts: drafts,
		prefix: folder + string(filepath.Separator),
	}
	if here, err := os.Getwd(); err == nil && isSameFolder(here, folder) {
		s.prefix = "" // messages are wrapped like those of the commands
	}
	return s, nil
}

// isSameFolder reports whether two paths refer to the same folder.
func isSameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Close stops all jobs and removes unsaved recipes.
func (s *Server) Close() error {
	s.jobs.stopAll()
	return errors.Join(s.root.Close(), os.RemoveAll(s.drafts))
}

// Serve answers until ctx ends. It then interrupts running jobs, as Ctrl-C interrupts a command.
func (s *Server) Serve(ctx context.Context, at net.Listener) error {
	server := &http.Server{
		Handler:           s.Handler(at.Addr().String()),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 16,
		ErrorLog:          discard,
		BaseContext: func(net.Listener) context.Context {
			return ctx
		},
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // open requests are dropped
	defer stop()
	err := server.Serve(at)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

//go:embed web
var web embed.FS

// serveStatic answers with a file of the page.
func serveStatic(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	text, err := web.ReadFile("web/" + name)
	if err != nil {
		refuse(w, http.StatusNotFound, "unknown page")
		return
	}
	kinds := map[string]string{
		".html": "text/html",
		".css":  "text/css",
		".js":   "text/javascript",
	}
	w.Header().Set("Content-Type", kinds[path.Ext(name)]+"; charset=utf-8")
	_, _ = w.Write(text) // the browser may have closed the connection
}

// Handler returns the handler of all routes for requests to host, such as 127.0.0.1:8484.
func (s *Server) Handler(host string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{name}", serveStatic)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		r.SetPathValue("name", "index.html")
		serveStatic(w, r)
	})
	mux.HandleFunc("GET /report/{key}", s.serveReport)
	for path, answer := range map[string]func(*http.Request, *request) (any, error){
		"/api/files":    s.answerFiles,
		"/api/columns":  s.answerColumns,
		"/api/recipe":   s.answerRecipe,
		"/api/plan":     s.answerPlan,
		"/api/explain":  s.answerExplain,
		"/api/fit":      s.answerFit,
		"/api/preview":  s.answerPreview,
		"/api/runs":     s.answerRuns,
		"/api/job":      s.answerJob,
		"/api/cancel":   s.answerCancel,
		"/api/report":   s.answerReport,
		"/api/ledger":   s.answerLedger,
		"/api/register": s.answerRegister,
		"/api/sample":   s.answerSample,
	} {
		mux.HandleFunc("POST "+path, s.handle(answer))
	}
	mux.HandleFunc("POST /api/import", s.serveImport)
	return s.checkOrigin(host, mux)
}

// policy lets the page load only resources of the server, run no inline script, and appear in no frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// checkOrigin refuses requests for another host or from another origin.
func (s *Server) checkOrigin(host string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		site := r.Header.Get("Sec-Fetch-Site")
		opens := r.URL.Path == "/" && r.Method == http.MethodGet // a link of another program may open the empty page
		switch origin := r.Header.Get("Origin"); {
		case r.Host != host:
			refuse(w, http.StatusMisdirectedRequest,
				"this server only accepts requests for "+host+" only")
		case origin != "" && origin != "http://"+host,
			site != "" && site != "same-origin" && site != "none" && !opens:
			refuse(w, http.StatusForbidden, "requests from other origins are rejected")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// hasToken reports whether a request has the token, in constant time.
func (s *Server) hasToken(r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	hash := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(hash[:], s.token[:]) == 1 && ok
}

// maxBody is the maximum size of a request in bytes. A recipe may have up to this size.
const maxBody = 2 << 20

// handle returns a handler for JSON requests with the token.
func (s *Server) handle(answer func(*http.Request, *request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.hasToken(r) {
			refuse(w, http.StatusUnauthorized,
				"the token is missing or wrong: open the address shown in the terminal")
			return
		}
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
			kind != "application/json" {
			refuse(
				w,
				http.StatusUnsupportedMediaType,
				"the Content-Type must be application/json",
			)
			return
		}
		var a request
		body := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		body.DisallowUnknownFields()
		if err := body.Decode(&a); err != nil {
			refuse(
				w,
				http.StatusBadRequest,
				"the request is not valid JSON for this path",
			)
			return
		}
		out, err := answer(r, &a)
		s.respond(w, out, err)
	}
}

// respond answers with the result of a request in JSON, or with its error.
func (s *Server) respond(w http.ResponseWriter, out any, err error) {
	var bad *badRequest
	switch {
	case errors.As(err, &bad):
		refuse(w, bad.status, bad.message)
	case err != nil:
		refuse(w, http.StatusInternalServerError, s.shortenPaths(err.Error()))
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out) // the browser may have closed the connection
	}
}

// A badRequest is the error for a refused request.
type badRequest struct {
	status  int
	message string
}

func (b *badRequest) Error() string {
	return b.message
}

func refusef(status int, format string, args ...any) error {
	return &badRequest{status, fmt.Sprintf(format, args...)}
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message}) // likewise
}
