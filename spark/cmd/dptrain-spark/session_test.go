package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

// server is a Connect server that answers every task with its text in capitals.
type server struct {
	mu      sync.Mutex
	files   map[string][]byte
	queries []string
	calls   []string
	spoil   func(batch []byte) error // nil, or the error with which a query ends
	says    map[string][]column      // answers to statements with this prefix
	refuses string                   // prefix of a statement that it rejects
	view    string                   // name of the last view
	block   chan struct{}            // not nil: a query waits until it is interrupted
	begun   chan struct{}
}

func startServer(t *testing.T, s *server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(
		grpc.ForceServerCodec(raw{}),
		grpc.UnknownServiceHandler(s.handleCall),
	)
	ended := make(chan error, 1)
	go func() {
		ended <- g.Serve(l)
	}()
	t.Cleanup(func() {
		g.Stop()
		<-ended
	})
	return l.Addr().String()
}

func (s *server) handleCall(_ any, stream grpc.ServerStream) error {
	name, _ := grpc.MethodFromServerStream(stream)
	name = strings.TrimPrefix(name, service)
	s.mu.Lock()
	s.calls = append(s.calls, name)
	s.mu.Unlock()
	switch name {
	case "AddArtifacts":
		return s.takeArtifact(stream)
	case "ExecutePlan":
		return s.executePlan(stream)
	case "Interrupt":
		if s.block != nil {
			close(s.block)
		}
	}
	var m []byte
	if err := stream.RecvMsg(&m); err != nil {
		return err
	}
	m = nil
	return stream.SendMsg(&m)
}

