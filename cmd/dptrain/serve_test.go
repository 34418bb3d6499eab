package main

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestServe: the address is printed, answers until the run is told to stop, and then the exit code is 0.
func TestServe(t *testing.T) {
	const path = "../../regression/testdata/model-2.json"
	for _, args := range [][]string{
		{"--addr", "x"}, {"--addr", "0.0.0.0:0"}, {"--addr", ":0"}, {"--cert", "x.pem"}, {"--cert", "x.pem", "--key", "x.pem"}, {"--max-body", "0"},
	} {
		var out, stderr bytes.Buffer
		if code := run(context.Background(), append([]string{"serve", path}, args...), nil, &out, &stderr); code != exitUsage {
			t.Errorf("%v: exit code %d, %s", args, code, stderr.String())
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	printed, ended := make(lines, 9), make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", path, "--addr", "127.0.0.1:0"}, nil, &bytes.Buffer{}, printed)
	}()
	at := regexp.MustCompile(`http://[0-9.:]+`).FindString(<-printed)
	r, err := http.Post(at+"/predict", "application/json", strings.NewReader(`{"records":[{"age":1,"ocean":null,"income":2,"kind":"a"}]}`))
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// lines passes on what is written.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}
