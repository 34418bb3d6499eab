package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/internal/sys/filesys"
)

// The files of an output folder.
const (
	ResultsFile    = "results.jsonl" // one line a trial, appended as trials end
	ResultsTable   = "results.csv"   // the same, one row a trial
	SummaryTable   = "summary.csv"   // one row per cell and metric
	PageFile       = "index.html"    // the rendered page
	TablesFile     = "tables.md"     // its tables in Markdown
	resultsVersion = 1
)

var (
	// ErrOutput is wrapped by errors about an output folder that cannot be written or holds the results of something
	// else.
	ErrOutput = errors.New("the output folder")
	// errForeign means that the results belong to another experiment.
	errForeign = fmt.Errorf("%w holds other results", ErrOutput)
	// errShared means that another process writes to the folder.
	errShared = fmt.Errorf(
		"%w is in use: another run of a suite writes to it; let it end, or name another folder",
		ErrOutput)
)

// A Header is the first line of results.jsonl, with the values that all trials share.
type Header struct {
	Suite   string `json:"suite"`
	Version int    `json:"version"`
	Seed    uint64 `json:"seed"`
}

// A Store keeps the finished trials of one experiment in results.jsonl. Every trial is one line, written in one call,
// so that an interrupted run loses at most the line it was writing; [OpenStore] removes such an incomplete last line.
// If a trial has several lines, the last one counts.
//
// A Store is not safe for concurrent use. It locks results.jsonl until it is closed: a second process that opens the
// same folder is refused.
type Store struct {
	file   *os.File
	places map[Key]int
	lines  []Record
}

// OpenStore opens or creates the results of an experiment in a folder. The error wraps [ErrOutput].
func OpenStore(dir string, h Header) (*Store, error) {
	h.Version = resultsVersion
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, unwritable(err)
	}
	file, err := os.OpenFile(
		filepath.Join(dir, ResultsFile),
		os.O_RDWR|os.O_CREATE,
		0o644,
	)
	if err != nil {
		return nil, unwritable(err)
	}
	s := &Store{file: file, places: map[Key]int{}}
	if err := s.open(h); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// open locks the file, reads its records and prepares it for appending.
func (s *Store) open(h Header) error {
	if !filesys.TryLock(s.file) {
		return fmt.Errorf("%s: %w", s.file.Name(), errShared)
	}
	text, err := io.ReadAll(s.file)
	if err != nil {
		return unwritable(err)
	}
	whole, err := s.load(text, h)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file.Name(), err)
	}
	if err := s.truncateToLines(int64(whole), h); err != nil {
		return unwritable(err)
	}
	return nil
}

func unwritable(err error) error {
	return fmt.Errorf("%w cannot be used: %w", ErrOutput, err)
}

// truncateToLines truncates the file to its complete lines. It starts an empty file with the header.
func (s *Store) truncateToLines(whole int64, h Header) error {
	if err := s.file.Truncate(whole); err != nil {
		return err
	}
	if _, err := s.file.Seek(whole, 0); err != nil {
		return err
	}
	if whole > 0 {
		return nil
	}
	return s.write(h)
}

// load reads the lines of text and returns the number of bytes in complete lines. Only the last line may be
// incomplete.
func (s *Store) load(text []byte, want Header) (whole int, err error) {
	for number := 1; whole < len(text); number++ {
		end := bytes.IndexByte(text[whole:], '\n')
		if end < 0 {
			return whole, nil
		}
		line := text[whole : whole+end]
		if err := s.line(line, number, want); err != nil {
			last := whole+end+1 == len(text)
			if last && number > 1 && !errors.Is(err, errForeign) {
				return whole, nil
			}
			return 0, err
		}
		whole += end + 1
	}
	return whole, nil
}

// line parses and stores one line.
func (s *Store) line(text []byte, number int, want Header) error {
	if number == 1 {
		var h Header
		if err := json.Unmarshal(text, &h); err != nil || h.Suite == "" {
			return fmt.Errorf("%w: line 1 is not the header of a suite; name another folder",
				errForeign)
		}
		if h != want {
			return fmt.Errorf(
				"%w: those of %s with seed %d in format %d, not %s with seed %d in format %d; name another folder",
				errForeign, h.Suite, h.Seed, h.Version, want.Suite, want.Seed, want.Version)
		}
		return nil
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil || r.Method == "" || r.Trial < 1 ||
		r.Status == "" {
		return fmt.Errorf(
			"%w: line %d of the results is damaged; remove it, and its trial is repeated",
			ErrOutput, number)
	}
	s.keep(r)
	return nil
}

func (s *Store) keep(r Record) {
	if i, ok := s.places[r.Key]; ok {
		s.lines[i] = r
		return
	}
	s.places[r.Key] = len(s.lines)
	s.lines = append(s.lines, r)
}

// Done reports whether a trial need not run, that is, it has a line and its method was available.
func (s *Store) Done(k Key) bool {
	i, ok := s.places[k]
	return ok && s.lines[i].Status != Unavailable
}

// Put appends a trial. The error wraps [ErrOutput].
func (s *Store) Put(r Record) error {
	if err := s.write(r); err != nil {
		return unwritable(err)
	}
	s.keep(r)
	return nil
}

// write appends one line in one call.
func (s *Store) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = s.file.Write(append(line, '\n'))
	return err
}

// Records returns the trials in the order in which they first ended.
func (s *Store) Records() []Record {
	return s.lines
}

// Close flushes the file to the disk and closes it. The error wraps [ErrOutput].
func (s *Store) Close() error {
	if err := errors.Join(s.file.Sync(), s.file.Close()); err != nil {
		return unwritable(err)
	}
	return nil
}
