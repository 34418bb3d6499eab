package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
)

// spoolOf returns a spool with the given text.
func spoolOf(t *testing.T, text string) *spool {
	t.Helper()
	s := newServer(t, xModel(), dataset.ReadOptions{}, Limits{})
	e := &exchange{server: s}
	body := &spool{}
	for len(text) > 0 {
		room, err := body.readBuffer(e)
		if err != nil {
			t.Fatal(err)
		}
		n := copy(room[:min(len(room), 5000)], text)
		body.addBytes(n)
		text = text[n:]
	}
	return body
}

// TestEnvelope checks that the records of a body match those of encoding/json for any division of the body into
// blocks.
func TestEnvelope(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	space := func() string {
		return strings.Repeat(
			[]string{
				" ", "\n",
				"\r\n\t",
			}[rng.IntN(3)],
			rng.IntN(4)*rng.IntN(1200),
		)
	}
	for range 300 {
		var want []string
		for range rng.IntN(60) {
			text := []string{
				`{}`,
				`{"a":"}]{[\"\\"}`,
				`{"a":{"b":[1,[2,{"c":null}]]}}`,
				`{"a":"` + strings.Repeat(`\\`, rng.IntN(3000)) + `"}`,
				`{"` + strings.Repeat("é", rng.IntN(3000)) + `":1}`,
			}[rng.IntN(5)]
			want = append(want, text)
		}
		body := space() + "{" + space() + `"records"` + space() + ":" + space() + "[" + space() +
			strings.Join(want, space()+","+space()) + space() + "]" + space() + "}" + space()
		if !json.Valid([]byte(body)) {
			t.Fatal("the test is wrong")
		}
		v := newEnvelope(spoolOf(t, body), 1<<20)
		for i := 0; ; i++ {
			text, p := v.nextRecord()
			if p != nil {
				t.Fatalf(
					"record %d: %+v",
					i+1, p,
				)
			}
			if text == nil {
				if i != len(want) {
					t.Fatalf(
						"%d records, want %d",
						i, len(want),
					)
				}
				break
			}
			if string(text) != want[i] ||
				body[v.start:v.start+int64(len(text))] != want[i] {
				t.Fatalf(
					"record %d: %.80q at %d, want %.80q",
					i+1, text, v.start,
					want[i],
				)
			}
		}
		lines, err := io.ReadAll(&recordLines{envelope: newEnvelope(spoolOf(t, body), 1<<20)})
		if err != nil ||
			string(lines) != strings.Join(append(want, ""), "\n") {
			t.Fatalf(
				"%v: %d lines",
				err,
				bytes.Count(lines, []byte("\n")),
			)
		}
	}
}

// TestPlaceMatchesEditor checks that lines and columns match those of an editor, counted in bytes.
func TestPlaceMatchesEditor(t *testing.T) {
	text := strings.Repeat("ab\n\ncdé\r\n", 5000)
	body := spoolOf(t, text)
	for offset := 0; offset < len(text); offset += 977 {
		before := text[:offset]
		want := fmt.Sprint(
			1+strings.Count(before, "\n"),
			offset-strings.LastIndexByte(before, '\n'),
		)
		line, column := body.lineAndColumn(int64(offset))
		if fmt.Sprint(line, column) != want {
			t.Errorf(
				"offset %d: line %d, column %d, want %s",
				offset, line, column, want,
			)
		}
	}
}

// FuzzEnvelope checks that no body causes a panic, and that encoding/json accepts every accepted body and finds the
// same records.
func FuzzEnvelope(f *testing.F) {
	f.Add(`{"records":[{"a":1},{}]}`)
	f.Add("\uFEFF{\"records\" : [ ] }")
	f.Add(`{"records":[{"a":"]}"}`)
	f.Fuzz(func(t *testing.T, text string) {
		s := &Server{limits: Limits{}.withDefaults()}
		s.memory.free.Store(1 << 30)
		e := &exchange{server: s}
		body := &spool{}
		defer body.release()
		for rest := text; len(rest) > 0; {
			room, err := body.readBuffer(e)
			if err != nil {
				t.Fatal(err)
			}
			n := copy(room, rest)
			body.addBytes(n)
			rest = rest[n:]
		}
		var got []json.RawMessage
		valid := true
		for v := newEnvelope(body, 1<<16); ; {
			record, p := v.nextRecord()
			if p != nil {
				valid = false
				break
			}
			if record == nil {
				break
			}
			valid = valid && dataset.CheckObject(record) == nil
			got = append(got, bytes.Clone(record))
		}
		var want struct{ Records []json.RawMessage }
		err := json.Unmarshal(
			[]byte(strings.TrimPrefix(text, "\uFEFF")),
			&want,
		)
		if valid && (err != nil || len(got) != len(want.Records)) {
			t.Fatalf(
				"%q: %d records, want %d, %v",
				text, len(got),
				len(want.Records), err,
			)
		}
		for i := range got {
			if valid && string(got[i]) != string(want.Records[i]) {
				t.Errorf(
					"%q: record %q, want %q",
					text, got[i], want.Records[i],
				)
			}
		}
	})
}
