package parquetfile

import (
	"bufio"
	"encoding/binary"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// The public limits of a footer: bytes that describe the columns; columns times groups, which take some hundred
// bytes each; and groups.
const (
	maxSchema   = 1 << 26
	maxElements = 1 << 18
	maxGroups   = 1 << 16
)

// footerTrailerSize is the number of bytes after a footer: its length and "PAR1".
const footerTrailerSize = 8

// Keys of the used fields of format.FileMetaData.
const (
	keySchema     = 0x02
	keyType       = 0x02_01
	keyChildren   = 0x02_05
	keyRows       = 0x03
	keyGroups     = 0x04
	keyChunks     = 0x04_01
	keyGroupRows  = 0x04_03
	keyCodec      = 0x04_01_03_04
	keyValues     = 0x04_01_03_05
	keyChunkSize  = 0x04_01_03_07
	keyDataPage   = 0x04_01_03_09
	keyDictionary = 0x04_01_03_0B
	keyMeta       = 0x05
	keyMetaKey    = 0x05_01
	keyMetaValue  = 0x05_02
	footerBuffer  = 1 << 16
)

// Chunk locates the pages of one column in one row group.
type Chunk struct {
	Offset int64
	Size   int64
	Codec  format.CompressionCodec
}

// Footer is the part of a footer that is used. Statistics and metadata, which may contain whole cells, are skipped,
// except for the metadata that [Footer.Metadata] returns.
//
// The description of a row group without rows depends on the writer: no page, or an empty dictionary, an offset of 0,
// a codec other than that of the groups with rows. A table written in one group per ward, day or batch has such groups
// where the group is empty. To keep the effect of an additional record there limited to the table, they are removed
// before any other step.
type Footer struct {
	Rows   int64   // as declared in the footer
	Groups []int64 // rows of each row group that is not empty

	file   io.ReaderAt
	at     int64
	bytes  int64
	schema []byte
}

// ReadFooter reads the footer of a file of the given size. ok is false if it is damaged or describes columns
// beyond the limits.
func ReadFooter(file io.ReaderAt, size int64) (f *Footer, ok bool) {
	var head [4]byte
	var end [footerTrailerSize]byte
	if size < int64(len(head))+footerTrailerSize {
		return nil, false
	}
	if _, err := file.ReadAt(head[:], 0); err != nil || string(head[:]) != "PAR1" {
		return nil, false
	}
	if _, err := file.ReadAt(end[:], size-footerTrailerSize); err != nil ||
		string(end[4:]) != "PAR1" {
		return nil, false
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if n > size-int64(len(head))-footerTrailerSize {
		return nil, false
	}
	f = &Footer{
		file:  file,
		at:    size - footerTrailerSize - n,
		bytes: n,
	}
	g := groupScan{first: true}
	if !f.scanFooter(&g) {
		return nil, false
	}
	f.Rows = g.all
	f.Groups = g.groups
	f.schema = g.schema
	return f, true
}

// Chunks returns the chunks of the given leaves of the schema: for each leaf, those of all row groups with
// rows.
func (f *Footer) Chunks(leaves []int) (chunks [][]Chunk, ok bool) {
	g := groupScan{
		want:   make(map[int]int, len(leaves)),
		chunks: make([][]Chunk, len(leaves)),
	}
	for k, leaf := range leaves {
		g.want[leaf] = k
	}
	return g.chunks, f.scanFooter(&g) && slices.Equal(g.groups, f.Groups)
}

// Metadata returns the value of a key of the metadata, or "" if it is absent or longer than the limit for column
// descriptions. Metadata may depend on records: its use must not.
func (f *Footer) Metadata(key string) string {
	var name, value []byte
	found := ""
	s := scanner{in: bufio.NewReaderSize(io.NewSectionReader(f.file, f.at, f.bytes), footerBuffer)}
	s.text = func(at, n uint64) []byte {
		switch {
		case n > uint64(f.bytes):
		case at == keyMetaKey && n == uint64(len(key)):
			name = make([]byte, n)
			return name
		case at == keyMetaKey:
			name = nil
		case at == keyMetaValue && string(name) == key && n <= maxSchema:
			value = make([]byte, n)
			return value
		}
		return nil
	}
	s.item = func(at uint64) {
		if at == keyMeta && string(name) == key {
			found = string(value)
		}
		if at == keyMeta {
			name = nil
			value = nil
		}
	}
	if !s.scanStruct(0, 0) {
		return ""
	}
	return found
}

// scanFooter scans the footer.
func (f *Footer) scanFooter(g *groupScan) bool {
	s := scanner{
		in:     bufio.NewReaderSize(io.NewSectionReader(f.file, f.at, f.bytes), footerBuffer),
		number: g.addNumber,
		item:   g.endItem,
	}
	if g.first {
		s.keep = keySchema
		s.most = maxSchema
	}
	if !s.scanStruct(0, 0) || g.bad || g.elements > maxElements || g.nested > maxGroups {
		return false
	}
	_, err := s.in.ReadByte()
	g.schema = s.kept
	return err == io.EOF
}

// groupScan collects the used part of a footer.
type groupScan struct {
	first  bool
	want   map[int]int // leaves, and their places in chunks
	schema []byte
	groups []int64
	chunks [][]Chunk
	all    int64 // rows
	bad    bool

	elements, leaves, nested int // of the schema

	chunk      Chunk
	data       int64
	dictionary int64
	columns    int // of the row group so far
	rows       int64
	used       bool
}

// addNumber processes a number.
func (g *groupScan) addNumber(key uint64, v int64) {
	switch key {
	case keyType:
		g.leaves++
	case keyChildren:
		g.nested++
	case keyRows:
		g.all = v
	case keyGroupRows:
		g.rows = v
	case keyCodec:
		g.chunk.Codec = format.CompressionCodec(v)
	case keyValues:
		g.used = g.used || v != 0
	case keyChunkSize:
		g.chunk.Size = v
	case keyDataPage:
		g.data = v
	case keyDictionary:
		g.dictionary = v
	}
}

// endItem ends a column chunk or a row group.
func (g *groupScan) endItem(key uint64) {
	switch key {
	case keySchema:
		g.elements++
	case keyChunks:
		if g.chunk.Offset = g.data; g.dictionary != 0 {
			g.chunk.Offset = g.dictionary
		}
		if k, ok := g.want[g.columns]; ok {
			g.chunks[k] = append(g.chunks[k], g.chunk)
		}
		g.columns++
		g.chunk = Chunk{}
		g.data = 0
		g.dictionary = 0
	case keyGroups:
		if g.rows == 0 && !g.used {
			for k, all := range g.chunks {
				g.chunks[k] = all[:min(len(g.groups), len(all))]
			}
		} else {
			g.groups = append(g.groups, g.rows)
			g.bad = g.bad || g.columns != g.leaves
		}
		g.rows = 0
		g.used = false
		g.columns = 0
	}
}
