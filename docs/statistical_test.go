package docs

import (
	"bufio"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// falseAlarm matches statements of the probability that a test fails although the code is correct.
var falseAlarm = regexp.MustCompile(
	`(?i)probability (?:far )?below 1e-|odds (?:are )?below 1e-|false alarms? below 1e-|odds 1e-\d+ each|has the odds 1e-`)

// testFunction matches the head of a test.
var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// TestStatisticalTests checks that scripts/statistical-tests.tsv lists every test that states the probability of a
// false alarm, with a rate, and that every listed test exists.
func TestStatisticalTests(t *testing.T) {
	listed := map[string]bool{}
	file, err := os.Open("../scripts/statistical-tests.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 3 {
			t.Fatalf(
				"%q has %d fields",
				lines.Text(), len(fields),
			)
		}
		rate, err := strconv.ParseFloat(fields[2], 64)
		if err != nil || !(rate > 0 && rate <= .01) {
			t.Errorf(
				"%q: the rate is not in (0, .01]",
				lines.Text(),
			)
		}
		listed[fields[0]+" "+fields[1]] = true
	}
	found := map[string]bool{}
	err = fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil ||
			d.IsDir() ||
			!strings.HasSuffix(name, "_test.go") ||
			strings.HasPrefix(name, "sql/") ||
			strings.HasPrefix(name, "docs/") {
			return err
		}
		content, err := os.ReadFile("../" + name)
		if err != nil {
			return err
		}
		text := string(content)
		heads := testFunction.FindAllStringSubmatchIndex(text, -1)
		for _, head := range heads {
			test := path.Dir(name) + " " + text[head[2]:head[3]]
			found[test] = true
			if falseAlarm.MatchString(commentBefore(text, head[0])) && !listed[test] {
				t.Errorf(
					"%s states the probability of a false alarm and is not listed",
					test,
				)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for test := range listed {
		if !found[test] {
			t.Errorf("%s is listed and does not exist", test)
		}
	}
	if len(listed) < 40 {
		t.Errorf("%d tests are listed", len(listed))
	}
}

// commentBefore returns the comment directly above an offset of a text.
func commentBefore(text string, at int) string {
	lines := strings.Split(
		strings.TrimSuffix(text[:at], "\n"),
		"\n",
	)
	first := len(lines)
	for first > 0 && strings.HasPrefix(lines[first-1], "//") {
		first--
	}
	return strings.Join(lines[first:], "\n")
}
