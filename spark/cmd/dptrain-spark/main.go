// Command dptrain-spark runs tasks on a Spark cluster on behalf of dptrain, which contains no cluster client.
//
// dptrain starts it for a run with --engine spark. The first line on standard input is a question in JSON: the
// address of Spark Connect, and the program to run on the executors. The program is uploaded as an artifact of the
// session. Lists of byte strings follow, and each is answered by another list. The first string of a list is a
// request in JSON, which names an operation:
//
//	tasks    passes every string after the second to the program on some executor, preceded by the second string
//	         if it is the first one on that executor, and returns the output of the program in arbitrary order
//	columns  returns the names of the columns of a query, without reading a row
//	keep     passes the rows of a query to the program, each part of them after the further string, keeps the output
//	         on the cluster and returns how it starts
//	kept     passes the kept rows that start with the string to the program, on a limited number of executors
//
// This command does not interpret the strings; dptrain detects strings that were lost, duplicated or truncated.
//
// Exit code 0 means that all lists were answered. Otherwise the last line on standard error is a JSON object with
// an error word, which dptrain converts to a message. Texts of the cluster are never passed on, because they may
// quote data that a worker has seen.
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

// format is the version of the request format.
const format = "dptrain.spark/3"

// A question is the first request of dptrain. internal/engine/cluster of the main module defines the same type.
type question struct {
	Format  string `json:"format"`
	Address string `json:"address"` // host:port
	TLS     bool   `json:"tls"`
	Token   string `json:"token,omitempty"`
	Session string `json:"session"`           // a UUID
	Program string `json:"program,omitempty"` // path of the worker program
}

// A request starts a list. internal/engine/cluster of the main module defines the same type.
type request struct {
	Ask     string   `json:"ask"`
	Query   string   `json:"query,omitempty"`
	Columns []string `json:"columns,omitempty"` // columns of the query when it was described
	Begin   int      `json:"begin,omitempty"`   // number of characters to return of each kept row
	Workers int      `json:"workers,omitempty"` // for the kept rows
}

// A failure is the reason for a missing answer, as an error word of this program.
type failure struct {
	Word   string `json:"word"`
	Column string `json:"column,omitempty"`
	Type   string `json:"type,omitempty"`
}

func (f *failure) Error() string {
	return f.Word
}

func main() {
	ctx, stop := signal.NotifyContext(
		context.Background(),
		os.Interrupt,
		syscall.SIGTERM,
	)
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

// answerRequests reads the question, and then answers lists until standard input ends. The caller keeps it open
// as long as it wants answers; once it ends, or the context does, operations of the session on the cluster are
// interrupted.
func answerRequests(
	ctx context.Context,
	stdin io.Reader,
	stdout io.Writer,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in := bufio.NewReader(stdin)
	out := bufio.NewWriter(stdout)
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
