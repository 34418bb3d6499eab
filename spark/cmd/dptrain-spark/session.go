package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	tableName  = "dptrain_tasks"
	columnName = "task"
	orderName  = "shared"
	placeName  = "place"
	service    = "/spark.connect.SparkConnectService/"
	chunkBytes = 1 << 20
	mostAnswer = 1 << 30 // bytes of a message
	patience   = 3 * time.Second
)

// session is a session of a Spark Connect server.
type session struct {
	conn    *grpc.ClientConn
	id      string
	token   string
	program string // its name among the files of the session
	open    bool   // an operation may be running
	kept    bool   // there may be kept rows
}

// openSession connects and sends the program.
func openSession(ctx context.Context, q *question) (*session, error) {
	how := insecure.NewCredentials()
	if q.TLS {
		how = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	conn, err := grpc.NewClient(
		q.Address,
		grpc.WithTransportCredentials(how),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(mostAnswer),
			grpc.MaxCallSendMsgSize(mostAnswer)),
	)
	if err != nil {
		return nil, &failure{Word: "connect"}
	}
	s := &session{
		conn:    conn,
		id:      q.Session,
		token:   q.Token,
		program: "dptrain-" + strings.ReplaceAll(q.Session, "-", ""),
	}
	if q.Program == "" {
		return s, nil
	}
	if err := s.sendProgram(s.withToken(ctx), q.Program); err != nil {
		s.close()
		return nil, errorWord(ctx, err, "connect")
	}
	return s, nil
}

// withToken adds the token of the client to the context.
func (s *session) withToken(ctx context.Context) context.Context {
	if s.token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+s.token)
}

// errorWord returns the failure for an error of a call; it has the word absent if the server could not be
// reached.
func errorWord(ctx context.Context, err error, absent string) error {
	switch status.Code(err) {
	case codes.OK:
		return &failure{Word: "broken"}
	case codes.Unauthenticated, codes.PermissionDenied:
		return &failure{Word: "token"}
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
		return &failure{Word: absent}
	}
	if ctx.Err() != nil {
		return &failure{Word: "broken"}
	}
	return &failure{Word: "job"}
}