// takeArtifact keeps an artifact after checking the checksums of its chunks.
func (s *server) takeArtifact(stream grpc.ServerStream) error {
	name := ""
	data := []byte(nil)
	good := true
	var chunk func(field protowire.Number, b []byte, v uint64) error
	var part []byte
	chunk = func(field protowire.Number, b []byte, v uint64) error {
		if field == 1 {
			part = b
		} else if field == 2 {
			good = good && uint64(crc32.ChecksumIEEE(part)) == v
			data = append(data, part...)
		}
		return nil
	}
	for {
		var m []byte
		err := stream.RecvMsg(&m)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		err = eachField(m, func(field protowire.Number, b []byte, _ uint64) error {
			switch field {
			case 4:
				return eachField(b, func(field protowire.Number, b []byte, _ uint64) error {
					switch field {
					case 1:
						name = string(b)
					case 4:
						return eachField(b, chunk)
					}
					return nil
				})
			case 5:
				return eachField(b, chunk)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.files[name] = data
	s.mu.Unlock()
	ok := int64(0)
	if good {
		ok = 1
	}
	m := []byte(message(nil).addBytes(
		1,
		message(nil).addText(1, name).addNumber(2, ok),
	))
	return stream.SendMsg(&m)
}

// nestedField returns the bytes of a nested field, given by its path.
func nestedField(m []byte, path ...protowire.Number) []byte {
	for _, at := range path {
		var found []byte
		_ = eachField(m, func(field protowire.Number, b []byte, _ uint64) error {
			if field == at {
				found = b
			}
			return nil
		})
		m = found
	}
	return m
}

func (s *server) executePlan(stream grpc.ServerStream) error {
	var m []byte
	if err := stream.RecvMsg(&m); err != nil {
		return err
	}
	if statement := nestedField(m, 3, 1, 10, 1); statement != nil {
		return s.answerStatement(stream, string(statement))
	}
	with := nestedField(m, 3, 1, 41)
	if view := nestedField(m, 3, 2, 3); view != nil {
		with = nestedField(view, 1, 41)
		s.view = string(nestedField(view, 2))
	}
	s.mu.Lock()
	s.queries = append(s.queries, string(nestedField(with, 1, 10, 1)))
	s.mu.Unlock()
	if s.begun != nil {
		close(s.begun)
	}
	if s.block != nil {
		<-s.block
		return status.Error(codes.Internal, "interrupted")
	}
	in, err := ipc.NewReader(bytes.NewReader(nestedField(with, 2, 16, 1, 11, 1)))
	if err != nil {
		return err
	}
	defer in.Release()
	for in.Next() {
		var answers [][]byte
		cells := in.RecordBatch().Column(int(in.RecordBatch().NumCols()) - 1).(*array.String)
		for i := range cells.Len() {
			answers = append(answers, []byte(strings.ToUpper(cells.Value(i))))
		}
		batch, err := localTable(column{columnName, answers})
		if err != nil {
			return err
		}
		if s.spoil != nil {
			if err := s.spoil(batch); err != nil {
				return err
			}
		}
		m := []byte(
			message(nil).addBytes(
				2,
				message(nil).addNumber(1, int64(len(answers))).addBytes(2, batch),
			))
		if err := stream.SendMsg(&m); err != nil {
			return err
		}
	}
	return nil
}

// answerStatement answers a statement.
func (s *server) answerStatement(stream grpc.ServerStream, text string) error {
	s.mu.Lock()
	s.queries = append(s.queries, text)
	s.mu.Unlock()
	if s.refuses != "" && strings.HasPrefix(text, s.refuses) {
		return status.Error(codes.Internal, "4711")
	}
	for begin, columns := range s.says {
		if !strings.HasPrefix(text, begin) {
			continue
		}
		batch, err := localTable(columns...)
		if err != nil {
			return err
		}
		m := []byte(
			message(nil).addBytes(
				2,
				message(nil).addNumber(
					1,
					int64(len(columns[0].cells)),
				).addBytes(2, batch),
			))
		return stream.SendMsg(&m)
	}
	return nil
}

// questionLine returns the start of standard input, and the content of the program that it names.
func questionLine(t *testing.T, address string) (string, []byte) {
	t.Helper()
	program := bytes.Repeat([]byte("dptrain"), 400_000) // three chunks
	path := filepath.Join(t.TempDir(), "worker")
	if err := os.WriteFile(path, program, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(
		question{
			Format:  format,
			Address: address,
			Session: "0-1",
			Program: path,
		})
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n", program
}

func encodeList(t *testing.T, texts ...string) string {
	t.Helper()
	var out bytes.Buffer
	var all [][]byte
	for _, s := range texts {
		all = append(all, []byte(s))
	}
	if err := writeList(bufio.NewWriter(&out), all); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// tasksRequest returns a list that requests the execution of tasks.
func tasksRequest(t *testing.T, texts ...string) string {
	t.Helper()
	return encodeList(t, append([]string{`{"ask":"tasks"}`, "order4711"}, texts...)...)
}

// converse sends input, and keeps it open until want bytes were answered or the program has ended. It returns
// the answer.
func converse(t *testing.T, input string, want int) (string, error) {
	t.Helper()
	in, write := io.Pipe()
	read, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := answerRequests(t.Context(), in, out)
		_ = out.Close()
		ended <- err
	}()
	go func() {
		_, _ = io.WriteString(write, input)
	}()
	got := make([]byte, want)
	n, _ := io.ReadFull(read, got)
	_ = write.Close()
	rest, err := io.ReadAll(read)
	if err != nil {
		t.Error(err)
	}
	return string(got[:n]) + string(rest), <-ended
}

// TestSessionAnswersPassByPass checks that the program arrives whole, that tasks are answered pass by pass and are not
// part of a query, and that the session is ended.
func TestSessionAnswersPassByPass(t *testing.T) {
	s := &server{files: map[string][]byte{}}
	head, program := questionLine(t, startServer(t, s))
	want := encodeList(t) + encodeList(t, "KEY4711", "B") + encodeList(t) + encodeList(t, "C")
	got, err := converse(
		t,
		head+tasksRequest(t, "key4711", "b")+tasksRequest(t)+tasksRequest(t, "c"),
		len(want),
	)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("answered %q, want %q", got, want)
	}
	if !bytes.Equal(s.files["files/dptrain-01"], program) {
		t.Errorf(
			"the server has %d files, and not the program",
			len(s.files),
		)
	}
	for _, q := range s.queries {
		if strings.Contains(q, "4711") ||
			!strings.Contains(q, "./*/dptrain-01; do") ||
			!strings.Contains(q, "COALESCE(") { // see [session.piped]
			t.Errorf("a query is %s", q)
		}
	}
	if slices.Contains(s.calls, "Interrupt") ||
		!slices.Contains(s.calls, "ReleaseSession") {
		t.Errorf("the server was asked for %s", s.calls)
	}
}

// TestServerErrorTextIsNotRepeated checks that the text of a server error is not repeated.
func TestServerErrorTextIsNotRepeated(t *testing.T) {
	for word, err := range map[string]error{
		"job":    status.Error(codes.Internal, "stderr: 4711"),
		"token":  status.Error(codes.Unauthenticated, "4711"),
		"broken": status.Error(codes.Unavailable, "4711"),
	} {
		s := &server{files: map[string][]byte{}, spoil: func([]byte) error {
			return err
		}}
		head, _ := questionLine(t, startServer(t, s))
		said, got := converse(t, head+tasksRequest(t, "a"), 100)
		if got == nil || got.Error() != word || said != encodeList(t) {
			t.Errorf(
				"%s: %v, %q",
				word, got, said,
			)
		}
	}
}

// TestBadBatch checks that an invalid batch, or one with another number of rows than the server declares, ends
// the pass.
func TestBadBatch(t *testing.T) {
	s := &server{files: map[string][]byte{}, spoil: func(batch []byte) error {
		clear(batch[8:])
		return nil
	}}
	head, _ := questionLine(t, startServer(t, s))
	if _, err := converse(t, head+tasksRequest(t, "a"), 100); err == nil ||
		err.Error() != "protocol" {
		t.Error(err)
	}
	batch, err := localTable(column{
		columnName,
		[][]byte{[]byte("a")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := appendBatch(make([][][]byte, 1), response{batch, 2}); err == nil {
		t.Error("a batch of 1 row passes for 2")
	}
}

// TestClosedInputInterruptsCluster checks that operations on the cluster are interrupted when standard input ends in
// the middle of a pass.
func TestClosedInputInterruptsCluster(t *testing.T) {
	s := &server{
		files: map[string][]byte{},
		block: make(chan struct{}),
		begun: make(chan struct{}),
	}
	head, _ := questionLine(t, startServer(t, s))
	in, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- answerRequests(t.Context(), in, io.Discard)
	}()
	if _, err := io.WriteString(write, head+tasksRequest(t, "a")); err != nil {
		t.Fatal(err)
	}
	<-s.begun
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	var failed *failure
	if err := <-ended; !errors.As(err, &failed) {
		t.Errorf("it ended with %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.calls)
	if n < 2 ||
		s.calls[n-2] != "Interrupt" ||
		s.calls[n-1] != "ReleaseSession" {
		t.Errorf("the server was asked for %s", s.calls)
	}
}

// TestMissingServerFails checks the failures without a server, and for a question of another version.
func TestMissingServerFails(t *testing.T) {
	head, _ := questionLine(t, "127.0.0.1:1")
	err := answerRequests(t.Context(), strings.NewReader(head), io.Discard)
	if err == nil || err.Error() != "connect" {
		t.Error(err)
	}
	err = answerRequests(
		context.Background(),
		strings.NewReader(strings.Replace(head, format, "dptrain.spark/1", 1)),
		io.Discard,
	)
	if err == nil || err.Error() != "question" {
		t.Error(err)
	}
}

// TestListCut checks that a truncated list is an error, at any position.
func TestListCut(t *testing.T) {
	whole := encodeList(t, "one", "two")
	for n := range len(whole) {
		got, err := readList(strings.NewReader(whole[:n]))
		if err == nil ||
			got != nil ||
			(n == 0) != (err == io.EOF) {
			t.Errorf(
				"after %d bytes: %q, %v",
				n, got, err,
			)
		}
	}
}
