// Command dptrain-spark asks a Spark cluster for dptrain, which knows no cluster itself.
//
// dptrain starts it for a run with --engine spark. The first line on standard input is a question in JSON: where
// Spark Connect listens, and which program is to work on the executors. The program is sent there as an
// artifact of the session. Then come lists of byte strings, and each is answered by another list. The first string is a
// request in JSON, which says what is to be done:
//
//	tasks    every string after the next goes through the program on some executor, behind the next one where it is the
//	         first that goes there, and what the program says comes back, in no order
//	columns  the names of the columns of a query come back; no row is read
//	keep     the rows of a query go through the program, each part of them after the further string, and what it makes of
//	         them the cluster keeps; how it begins comes back
//	kept     the same with that which is kept and begins as the string does, on so many executors at most
//
// What the strings mean this command does not know; dptrain sees to it that none is lost, doubled or cut.
//
// Exit code 0 says that all lists were answered. Otherwise the last line on standard error is an object of JSON with
// a word, of which dptrain makes a sentence. No text of the cluster is passed on, because it may quote what a
// worker has seen.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// format is the format of a question.
const format = "dptrain.spark/3"

// A question is what dptrain asks first. internal/engine/cluster of the main module has the same.
type question struct {
	Format  string `json:"format"`
	Address string `json:"address"` // host:port
	TLS     bool   `json:"tls"`
	Token   string `json:"token,omitempty"`
	Session string `json:"session"`           // a UUID
	Program string `json:"program,omitempty"` // path of the program that works
}

// A request begins a list. internal/engine/cluster of the main module has the same.
type request struct {
	Ask     string   `json:"ask"`
	Query   string   `json:"query,omitempty"`
	Columns []string `json:"columns,omitempty"` // of the query, before
	Begin   int      `json:"begin,omitempty"`   // characters that come back of what is kept
	Workers int      `json:"workers,omitempty"` // for what is kept
}

// A failure says in a word of this program why there is no answer.
type failure struct {
	Word   string `json:"word"`
	Column string `json:"column,omitempty"`
	Type   string `json:"type,omitempty"`
}

func (f *failure) Error() string { return f.Word }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := answerRequests(ctx, os.Stdin, os.Stdout)
	stop()
	if err == nil {
		return
	}
	failed := &failure{Word: "broken"}
	errors.As(err, &failed)
	if text, err := json.Marshal(failed); err == nil {
		_, _ = os.Stderr.Write(append(text, '\n'))
	}
	os.Exit(1)
}

// answerRequests reads the question, and then answers lists until standard input ends. Whoever asked keeps it open as long as
// answers are wanted; once it ends, or the context does, what the cluster still does for the session is
// interrupted.
func answerRequests(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, out := bufio.NewReader(stdin), bufio.NewWriter(stdout)
	line, err := in.ReadBytes('\n')
	var q question
	if err != nil || json.Unmarshal(line, &q) != nil || q.Format != format {
		return &failure{Word: "question"}
	}
	s, err := openSession(ctx, &q)
	if err != nil {
		return err
	}
	defer s.close()
	if err := writeList(out, nil); err != nil { // it is ready
		return err
	}
	lists := make(chan [][]byte)
	var ended error
	go func() {
		defer cancel()
		defer close(lists)
		for {
			var list [][]byte
			if list, ended = readList(in); ended != nil {
				return
			}
			select {
			case lists <- list:
			case <-ctx.Done():
				return
			}
		}
	}()
	for list := range lists {
		answers, err := s.answerRequest(ctx, list)
		if err != nil {
			return err
		}
		if err := writeList(out, answers); err != nil {
			return err
		}
	}
	if ended == io.EOF {
		return nil
	}
	return &failure{Word: "broken"}
}
