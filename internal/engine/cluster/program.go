package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dptrain/dptrain/internal/noise/secret"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/filesys"
)

// Program is the program that communicates with clusters. It is a separate module, so that its dependencies are not
// dependencies of dptrain.
const Program = "dptrain-spark"

// ErrProgram is returned if [Program] is not installed.
var ErrProgram = errors.New("the program " + Program + " is not installed")

// question is the first message to the program. spark/cmd/dptrain-spark declares the same type.
type question struct {
	Format  string `json:"format"`
	Address string `json:"address"`
	TLS     bool   `json:"tls"`
	Token   string `json:"token,omitempty"`
	Session string `json:"session"`
	Program string `json:"program,omitempty"` // empty if only columns are requested
}

// request is the first element of every later message. It describes the request whose data are the other elements. The
// program declares the same type.
type request struct {
	Ask     string   `json:"ask"`
	Query   string   `json:"query,omitempty"`
	Columns []string `json:"columns,omitempty"`
	Begin   int      `json:"begin,omitempty"`
	Workers int      `json:"workers,omitempty"`
}

// The kinds of requests.
const (
	askTasks   = "tasks"   // run the order and the tasks that follow
	askColumns = "columns" // list the columns of a query
	askKeep    = "keep"    // store the rows of a query as blocks, by the task that follows
	askKept    = "kept"    // run the order and the tasks with blocks that follow
)

// The limits of the program's error output and of an answer, in bytes, and of the time to exit.
const (
	mostWords  = 1 << 16
	mostAnswer = 1 << 30
	patience   = 8 * time.Second
)

// Spark is a session on a Spark cluster, through [Program].
type Spark struct {
	mu     sync.Mutex
	ctx    context.Context
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	words  errorOutput
	ended  error // why the program has ended, or nil
}

// Dial starts a session. If worker is not empty, it is the path of a program that is sent to the executors, whose command
// "worker" calls [Work]. The session ends with the context, which also interrupts its jobs on the cluster.
func Dial(ctx context.Context, a Address, worker string) (*Spark, error) {
	path, ok := filesys.FindProgram(Program)
	if !ok {
		return nil, ErrProgram
	}
	key, err := secret.FreshKey()
	if err != nil {
		return nil, err
	}
	id := hex.EncodeToString(key[:16]) // as a UUID of version 4
	id = id[:8] + "-" + id[8:12] + "-4" + id[13:16] + "-a" + id[17:20] + "-" + id[20:32]
	text, err := json.Marshal(question{"dptrain.spark/3", a.host, a.tls, a.token, id, worker})
	if err != nil {
		return nil, err
	}
	s := &Spark{
		ctx: ctx,
		cmd: exec.CommandContext(ctx, path),
	}
	s.cmd.Stderr = &s.words
	s.cmd.WaitDelay = patience
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	s.cmd.Cancel = s.stdin.Close // the program then interrupts its jobs and exits
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.stdout = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, ErrProgram
	}
	_, _ = s.stdin.Write(append(text, '\n')) // if the program has ended, the answer is missing below
	if ready, err := readList(s.stdout); err != nil || len(ready) > 0 {
		return nil, s.awaitFailure()
	}
	return s, nil
}

// Run implements [Runner].
func (s *Spark) Run(
	_ context.Context,
	order []byte,
	tasks [][]byte,
) ([][]byte, error) {
	return s.sendRequest(request{Ask: askTasks}, slices.Concat([][]byte{order}, tasks))
}

// RunKept implements [Keeper].
func (s *Spark) RunKept(
	_ context.Context,
	order []byte,
	tasks [][]byte,
	workers int,
) ([][]byte, error) {
	return s.sendRequest(request{
		Ask:     askKept,
		Workers: workers,
	}, slices.Concat([][]byte{order}, tasks))
}

// Keep implements [Keeper].
func (s *Spark) Keep(
	_ context.Context,
	q Query,
	task []byte,
	begin int,
) ([][]byte, error) {
	return s.sendRequest(request{
		Ask:     askKeep,
		Query:   q.Text,
		Columns: q.Columns,
		Begin:   begin,
	}, [][]byte{task})
}

// Columns returns the names of the columns of a query. It reads no rows.
func (s *Spark) Columns(query string) ([]string, error) {
	list, err := s.sendRequest(request{
		Ask:   askColumns,
		Query: query,
	}, nil)
	var names []string
	for _, name := range list {
		names = append(names, string(name))
	}
	return names, err
}

