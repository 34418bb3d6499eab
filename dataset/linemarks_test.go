package dataset

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// TestLineMarksSearchOnce checks that each byte of a growing buffer is searched for a newline once, and that
// the lines sent do not depend on how the buffer grows.
func TestLineMarksSearchOnce(t *testing.T) {
	for _, text := range []string{
		"",
		"\n",
		"a",
		"a\n",
		"a\nb",
		"a\n\n\nb\n",
		strings.Repeat("cell\n", 1000),
		strings.Repeat("x", 5000) + "\ny",
	} {
		for _, step := range []int{1, 2, 5, 7, 4096} {
			for _, most := range []int{1, 3, 1 << 14} {
				var marks lineMarks
				searched := 0
				sent := 0
				var lines []string
				for end := 0; ; {
					end = min(end+step, len(text))
					for {
						searched += marks.countLines(
							[]byte(text[:end]),
							most,
							end == len(text),
						)
						if marks.lines == 0 || marks.lines < most && end < len(text) {
							break
						}
						cut := strings.SplitAfter(text[sent:marks.end], "\n")
						lines = append(lines, slices.DeleteFunc(cut, func(s string) bool {
							return s == ""
						})...)
						sent = marks.end
						marks.lines = 0
					}
					if end == len(text) {
						break
					}
				}
				name := fmt.Sprintf(
					"%.10q, %d bytes at a time, %d lines at most",
					text,
					step,
					most,
				)
				want := slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(s string) bool {
					return s == ""
				})
				if !slices.Equal(lines, want) {
					t.Errorf("%s: lines %q", name, lines)
				}
				if searched > len(text) {
					t.Errorf(
						"%s: searched %d bytes of %d",
						name, searched, len(text),
					)
				}
			}
		}
	}
}

// lineAtATime reads a line with each call.
type lineAtATime struct{ lines [][]byte }

func (r *lineAtATime) Read(p []byte) (int, error) {
	if len(r.lines) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.lines[0])
	if r.lines[0] = r.lines[0][n:]; len(r.lines[0]) == 0 {
		r.lines = r.lines[1:]
	}
	return n, nil
}

// TestLineCutterReadsLinesOneByOne checks that lines and their numbers do not depend on how many lines the
// source returns at a time.
func TestLineCutterReadsLinesOneByOne(t *testing.T) {
	text := strings.Repeat("1,2,3\n", 997) + strings.Repeat("long", 900) + "\n\n4,5"
	numbered := func(src io.Reader) (out []string) {
		var done int64
		c := &lineCutter{
			rows:  10,
			chunk: 256,
			line:  2,
			done:  &done,
			free:  make(chan []byte, 4),
			out:   make(chan lineSegment),
			long:  make(chan []byte, 1),
		}
		for range cap(c.free) {
			c.free <- nil
		}
		c.long <- nil
		failed := make(chan error, 1)
		go func() {
			failed <- c.cutLines(t.Context(), src)
			close(c.out)
		}()
		for s := range c.out {
			lines := bytes.SplitAfter(
				bytes.TrimSuffix(s.data, []byte("\n")),
				[]byte("\n"),
			)
			if len(lines) > c.rows {
				t.Errorf("a segment has %d lines", len(lines))
			}
			for k, line := range lines {
				out = append(
					out,
					fmt.Sprintf(
						"%d %s", s.line+k,
						bytes.TrimSuffix(line, []byte("\n")),
					),
				)
			}
			s.home <- s.data
		}
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := numbered(strings.NewReader(text))
	got := numbered(&lineAtATime{bytes.SplitAfter(
		[]byte(text),
		[]byte("\n"),
	)})
	if !slices.Equal(
		got, want) {
		t.Errorf(
			"%d lines, want %d, or others",
			len(got), len(want),
		)
	}
	last := want[len(want)-1]
	if last != "1001 4,5" {
		t.Errorf("the last line is %q", last)
	}
}