// sendProgram makes the program a file of the session, which Spark distributes to every executor. Its name is
// unique to the session.
func (s *session) sendProgram(ctx context.Context, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return &failure{Word: "program"}
	}
	stream, err := s.conn.NewStream(
		ctx,
		&grpc.StreamDesc{ClientStreams: true},
		service+"AddArtifacts",
	)
	if err != nil {
		return err
	}
	chunks := (len(data) + chunkBytes - 1) / chunkBytes
	for i := range chunks {
		part := data[i*chunkBytes : min((i+1)*chunkBytes, len(data))]
		chunk := artifactChunk(part, crc32.ChecksumIEEE(part))
		request := addArtifacts(s.id)
		if i == 0 {
			request = request.addBytes(4,
				message(nil).addText(1, "files/"+s.program).addNumber(2,
					int64(len(data))).addNumber(3, int64(chunks)).addBytes(4, chunk))
		} else {
			request = request.addBytes(5, chunk)
		}
		m := []byte(request)
		if err := stream.SendMsg(&m); err != nil {
			break // RecvMsg returns the reason
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	var answer []byte
	if err := stream.RecvMsg(&answer); err != nil {
		return err
	}
	if ok, err := artifactsArrived(answer); err != nil || !ok {
		return &failure{Word: "program"}
	}
	return nil
}

// answerRequest executes the request in the first string of a list.
func (s *session) answerRequest(
	ctx context.Context,
	list [][]byte,
) ([][]byte, error) {
	var r request
	if len(list) == 0 || json.Unmarshal(list[0], &r) != nil {
		return nil, &failure{Word: "question"}
	}
	switch r.Ask {
	case "tasks":
		return s.runTasks(ctx, list[1:])
	case "columns":
		columns, err := s.describeColumns(ctx, r.Query)
		var names [][]byte
		for _, c := range columns {
			names = append(names, []byte(c.name))
		}
		return names, err
	case "keep":
		return s.keepRows(ctx, &r, list[1:])
	case "kept":
		return s.runKept(ctx, &r, list[1:])
	}
	return nil, &failure{Word: "question"}
}

// runTasks answers a pass: the order comes first, then the tasks. The number of answers is not checked here;
// the caller does that.
func (s *session) runTasks(
	ctx context.Context,
	list [][]byte,
) ([][]byte, error) {
	if len(list) < 2 {
		return nil, nil
	}
	table, err := localTable(orderColumn(list[0], len(list)-1), column{columnName, list[1:]})
	if err != nil {
		return nil, err
	}
	return s.queryStrings(ctx,
		queryPlan(
			s.pipedQuery(
				fmt.Sprintf("(SELECT /*+ COALESCE(%d) */ %s AS %s FROM %s)", len(list)-1,
					columnName, lineName, tableName)), table))
}

// queryStrings executes a plan and returns the cells of the one column of its answer.
func (s *session) queryStrings(
	ctx context.Context,
	plan []byte,
) ([][]byte, error) {
	var answers [][]byte
	err := s.executePlan(ctx, plan, func(r response) error {
		columns, err := appendBatch([][][]byte{answers}, r)
		if err == nil {
			answers = columns[0]
		}
		return err
	})
	return answers, err
}

// executePlan executes a plan and calls do with each response of the server.
func (s *session) executePlan(
	ctx context.Context,
	plan []byte,
	do func(response) error,
) error {
	within, drop := context.WithCancel(context.WithoutCancel(ctx))
	defer drop()
	stop := context.AfterFunc(ctx, func() { // the stream is read to its end: see [session.close]
		s.interrupt()
		time.AfterFunc(patience, drop)
	})
	defer stop()
	stream, err := s.conn.NewStream(
		s.withToken(within),
		&grpc.StreamDesc{ServerStreams: true},
		service+"ExecutePlan",
	)
	if err != nil {
		return errorWord(ctx, err, "broken")
	}
	s.open = true
	request := executePlan(s.id, "", plan)
	if err := stream.SendMsg(&request); err != nil && err != io.EOF {
		return errorWord(ctx, err, "broken")
	}
	if err := stream.CloseSend(); err != nil {
		return errorWord(ctx, err, "broken")
	}
	for {
		var m []byte
		err := stream.RecvMsg(&m)
		if err != nil && within.Err() == nil {
			s.open = false
		}
		if err == io.EOF { // the server has reported success
			return nil
		}
		if err != nil {
			return errorWord(ctx, err, "broken")
		}
		r, err := readResponse(m)
		if err != nil {
			return &failure{Word: "protocol"}
		}
		if err := do(r); err != nil {
			return err
		}
	}
}

// column is a column of text.
type column struct {
	name  string
	cells [][]byte
}

// localTable returns columns as a table in the Arrow stream format.
func localTable(columns ...column) ([]byte, error) {
	var fields []arrow.Field
	for _, c := range columns {
		fields = append(fields, arrow.Field{
			Name: c.name,
			Type: arrow.BinaryTypes.String,
		})
	}
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for j, c := range columns {
		for _, cell := range c.cells {
			b.Field(j).(*array.StringBuilder).Append(string(cell))
		}
	}
	record := b.NewRecordBatch()
	defer record.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	if err := w.Write(record); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

// appendBatch adds the cells of a batch of answers to columns. The batch must have as many rows as the server
// declares, and the columns must be text. Further columns are ignored.
func appendBatch(to [][][]byte, r response) ([][][]byte, error) {
	if r.batch == nil {
		return to, nil
	}
	in, err := ipc.NewReader(bytes.NewReader(r.batch))
	if err != nil {
		return nil, &failure{Word: "protocol"}
	}
	defer in.Release()
	rows := uint64(0)
	for in.Next() {
		b := in.RecordBatch()
		for j := range to {
			if int(b.NumCols()) <= j {
				return nil, &failure{Word: "protocol"}
			}
			column, ok := b.Column(j).(*array.String)
			if !ok {
				return nil, &failure{Word: "protocol"}
			}
			for i := range column.Len() {
				to[j] = append(to[j], []byte(column.Value(i)))
			}
		}
		rows += uint64(b.NumRows())
	}
	if in.Err() != nil || rows != r.rows {
		return nil, &failure{Word: "protocol"}
	}
	return to, nil
}

// interrupt interrupts all operations of the session on the cluster.
func (s *session) interrupt() {
	ctx, cancel := context.WithTimeout(s.withToken(context.Background()), patience)
	defer cancel()
	var answer []byte
	request := interruptAll(s.id)
	_ = s.conn.Invoke(ctx, service+"Interrupt", &request, &answer)
}

// settling is the time that a server has to remove an operation whose stream has ended.
const settling = 500 * time.Millisecond

// close interrupts all operations of the session on the cluster and closes the session. A server that closes a
// session while an operation runs writes the whole request to its log, including keys of coins. So if the end
// of an operation was not seen, the session is left open and expires after the server's idle timeout.
func (s *session) close() {
	if s.kept {
		s.forgetRows()
	}
	if s.open {
		s.interrupt()
	} else {
		time.Sleep(settling)
		ctx, cancel := context.WithTimeout(s.withToken(context.Background()), patience)
		defer cancel()
		var answer []byte
		release := releaseSession(s.id)
		_ = s.conn.Invoke(ctx, service+"ReleaseSession", &release, &answer)
	}
	_ = s.conn.Close()
}

// raw passes messages on unchanged.
type raw struct{}

// Marshal implements encoding.Codec.
func (raw) Marshal(v any) ([]byte, error) {
	return *v.(*[]byte), nil
}

// Unmarshal implements encoding.Codec.
func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = bytes.Clone(data)
	return nil
}

// Name implements encoding.Codec.
func (raw) Name() string {
	return "proto"
}