// sendRequest sends a request with its data and returns the answer.
func (s *Spark) sendRequest(r request, with [][]byte) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return nil, s.ended
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	_ = writeList(s.stdin, append([][]byte{text}, with...)) // if the program has ended, the answer is missing below
	answers, err := readList(s.stdout)
	if err != nil {
		return nil, s.awaitFailure()
	}
	return answers, nil
}

// Close ends the session.
func (s *Spark) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = io.ErrClosedPipe
		_ = s.stdin.Close()
		_ = s.cmd.Wait()
	}
	return nil
}

// awaitFailure waits until the program exits and returns its error.
func (s *Spark) awaitFailure() error {
	_ = s.stdin.Close()
	_, _ = io.Copy(io.Discard, s.stdout)
	_ = s.cmd.Wait()
	s.ended = s.words.parseFailure()
	if s.ctx.Err() != nil {
		s.ended = s.ctx.Err()
	}
	return s.ended
}

// errorOutput keeps the start of the program's standard error.
type errorOutput struct{ bytes.Buffer }

// Write implements io.Writer.
func (w *errorOutput) Write(p []byte) (int, error) {
	_, _ = w.Buffer.Write(p[:min(len(p), mostWords-w.Len())])
	return len(p), nil
}

// failures contains the message and the hint for each error code of the program.
var failures = map[string][2]string{
	"question": {"the program " + Program + " has a different version",
		"install the one from the same release"},
	"connect": {"no Spark Connect server responds at this address",
		"start one, see docs/guide/clusters.md"},
	"token": {"the cluster does not accept the token", "ask its operators"},
	"program": {"the cluster rejected the program of the workers",
		"check the logs of the Connect server"},
	"protocol": {"the Connect server uses a different protocol", "it needs Spark 4"},
	"job": {"the cluster ended a pass with an error",
		"check the logs of its executors; nothing was released"},
	"query": {"the cluster rejected the query of data.spark",
		"it must be a single SELECT; try it with spark-sql"},
	"name": {"the query of data.spark has a column whose name contains a control character",
		"rename it with AS"},
	"changed": {"the columns of the query of data.spark have changed",
		"try again when the tables do not change"},
	"broken": {"the connection to the cluster broke", "nothing was released; run again"},
}

// parseFailure returns the error of a program that has failed.
func (w *errorOutput) parseFailure() error {
	text := strings.TrimSpace(w.String())
	var f struct {
		Word   string `json:"word"`
		Column string `json:"column"`
		Type   string `json:"type"`
	}
	_ = json.Unmarshal([]byte(text[strings.LastIndexByte(text, '\n')+1:]), &f)
	if f.Word == "type" {
		return &fault.Error{
			Kind: fault.Data,
			Message: fmt.Sprintf(
				"column %q of the query has type %q, which is not a number, text, boolean, date or time",
				f.Column,
				f.Type,
			),
			Hint: "leave it out or cast it in the query, such as CAST(... AS STRING)",
		}
	}
	s, known := failures[f.Word]
	if !known { // it crashed or was killed
		s = failures["broken"]
	}
	return &fault.Error{
		Kind:    fault.Data,
		Message: s[0],
		Hint:    s[1],
	}
}

// readList reads a list of byte strings: their number, and then the length and the bytes of each.
func readList(r io.Reader) ([][]byte, error) {
	n, err := readNumber(r)
	if err != nil {
		return nil, err
	}
	var list [][]byte
	for range n {
		size, err := readNumber(r)
		if err != nil {
			return nil, err
		}
		if size > mostAnswer {
			return nil, io.ErrUnexpectedEOF
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

func readNumber(r io.Reader) (uint32, error) {
	var b [4]byte
	_, err := io.ReadFull(r, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

// writeList writes a list in the format of readList.
func writeList(w io.Writer, list [][]byte) error {
	out := bufio.NewWriterSize(w, 1<<16)
	put := func(n int) {
		_, _ = out.Write(binary.LittleEndian.AppendUint32(nil, uint32(n)))
	}
	put(len(list))
	for _, text := range list {
		put(len(text))
		_, _ = out.Write(text)
	}
	return out.Flush()
}
