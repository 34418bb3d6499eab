package main

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// The used messages of Spark Connect, of the protocol spark.connect of Spark 4.0. There are few, so they are
// written and read field by field; the numbers are those of base.proto and relations.proto.

// message is a message being written.
type message []byte

// addText adds a string, unless it is empty.
func (m message) addText(field protowire.Number, s string) message {
	if s == "" {
		return m
	}
	return protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), s)
}

// addBytes adds bytes, or a message.
func (m message) addBytes(field protowire.Number, b []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), b)
}

// addNumber adds a number.
func (m message) addNumber(field protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(v))
}

// userContext is spark.connect.UserContext.
func userContext() []byte {
	return message(nil).addText(1, "dptrain")
}

const client = "dptrain-spark"

// executePlan is ExecutePlanRequest.
func executePlan(session, operation string, plan []byte) []byte {
	return message(nil).addText(1, session).addBytes(2, userContext()).addBytes(3, plan).addText(4,
		client).addText(6, operation)
}

// queryPlan is a plan with a query over a local table.
func queryPlan(query string, table []byte) []byte {
	return message(nil).addBytes(1, queryOverTable(query, table)) // Plan.root
}

// statementPlan is a plan with a statement.
func statementPlan(statement string) []byte {
	sql := message(nil).addText(1, statement)
	return message(nil).addBytes(1, newRelation(0, kindSQL, sql))
}

// viewPlan is a plan with a command that names a query over a local table in the session.
func viewPlan(name, query string, table []byte) []byte {
	view := message(nil).addBytes(1, queryOverTable(query, table)) // CreateDataFrameViewCommand
	view = view.addText(2, name)
	view = view.addNumber(4, 1)
	command := message(nil).addBytes(3, view)
	return message(nil).addBytes(2, command) // Plan.command
}

// Kinds of relations: the numbers of their fields in spark.connect.Relation.
const (
	kindSQL           protowire.Number = 10
	kindLocalRelation protowire.Number = 11
	kindSubqueryAlias protowire.Number = 16
	kindWithRelations protowire.Number = 41
)

// queryOverTable is a query over a local relation, which is sent separately from the text of the query.
func queryOverTable(query string, table []byte) []byte {
	local := newRelation(3, kindLocalRelation, message(nil).addBytes(1, table))
	alias := message(nil).addBytes(1, local)
	alias = alias.addText(2, tableName)
	named := newRelation(2, kindSubqueryAlias, alias)
	sql := newRelation(1, kindSQL, message(nil).addText(1, query))
	both := message(nil).addBytes(1, sql)
	both = both.addBytes(2, named)
	return newRelation(0, kindWithRelations, both)
}

// newRelation is a spark.connect.Relation with an id and one kind.
func newRelation(id int64, kind protowire.Number, of []byte) []byte {
	return message(nil).addBytes(1, message(nil).addNumber(2, id)).addBytes(kind, of)
}

// addArtifacts is the start of each AddArtifactsRequest.
func addArtifacts(session string) message {
	return message(nil).addText(1, session).addBytes(2, userContext()).addText(6, client)
}

// artifactChunk is AddArtifactsRequest.ArtifactChunk.
func artifactChunk(data []byte, crc uint32) []byte {
	return message(nil).addBytes(1, data).addNumber(2, int64(crc))
}

// interruptAll is InterruptRequest for all operations of a session.
func interruptAll(session string) []byte {
	return message(nil).addText(1, session).addBytes(2, userContext()).addText(3,
		client).addNumber(4, 1)
}

// releaseSession is ReleaseSessionRequest.
func releaseSession(session string) []byte {
	return message(nil).addText(1, session).addBytes(2, userContext()).addText(3, client)
}

var errMessage = errors.New("a message of the server cannot be read")

// eachField calls do for every field of a message: b is its bytes, v its number.
func eachField(
	m []byte,
	do func(field protowire.Number, b []byte, v uint64) error,
) error {
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

// response holds the used fields of ExecutePlanResponse.
type response struct {
	batch []byte // in the Arrow stream format, nil if there is no batch
	rows  uint64
}

func readResponse(m []byte) (r response, err error) {
	err = eachField(m, func(field protowire.Number, b []byte, _ uint64) error {
		if field != 2 { // ArrowBatch
			return nil
		}
		return eachField(b, func(field protowire.Number, b []byte, v uint64) error {
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

// artifactsArrived reports whether, according to AddArtifactsResponse, every artifact arrived complete.
func artifactsArrived(m []byte) (ok bool, err error) {
	all := 0
	arrived := 0
	err = eachField(m, func(field protowire.Number, b []byte, _ uint64) error {
		if field != 1 { // ArtifactSummary
			return nil
		}
		all++
		return eachField(b, func(field protowire.Number, _ []byte, v uint64) error {
			if field == 2 && v == 1 {
				arrived++
			}
			return nil
		})
	})
	return all > 0 && arrived == all, err
}
