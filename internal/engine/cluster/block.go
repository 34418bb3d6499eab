package cluster

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/noise/secret"
)

// The cluster keeps records as blocks between passes. A block is a line of text: its head, the columns of the schema, the
// units of its records if the schema has a unit, and the counts of the readers, separated by blanks. All fields except
// the head are encrypted under a key of the run, which executors get with every task and do not keep.
//
// A block depends on its records and their order only. If the cluster loses a block and computes it again, it has the same
// head, unless the records have changed; then the pass fails.

// A block has about blockCells cells, and between blockLeast and blockMost records.
const (
	blockCells = 1 << 19
	blockMost  = 1 << 16
	blockLeast = 1 << 10
)

// blockRows returns the number of records of every block of a part except the last.
func blockRows(s dataset.Schema) int {
	return min(max(blockCells/max(len(s.Columns), 1), blockLeast), blockMost)
}

// blockHead is the start of a block. Its MAC covers the records, their order and the rest of the head.
type blockHead struct {
	part  uint32 // of the table
	index uint32 // in the part
	rows  uint32
	last  bool // of the part
	mac   [sha256.Size]byte
}

// headText is the length of a head as text. nameText is the length of its start, which identifies the block.
const (
	nameText = 16
	headText = nameText + 8 + 1 + 2*sha256.Size
)

// encodeNumbers returns the bytes of a head without its MAC.
func (h *blockHead) encodeNumbers() []byte {
	out := binary.BigEndian.AppendUint32(nil, h.part)
	out = binary.BigEndian.AppendUint32(out, h.index)
	out = binary.BigEndian.AppendUint32(out, h.rows)
	if h.last {
		return append(out, 1)
	}
	return append(out, 0)
}

func (h *blockHead) String() string {
	last := 0
	if h.last {
		last = 1
	}
	return fmt.Sprintf("%08x%08x%08x%d%x", h.part, h.index, h.rows, last, h.mac)
}

// errHead is returned for a text that is not a head.
var errHead = errors.New("no head of a block")

// readHead parses the output of String.
func readHead(text string) (h blockHead, err error) {
	if len(text) != headText {
		return h, errHead
	}
	for i, to := range []*uint32{&h.part, &h.index, &h.rows} {
		n, err := strconv.ParseUint(text[8*i:8*i+8], 16, 32)
		if err != nil {
			return h, errHead
		}
		*to = uint32(n)
	}
	h.last = text[nameText+8] == '1'
	mac, err := hex.DecodeString(text[nameText+9:])
	if err != nil || copy(h.mac[:], mac) != len(h.mac) || h.String() != text {
		return h, errHead
	}
	return h, nil
}

// newAEAD returns the cipher for the fields of a block. Blocks with different heads have different keys, so the index of
// a field is its nonce.
func (h *blockHead) newAEAD(key [secret.KeySize]byte) cipher.AEAD {
	own := hmac.New(sha256.New, key[:])
	_, _ = own.Write(append(append(h.encodeNumbers(), "key"...), h.mac[:]...))
	block, err := aes.NewCipher(own.Sum(nil))
	if err != nil {
		panic("cluster: " + err.Error()) // the key size is a constant
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("cluster: " + err.Error()) // the block size is a constant
	}
	return aead
}

// fieldNonce returns the nonce of a field.
func fieldNonce(field int) []byte {
	return binary.LittleEndian.AppendUint32(make([]byte, 8, 12), uint32(field))
}

// packer writes the records of a part of the table as blocks. Batches arrive in order, and the blocks do not depend on the
// limits of batches.
type packer struct {
	key     [secret.KeySize]byte
	schema  dataset.Schema
	out     io.Writer
	head    blockHead
	batch   *colblock.Cells
	block   *colblock.Cells
	encoder colblock.Encoder
	stats   dataset.Stats
}

func newPacker(o *order, part uint32, out io.Writer) *packer {
	columns := blockColumns(o.Schema)
	return &packer{
		key:    o.Blocks,
		schema: o.Schema,
		out:    out,
		head:   blockHead{part: part},
		batch:  colblock.NewTableCells(columns),
		block:  colblock.NewBlock(columns, blockRows(o.Schema)),
		stats:  noStats(o.Schema),
	}
}

// blockColumns returns the columns of a block: those of the schema, and the units of the records if
// the schema has a unit.
func blockColumns(s dataset.Schema) []colblock.Column {
	var out []colblock.Column
	for j := range s.Columns {
		out = append(out, blockColumn(&s.Columns[j]))
	}
	if s.Unit != "" {
		out = append(out, colblock.Column{Kind: colblock.Identities})
	}
	return out
}

// blockColumn returns the column of a block for a column of the schema.
func blockColumn(c *dataset.Column) colblock.Column {
	return colblock.NewColumn(c.Kind == dataset.Numeric, c.Found, int(c.MissingCode()))
}

// noStats returns empty counts for the columns of a schema.
func noStats(s dataset.Schema) dataset.Stats {
	out := dataset.Stats{Columns: make([]dataset.ColumnStats, len(s.Columns))}
	for j, name := range s.Names() {
		out.Columns[j].Name = name
	}
	return out
}

