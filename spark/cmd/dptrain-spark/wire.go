package main

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of Spark Connect that are used here, of the protocol spark.connect of Spark 4.0. There are few, so they
// are written and read field by field; the numbers are those of base.proto and relations.proto.

// message is a message being written.
type message []byte

// text adds a string, unless it is empty.
func (m message) text(field protowire.Number, s string) message {
	if s == "" {
		return m
	}
	return protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), s)
}

// bytes adds bytes, or a message.
func (m message) bytes(field protowire.Number, b []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), b)
}

// number adds a number.
func (m message) number(field protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(v))
}

// user is spark.connect.UserContext.
func user() []byte { return message(nil).text(1, "dptrain") }

const client = "dptrain-spark"

// executePlan is ExecutePlanRequest.
func executePlan(session, operation string, plan []byte) []byte {
	return message(nil).text(1, session).bytes(2, user()).bytes(3, plan).text(4, client).text(6, operation)
}

// queried is a plan with a query over a local table.
func queried(query string, table []byte) []byte {
	return message(nil).bytes(1, over(query, table)) // Plan.root
}

// said is a plan with a statement.
func said(statement string) []byte {
	return message(nil).bytes(1, relation(0, 10, message(nil).text(1, statement))) // SQL
}

// viewed is a plan with a command, which gives a query over a local table a name in the session.
func viewed(name, query string, table []byte) []byte {
	view := message(nil).bytes(1, over(query, table)).text(2, name).number(4, 1) // CreateDataFrameViewCommand
	return message(nil).bytes(2, message(nil).bytes(3, view))                    // Plan.command
}

// over is a query over a local relation, which goes beside the text of the query and not in it.
func over(query string, table []byte) []byte {
	local := relation(3, 11, message(nil).bytes(1, table))                    // LocalRelation
	named := relation(2, 16, message(nil).bytes(1, local).text(2, tableName)) // SubqueryAlias
	sql := relation(1, 10, message(nil).text(1, query))                       // SQL
	return relation(0, 41, message(nil).bytes(1, sql).bytes(2, named))        // WithRelations
}

// relation is spark.connect.Relation with a number of its own and one kind.
func relation(id int64, kind protowire.Number, of []byte) []byte {
	return message(nil).bytes(1, message(nil).number(2, id)).bytes(kind, of)
}

// addArtifacts is the beginning of each AddArtifactsRequest.
func addArtifacts(session string) message {
	return message(nil).text(1, session).bytes(2, user()).text(6, client)
}

// artifactChunk is AddArtifactsRequest.ArtifactChunk.
func artifactChunk(data []byte, crc uint32) []byte {
	return message(nil).bytes(1, data).number(2, int64(crc))
}

// interruptAll is InterruptRequest for all operations of a session.
func interruptAll(session string) []byte {
	return message(nil).text(1, session).bytes(2, user()).text(3, client).number(4, 1)
}

// releaseSession is ReleaseSessionRequest.
func releaseSession(session string) []byte {
	return message(nil).text(1, session).bytes(2, user()).text(3, client)
}

var errMessage = errors.New("a message of the server cannot be read")

// fields calls do for every field of a message: b is its bytes, v its number.
func fields(m []byte, do func(field protowire.Number, b []byte, v uint64) error) error {
	for len(m) > 0 {
		field, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			return errMessage
		}
		m = m[n:]
		var b []byte
		var v uint64
		switch kind {
		case protowire.BytesType:
			b, n = protowire.ConsumeBytes(m)
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(m)
		default:
			n = protowire.ConsumeFieldValue(field, kind, m)
		}
		if n < 0 {
			return errMessage
		}
		m = m[n:]
		if err := do(field, b, v); err != nil {
			return err
		}
	}
	return nil
}

// response is what is used of ExecutePlanResponse.
type response struct {
	batch []byte // in the format of Arrow streams, nil if there is none
	rows  uint64
}

func readResponse(m []byte) (r response, err error) {
	err = fields(m, func(field protowire.Number, b []byte, _ uint64) error {
		if field != 2 { // ArrowBatch
			return nil
		}
		return fields(b, func(field protowire.Number, b []byte, v uint64) error {
			switch field {
			case 1:
				r.rows = v
			case 2:
				r.batch = b
			}
			return nil
		})
	})
	return r, err
}

// artifactsArrived reports whether AddArtifactsResponse says that every artifact came whole.
func artifactsArrived(m []byte) (ok bool, err error) {
	all, arrived := 0, 0
	err = fields(m, func(field protowire.Number, b []byte, _ uint64) error {
		if field != 1 { // ArtifactSummary
			return nil
		}
		all++
		return fields(b, func(field protowire.Number, _ []byte, v uint64) error {
			if field == 2 && v == 1 {
				arrived++
			}
			return nil
		})
	})
	return all > 0 && arrived == all, err
}
