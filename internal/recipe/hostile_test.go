package recipe

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestHostileYAML checks that texts that exhaust the memory or the stack of other YAML readers are rejected with a
// message, at a cost in proportion to their size.
func TestHostileYAML(t *testing.T) {
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		laughs += fmt.Sprintf(
			"a%d: &a%d [%s]\n",
			i,
			i,
			strings.TrimSuffix(
				strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10),
				",",
			),
		)
	}
	size := MaxSize / 8
	tests := map[string]string{
		"a billion laughs":        laughs + "data: *a11\n",
		"an alias of itself":      "data: &d {path: *d}\n",
		"an alias chain":          "data: &d [*d, *d, *d]\n",
		"brackets":                "data: " + strings.Repeat("[", size),
		"braces":                  "data: " + strings.Repeat("{a: ", size/4),
		"dashes":                  "data:\n" + strings.Repeat("- ", size/2),
		"question marks":          "data:\n" + strings.Repeat("? ", size/2),
		"indentation":             "data:\n" + nestedKeys(1000),
		"one long word":           "data: " + strings.Repeat("x", size),
		"one long key":            strings.Repeat("x", size) + ": 1\ndata: 1\n",
		"many keys":               "data:\n" + manyKeys(size),
		"many anchors":            strings.Repeat("- &a x\n", size/7),
		"open quote":              "data: \"" + strings.Repeat("\n", size),
		"tag of a program":        "data: !!python/object/apply:os.system [id]\n",
		"another file":            "data: !include /etc/passwd\n",
		"merge of another":        "x: &x {path: a.csv}\ndata: {<<: *x, target: y}\n",
		"documents":               strings.Repeat("--- a\n", size/6),
		"null bytes":              "data: " + strings.Repeat("\x00", size),
		"a number of many digits": "privacy: {epsilon: " + strings.Repeat("9", size) + "}\n",
	}
	for name, text := range tests {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, problems := Parse("r.yaml", []byte(text))
		msg := problems.Error()
		runtime.ReadMemStats(&after)
		if r != nil || len(problems) == 0 {
			t.Errorf("%s: accepted", name)
		}
		used := after.TotalAlloc - before.TotalAlloc
		if used > 1<<27 {
			t.Errorf(
				"%s: %d MiB for %d bytes",
				name, used>>20, len(text),
			)
		} else {
			t.Logf(
				"%s: %d MiB, %d problems, %d bytes of message",
				name,
				used>>20,
				len(problems),
				len(msg),
			)
		}
		if strings.Contains(msg, "root:") {
			t.Errorf("%s: %s", name, msg)
		}
	}
}

func nestedKeys(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i+1) + "a:\n")
	}
	return b.String()
}

func manyKeys(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size-20; i++ {
		fmt.Fprintf(&b, " k%d: 1\n", i)
	}
	return b.String()
}
