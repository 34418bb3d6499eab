package main

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// opened returns the names in the working directory that do opens, to read or to
// write.
func opened(t *testing.T, do func()) []string {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK)
	if err != nil {
		t.Skip("no inotify here:", err)
	}
	defer unix.Close(fd)
	if _, err := unix.InotifyAddWatch(fd, ".", unix.IN_OPEN|unix.IN_CREATE|unix.IN_MODIFY); err != nil {
		t.Skip("no inotify here:", err)
	}
	do()
	seen := map[string]bool{}
	buf := make([]byte, 1<<16)
	for {
		n, err := unix.Read(fd, buf)
		if errors.Is(err, unix.EAGAIN) || n == 0 {
			return slices.Sorted(maps.Keys(seen))
		}
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < n; {
			event := (*unix.InotifyEvent)(unsafe.Pointer(&buf[at]))
			name := buf[at+unix.SizeofInotifyEvent : at+unix.SizeofInotifyEvent+int(event.Len)]
			if name = bytes.TrimRight(name, "\x00"); len(name) > 0 {
				seen[string(name)] = true
			}
			at += unix.SizeofInotifyEvent + int(event.Len)
		}
	}
}

// TestReadsWhatIsNamedOnly gives recipes and models that are full of the names of
// other files: check, plan and fit read the recipe and its table, predict the model and its
// table, and nothing else in the folder is opened.
func TestReadsWhatIsNamedOnly(t *testing.T) {
	chdir(t)
	decoys := []string{"secret.csv", "secret.yaml", "secret.json", "dptrain.ledger", "recipe.schema.json"}
	for _, name := range decoys {
		write(t, name, "a,b,y\n1,2,3\n")
	}
	write(t, "line.csv", strings.Replace(lineCSV(50), "a,b,y", "a,secret.csv,y", 1))
	write(t, "recipe.yaml", `# yaml-language-server: $schema=recipe.schema.json
data:
  path: line.csv
  target: y
  columns:
    a: {categories: [secret.csv, ./secret.yaml, 'file://secret.json', '@secret.csv', '$(cat secret.csv)']}
    secret.csv: {lower: 0, upper: 5}
privacy: {epsilon: 1}
`)
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"check recipe.yaml", []string{"line.csv", "recipe.yaml"}},
		{"plan recipe.yaml", []string{"line.csv", "recipe.yaml"}},
		{"fit recipe.yaml", []string{"line.csv", "recipe.yaml"}},
		{"report out", nil},
		{"predict out/release/model.json line.csv", []string{"line.csv"}},
		{"report out --registry", nil},
	} {
		got := opened(t, func() {
			if got := dptrain(t, strings.Fields(tt.args)...); got.code != exitOK {
				t.Fatalf("%s: %+v", tt.args, got)
			}
		})
		got = slices.DeleteFunc(got, func(name string) bool { return name == "out" })
		if diff := cmp.Diff(append([]string{}, tt.want...), append([]string{}, got...)); diff != "" {
			t.Errorf("%s opened (-want +got):\n%s", tt.args, diff)
		}
	}
	if !strings.Contains(read(t, "out/release/model.json"), "secret.yaml") {
		t.Error("the model does not name the other files")
	}
}