// addBatch adds the records of a batch.
func (p *packer) addBatch(b *dataset.Batch) error {
	p.stats.Merge(b.Stats)
	p.batch.SetTable(b.Table, true)
	for from, all := 0, b.Table.Len(); from < all; {
		if p.block.Rows() == blockRows(p.schema) {
			if err := p.writeBlock(false); err != nil {
				return err
			}
		}
		to := min(from+blockRows(p.schema)-p.block.Rows(), all)
		p.block.Append(p.batch, from, to)
		from = to
	}
	return nil
}

// writeBlock writes a block. The last block of a part contains the counts of the readers for the whole part.
func (p *packer) writeBlock(last bool) error {
	var fields [][]byte
	for j := range blockColumns(p.schema) {
		fields = append(fields, p.block.AppendField(nil, j, &p.encoder))
	}
	var stats bytes.Buffer
	if last {
		p.stats.Rows = 0 // the heads of the blocks have the numbers of rows
		if err := gob.NewEncoder(&stats).Encode(&p.stats); err != nil {
			return err
		}
	}
	p.head.rows = uint32(p.block.Rows())
	p.head.last = last
	_, err := p.out.Write(sealBlock(p.key, p.head, append(fields, stats.Bytes())))
	p.head.index++
	p.block.Clear()
	return err
}

// sealBlock returns a block as a line of text.
func sealBlock(key [secret.KeySize]byte, h blockHead, fields [][]byte) []byte {
	mac := hmac.New(sha256.New, key[:])
	_, _ = mac.Write(append(h.encodeNumbers(), "records"...))
	size := headText + 1
	for _, f := range fields {
		_, _ = mac.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(f))))
		_, _ = mac.Write(f)
		size += base64.StdEncoding.EncodedLen(len(f)+16) + 1
	}
	mac.Sum(h.mac[:0])
	out := append(make([]byte, 0, size), h.String()...)
	aead := h.newAEAD(key)
	for k, f := range fields {
		out = base64.StdEncoding.AppendEncode(append(out, ' '),
			aead.Seal(nil, fieldNonce(k), f, nil))
	}
	return append(out, '\n')
}

// Errors of the block of a task.
var (
	errOtherBlock   = errors.New("the records of a block have changed")
	errSpoiltBlock  = errors.New("a block is damaged")
	errMissingBlock = errors.New("a task without its block")
)

// openedBlock is a block that is read field by field.
type openedBlock struct {
	head   blockHead
	aead   cipher.AEAD
	fields [][]byte // encrypted, as text
}

// openBlock opens the block with the given head.
func openBlock(
	text []byte,
	of string,
	key [secret.KeySize]byte,
) (*openedBlock, error) {
	h, err := readHead(of)
	if err != nil {
		return nil, ErrVersion
	}
	if len(text) < headText || !bytes.Equal(text[:nameText], []byte(of[:nameText])) {
		return nil, errMissingBlock
	}
	if string(text[:headText]) != of {
		return nil, errOtherBlock
	}
	return &openedBlock{h, h.newAEAD(key), bytes.Split(text[headText:], []byte{' '})[1:]}, nil
}

// openField decrypts a field.
func (b *openedBlock) openField(k int) ([]byte, error) {
	if k >= len(b.fields) {
		return nil, errSpoiltBlock
	}
	data, err := base64.StdEncoding.AppendDecode(nil, b.fields[k])
	if err != nil {
		return nil, errSpoiltBlock
	}
	data, err = b.aead.Open(data[:0], fieldNonce(k), data, nil)
	if err != nil {
		return nil, errSpoiltBlock
	}
	return data, nil
}

// readColumn returns the cells of a field.
func (b *openedBlock) readColumn(
	k int,
	c colblock.Column,
) (colblock.Values, error) {
	data, err := b.openField(k)
	if err != nil {
		return colblock.Values{}, err
	}
	out, err := c.ReadField(data, int(b.head.rows))
	if err != nil {
		return out, errSpoiltBlock
	}
	return out, nil
}

// readBatch returns the columns of read for the records of the block. The block has the columns of all.
func (b *openedBlock) readBatch(all, read dataset.Schema) (*dataset.Batch, error) {
	rows := int(b.head.rows)
	names := all.Names()
	columns := make([]dataset.ColumnData, len(read.Columns))
	for k := range read.Columns {
		c := &read.Columns[k]
		x, err := b.readColumn(slices.Index(names, c.Name), blockColumn(c))
		if err != nil {
			return nil, err
		}
		columns[k] = dataset.ColumnData{
			Floats: x.Floats,
			Codes:  x.Codes,
			Words:  x.Texts,
		}
	}
	var ids []uint64
	at := len(all.Columns)
	if all.Unit != "" {
		x, err := b.readColumn(at, colblock.Column{Kind: colblock.Identities})
		if err != nil {
			return nil, err
		}
		ids = x.IDs
		at++
	}
	stats := noStats(read)
	if b.head.last && len(read.Columns) == len(all.Columns) {
		data, err := b.openField(at)
		if err != nil || gob.NewDecoder(bytes.NewReader(data)).Decode(&stats) != nil {
			return nil, errSpoiltBlock
		}
	}
	stats.Rows = rows
	return &dataset.Batch{
		Table: read.Kept(rows, 0, ids, columns),
		Stats: &stats,
	}, nil
}
