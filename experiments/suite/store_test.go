package suite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var testHeader = Header{Suite: "test", Seed: 7}

// trialRecord returns a finished trial with one value.
func trialRecord(data, method string, trial int, value float64) Record {
	return Record{
		Key{Cell{data, method, Setting{K: 5, Epsilon: 1}}, trial},
		Outcome{
			Status:  OK,
			Values:  map[string]float64{"r2": value},
			Seconds: .5,
		},
	}
}

func openStore(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := OpenStore(dir, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// storeOf creates a store with some trials and closes it.
func storeOf(t *testing.T, records ...Record) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "new", "folder")
	s := openStore(t, dir)
	for _, r := range records {
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func readResults(t *testing.T, dir string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestStoreKeepsTrials(t *testing.T) {
	absent := trialRecord("a", "magic", 1, 0)
	absent.Outcome = failure(Unavailable, errors.New("no such method"))
	tired := trialRecord("a", "tukey", 1, 0)
	tired.Outcome = failure(Abstained, errors.New("too few rows"))
	dir := storeOf(
		t,
		trialRecord("a", "m", 1, .25),
		absent, tired,
	)
	s := openStore(t, dir)
	if len(s.Records()) != 3 ||
		s.Records()[0].Values["r2"] != .25 ||
		s.Records()[0].Setting.Epsilon != 1 {
		t.Fatalf("read %+v", s.Records())
	}
	for key, want := range map[Key]bool{
		trialRecord("a", "m", 1, 0).Key: true,
		trialRecord("a", "m", 2, 0).Key: false,
		trialRecord("b", "m", 1, 0).Key: false,
		absent.Key:                      false,
		tired.Key:                       true,
	} {
		if s.Done(key) != want {
			t.Errorf(
				"%+v: done is %v",
				key, !want,
			)
		}
	}
	// The last line of a trial counts, at the position of the first.
	err := s.Put(trialRecord("a", "magic", 1, .75))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir)
	defer s.Close()
	r := s.Records()
	if len(r) != 3 ||
		r[1].Values["r2"] != .75 ||
		!s.Done(absent.Key) {
		t.Errorf("after a second line: %+v", r)
	}
}

// TestStoreRepairsATornLine checks that the store opens for any number of surviving bytes of the file, contains the
// trials whose lines are complete, and can continue.
func TestStoreRepairsATornLine(t *testing.T) {
	whole := readResults(
		t,
		storeOf(
			t,
			trialRecord("a", "m", 1, .1),
			trialRecord("a", "m", 2, .2),
			trialRecord("a", "m", 3, .3),
		),
	)
	for size := range len(whole) + 1 {
		dir := t.TempDir()
		err := os.WriteFile(filepath.Join(dir, ResultsFile), whole[:size], 0o600)
		if err != nil {
			t.Fatal(err)
		}
		s := openStore(t, dir)
		want := max(
			0,
			bytes.Count(whole[:size], []byte("\n"))-1,
		)
		if len(s.Records()) != want {
			t.Fatalf(
				"%d bytes: %d trials, want %d",
				size, len(s.Records()), want,
			)
		}
		for trial := want + 1; trial <= 3; trial++ {
			err := s.Put(trialRecord(
				"a", "m", trial,
				float64(trial)/10,
			))
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		got := readResults(t, dir)
		if !bytes.Equal(got, whole) {
			t.Fatalf(
				"%d bytes: the finished file is\n%s",
				size, got,
			)
		}
	}
}

func TestStoreRefusals(t *testing.T) {
	good := string(readResults(
		t,
		storeOf(
			t,
			trialRecord("a", "m", 1, .1),
			trialRecord("a", "m", 2, .2),
		),
	))
	lines := strings.SplitAfter(good, "\n")
	for name, c := range map[string]struct {
		text string
		says []string
	}{
		"damaged line": {
			lines[0] + "{\"data\":\n" + lines[2],
			[]string{"line 2", "damaged", ResultsFile},
		},
		"no trial": {
			lines[0] + "{\"method\":\"m\",\"status\":\"ok\"}\n" + lines[2],
			[]string{"line 2"},
		},
		"other suite": {
			strings.Replace(good, "test", "copies", 1),
			[]string{"copies with seed 7", "test with seed 7", "another folder"},
		},
		"other seed": {
			strings.Replace(good, `"seed":7`, `"seed":8`, 1),
			[]string{"seed 8"},
		},
		"other format": {
			strings.Replace(good, `"version":1`, `"version":2`, 1),
			[]string{"format 2"},
		},
		"other content": {
			"data,method\na,b\n",
			[]string{"line 1", "header"},
		},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, ResultsFile)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := OpenStore(dir, testHeader)
		if !errors.Is(err, ErrOutput) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, words := range c.says {
			if !strings.Contains(err.Error(), words) {
				t.Errorf(
					"%s: %q does not say %q",
					name, err, words,
				)
			}
		}
		got, _ := os.ReadFile(path)
		if string(got) != c.text {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// TestStoreIsLocked checks that a second store in the same folder is refused without any change while the first is
// open, and that the folder can be opened again afterwards.
func TestStoreIsLocked(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "plan9" {
		t.Skip("this system has no such locks")
	}
	dir := storeOf(t, trialRecord("a", "m", 1, .25))
	s := openStore(t, dir)
	before := readResults(t, dir)
	_, err := OpenStore(dir, testHeader)
	if !errors.Is(err, ErrOutput) ||
		!strings.Contains(err.Error(), "in use") {
		t.Errorf("%v", err)
	}
	if !bytes.Equal(before, readResults(t, dir)) {
		t.Error("the refused one changed the file")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s := openStore(t, dir); len(s.Records()) != 1 || s.Close() != nil {
		t.Errorf("%+v", s.Records())
	}
}

func TestStoreNeedsAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(path, testHeader); !errors.Is(err, ErrOutput) {
		t.Errorf("a file as folder: %v", err)
	}
	s := openStore(t, t.TempDir())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	err := s.Put(trialRecord("a", "m", 1, 0))
	if !errors.Is(err, ErrOutput) || len(s.Records()) != 0 {
		t.Errorf(
			"a trial that could not be written: %v, %d kept",
			err, len(s.Records()),
		)
	}
}
