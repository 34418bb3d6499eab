package main

import (
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOutputPipe checks that output to a named pipe, also through a symbolic link, is written to the pipe and does
// not replace it.
func TestOutputPipe(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	writeFile(t, "new.csv", newCSV)
	if err := unix.Mkfifo("pipe", 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	if err := os.Symlink("pipe", "link"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "link"} {
		got := make(chan string)
		go func() {
			f, err := os.Open("pipe")
			if err != nil {
				got <- err.Error()
				return
			}
			defer f.Close()
			text, _ := io.ReadAll(f)
			got <- string(text)
		}()
		r := dptrain(
			t, "predict", "model.json",
			"new.csv", "-o", name,
		)
		if r != (result{stderr: "note: new.csv" + unevenNote}) {
			t.Errorf("%s: %+v", name, r)
		}
		text := <-got
		if text != "prediction\n112\n-85\n120\n210\n120\n120\n" {
			t.Errorf("%s: %q", name, text)
		}
		info, err := os.Lstat("pipe")
		if err != nil || info.Mode().Type() != os.ModeNamedPipe {
			t.Errorf(
				"%s: the pipe is %v, %v",
				name, info.Mode(), err,
			)
		}
	}
	onlyFiles(t, "link", "model.json", "new.csv", "pipe")
}
