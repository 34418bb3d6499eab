package tablefile

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// A Content is the type of a file, recognised from its first bytes.
type Content struct {
	What string // with its article: "a Parquet file"
	Do   string // how to convert it to a readable table
	Kind Kind   // the kind under whose suffix the file could be read, or the zero Kind
	Zip  bool   // an archive of unknown files
}

// HeadBytes is the number of bytes of a file that [ContentOf] examines.
const HeadBytes = 512

// signature is the start of files of a format.
type signature struct {
	at    int // offset of the bytes
	bytes string
	Content
}

const (
	decompress = "decompress it first"
	convert    = "write it as Parquet or CSV"
	export     = "export the table as CSV"
)

// signatures lists longer signatures before their prefixes.
var signatures = []signature{
	{0, "\x1f\x8b",
		Content{
			What: "gzip-compressed",
			Do:   "name it with .gz at the end, such as .csv.gz, or " + decompress,
			Kind: Kind{Coding: "gzip"},
		}},
	{0, "\x28\xb5\x2f\xfd",
		Content{
			What: "compressed with Zstandard",
			Do:   decompress + ", with zstd -d",
		}},
	{0, "BZh", Content{
		What: "compressed with bzip2",
		Do:   decompress + ", with bunzip2",
	}},
	{0, "\xfd7zXZ\x00", Content{
		What: "compressed with xz",
		Do:   decompress + ", with unxz",
	}},
	{0, "\x04\x22\x4d\x18", Content{
		What: "compressed with LZ4",
		Do:   decompress + ", with unlz4",
	}},
	{0, "\x5d\x00\x00\x80\x00",
		Content{
			What: "compressed with LZMA",
			Do:   decompress + ", with unlzma",
		}},
	{0, "\x1f\x9d",
		Content{
			What: "compressed with compress",
			Do:   decompress + ", with uncompress",
		}},
	{0, "\xff\x06\x00\x00sNaPpY", Content{
		What: "compressed with Snappy",
		Do:   decompress,
	}},
	{0, "7z\xbc\xaf\x27\x1c", Content{
		What: "a 7-Zip archive",
		Do:   "unpack it first",
	}},
	{0, "Rar!\x1a\x07", Content{
		What: "a RAR archive",
		Do:   "unpack it first",
	}},
	{0, "PK\x03\x04",
		Content{
			What: "a zip archive",
			Do:   "unpack it first, or name it .xlsx if it is an Excel workbook",
		}},
	{0, "PK\x05\x06", Content{
		What: "an empty zip archive",
		Do:   "copy or save it again",
	}},
	{0, "PAR1", Content{
		What: "a Parquet file",
		Do:   "name it .parquet",
		Kind: Kind{Parquet: true},
	}},
	{0, "PARE", Content{
		What: "an encrypted Parquet file",
		Do:   "write it without encryption",
	}},
	{0, "ARROW1\x00\x00",
		Content{
			What: "an Arrow file",
			Do:   "name it .arrow",
			Kind: Kind{Packed: Arrow},
		}},
	{0, "\xff\xff\xff\xff",
		Content{
			What: "an Arrow stream",
			Do:   "name it .arrows",
			Kind: Kind{Packed: Arrow},
		}},
	{0, "FEA1",
		Content{
			What: "a Feather file of version 1",
			Do:   "write it with version 2, or as Parquet",
		}},
	{0, "ORC", Content{What: "an ORC file", Do: convert}},
	{0, "Obj\x01", Content{
		What: "an Avro file",
		Do:   convert,
	}},
	{0, "SQLite format 3\x00",
		Content{
			What: "a SQLite database",
			Do:   "query it with data.sql, or " + export,
		}},
	{8, "DUCK", Content{
		What: "a DuckDB database",
		Do:   "query it with data.sql, or " + export,
	}},
	{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
		Content{
			What: "an Excel workbook in the old format (.xls) or with a password",
			Do:   "save it as .xlsx without a password",
		}},
	{0, "%PDF-", Content{
		What: "a PDF document",
		Do:   export,
	}},
	{0, "\x89HDF\r\n\x1a\n", Content{
		What: "an HDF5 file",
		Do:   convert,
	}},
	{0, "CDF\x01", Content{
		What: "a NetCDF file",
		Do:   convert,
	}},
	{0, "CDF\x02", Content{
		What: "a NetCDF file",
		Do:   convert,
	}},
	{0, "\x93NUMPY", Content{
		What: "a NumPy array",
		Do:   convert,
	}},
	{0, "\x80\x02", Content{
		What: "a Python pickle",
		Do:   convert,
	}},
	{0, "\x80\x03", Content{
		What: "a Python pickle",
		Do:   convert,
	}},
	{0, "\x80\x04", Content{
		What: "a Python pickle",
		Do:   convert,
	}},
	{0, "\x80\x05", Content{
		What: "a Python pickle",
		Do:   convert,
	}},
	{0, "\x89PNG\r\n\x1a\n", Content{
		What: "a picture",
		Do:   export,
	}},
	{0, "\xff\xd8\xff", Content{
		What: "a picture",
		Do:   export,
	}},
	{0, "RDX2\n", Content{
		What: "an R workspace",
		Do:   convert,
	}},
	{0, "RDX3\n", Content{
		What: "an R workspace",
		Do:   convert,
	}},
	{0, "$FL2", Content{What: "an SPSS file", Do: convert}},
	{0, "$FL3", Content{What: "an SPSS file", Do: convert}},
	{0, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc2\xea\x81\x60",
		Content{What: "a SAS table", Do: convert}},
	{0, "\xff\xfe\x00\x00", utf32},
	{0, "\x00\x00\xfe\xff", utf32},
	{0, "\xff\xfe", Content{What: utf16Text, Do: setUTF16}},
	{0, "\xfe\xff", Content{What: utf16Text, Do: setUTF16}},
}

// Text with more than one byte per character.
const (
	utf16Text = "UTF-16 text"
	setUTF16  = "set encoding with --encoding utf-16, or in a recipe data.format: {encoding: utf-16}"
)

var utf32 = Content{
	What: "UTF-32 text",
	Do:   "convert it to UTF-8, with iconv -f UTF-32 -t UTF-8",
}

// markup lists the starts of markup documents, which are not tables.
var markup = []signature{
	{0, "<!doctype",
		Content{
			What: "an HTML page",
			Do:   export + "; if it was downloaded, it may be a sign-in page",
		}},
	{0, "<html",
		Content{
			What: "an HTML page",
			Do:   export + "; if it was downloaded, it may be a sign-in page",
		}},
	{0, "<table", Content{
		What: "an HTML table",
		Do:   export,
	}},
	{0, "<stata_dta>", Content{
		What: "a Stata file",
		Do:   convert,
	}},
	{0, "<?xml", Content{
		What: "an XML document",
		Do:   export,
	}},
	{0, "version https://git-lfs",
		Content{
			What: "a Git LFS pointer",
			Do:   "download the file with git lfs pull",
		}},
	{0, "{\\rtf", Content{
		What: "a rich text document",
		Do:   export,
	}},
}

// UTF16 reports whether c is text in UTF-16.
func (c *Content) UTF16() bool {
	return c.What == utf16Text
}

// ContentOf recognises the type of a file from its first bytes. ok is false for text that may be a table, and for
// unknown content. head has at most [HeadBytes] bytes, and at least the first line or the whole file. Only the first
// line is examined, unless it shows a format without lines.
func ContentOf(head []byte) (c Content, ok bool) {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	text, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte{'\n'})
	for _, s := range signatures {
		within := head
		if s.at > 0 { // the bytes before them are unknown, so they may be a line
			within = line
		}
		if !bytes.HasPrefix(within[min(s.at, len(within)):], []byte(s.bytes)) {
			continue
		}
		switch {
		case s.bytes == "BZh" && !isBzip2(head):
			continue
		case s.bytes == "PK\x03\x04":
			s.Content = archiveContent(head)
		case s.bytes == "\xff\xff\xff\xff" && (len(head) < 8 || head[7] != 0): // the length of the metadata
			continue
		case isText([]byte(s.bytes)) && isText(line) && !isLine(s.bytes) && string(line) != "ORC":
			continue // the name of a column may start like this; an ORC file may have a line feed there, and no table is that narrow
		}
		return s.Content, true
	}
	if c, ok := wideContent(line); ok {
		return c, true
	}
	return textOf(text)
}

// isLine reports whether a signature is text that fills a line.
func isLine(signature string) bool {
	return signature == "%PDF-" || strings.HasSuffix(signature, "\n")
}

// isBzip2 reports whether head starts a bzip2 file: its level, and the mark of a block or of the end.
func isBzip2(head []byte) bool {
	if len(head) < 10 || head[3] < '1' || head[3] > '9' {
		return false
	}
	block := string(head[4:10])
	return block == "1AY&SY" || block == "\x17\x72\x45\x38\x50\x90"
}

// archiveContent distinguishes archives by the name of their first file.
func archiveContent(head []byte) Content {
	name := head[min(len(head), 30):]
	switch {
	case bytes.HasPrefix(name, []byte("mimetypeapplication/vnd.oasis.opendocument")):
		return Content{
			What: "an OpenDocument file (.ods)",
			Do:   "save the table as .xlsx or as CSV",
		}
	case bytes.HasPrefix(name, []byte("[Content_Types].xml")), bytes.HasPrefix(name, []byte("xl/")),
		bytes.HasPrefix(name, []byte("_rels/")), bytes.HasPrefix(name, []byte("docProps/")):
		return Content{
			What: "an Excel workbook or another Office document",
			Do:   "name it .xlsx if it is a workbook",
			Kind: Kind{Packed: Sheet},
		}
	}
	return Content{
		What: "a zip archive",
		Do:   "unpack it first, or name it .xlsx if it is an Excel workbook",
		Zip:  true,
	}
}

// wideContent recognises text with two or four bytes per character and no byte order mark, and other lines that are
// no text: those with zero bytes, and those with control characters that are not UTF-8.
func wideContent(line []byte) (c Content, ok bool) {
	if bytes.IndexByte(line, 0) < 0 {
		binary := !utf8.Valid(line) && bytes.ContainsFunc(line, isControl)
		return binaryData, binary
	}
	switch {
	case hasStrayZeros(line):
		c = strayZeros
	case isWide(line, 4, binary.LittleEndian.Uint32), isWide(line, 4, binary.BigEndian.Uint32):
		c = utf32
	case isWide(line, 2, littleEndian16):
		c = Content{
			What: utf16Text,
			Do:   strings.ReplaceAll(setUTF16, "utf-16", "utf-16le"),
		}
	case isWide(line, 2, bigEndian16):
		c = Content{
			What: utf16Text,
			Do:   strings.ReplaceAll(setUTF16, "utf-16", "utf-16be"),
		}
	default:
		c = binaryData
	}
	return c, true
}

var binaryData = Content{
	What: "binary data",
	Do:   "check that it is the right file",
}

var strayZeros = Content{
	What: "text with zero bytes",
	Do:   "remove them, or write the table as UTF-8",
}

// hasStrayZeros reports whether line is UTF-8 text between zero bytes that are fewer than a quarter of it. At least
// half of the bytes of a line of Latin letters in UTF-16 are zero.
func hasStrayZeros(line []byte) bool {
	text := bytes.ReplaceAll(line, []byte{0}, nil)
	return 4*(len(line)-len(text)) < len(line) && utf8.Valid(text) && !bytes.ContainsFunc(text, isControl)
}

// isControl reports whether r is a control character that does not occur in text tables. Tabs, line ends and the
// characters that end a field or a file do.
func isControl(r rune) bool {
	return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1a\x01", r)
}

func littleEndian16(b []byte) uint32 {
	return uint32(binary.LittleEndian.Uint16(b))
}

func bigEndian16(b []byte) uint32 {
	return uint32(binary.BigEndian.Uint16(b))
}

// isWide reports whether line is text with size bytes per character that contains an ASCII character. It may
// end within a character, because a newline has zero bytes too.
func isWide(line []byte, size int, unit func([]byte) uint32) bool {
	some := false
	for ; len(line) >= size; line = line[size:] {
		r := unit(line)
		switch {
		case r < ' ' && r != '\t' && r != '\r', r > utf8.MaxRune,
			r >= 0xe000 && r < 0xf900 || r&0xfffe == 0xfffe, r == 0xff00:
			return false // a control character, one for private use, or unassigned
		case r < utf8.RuneSelf:
			some = true
		}
	}
	return some
}

// textOf recognises text that is not a table. Names in brackets, such as <open> and [id], are the start of
// headers.
func textOf(line []byte) (c Content, ok bool) {
	text := strings.ToLower(strings.TrimLeft(strings.TrimPrefix(string(line), "\uFEFF"), " \t\r"))
	for _, s := range markup {
		if strings.HasPrefix(text, s.bytes) {
			return s.Content, true
		}
	}
	text = strings.TrimRight(text, " \t\r")
	compact := strings.ReplaceAll(text[:min(len(text), 64)], " ", "")
	switch {
	case strings.HasPrefix(compact, `{"`) && strings.HasSuffix(text, "}"):
		return Content{
			What: "JSON Lines",
			Do:   "name it .jsonl",
			Kind: Kind{JSON: true},
		}, true
	case text == "[" || text == "{", strings.HasPrefix(compact, `{"`),
		strings.HasPrefix(compact, `[{`), strings.HasPrefix(compact, `[[`),
		strings.HasPrefix(compact, `["`):
		return Content{
			What: "JSON",
			Do:   "write it as JSON Lines, one object per line, and name it .jsonl",
		}, true
	}
	return Content{}, false
}

// IsText reports whether the first bytes of a file are text.
func IsText(head []byte) bool {
	return len(head) > 0 && isText(head)
}

// isText reports whether bytes are UTF-8 without control characters. The last character may be cut off.
func isText(b []byte) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			return len(b) < utf8.UTFMax && !utf8.FullRune(b)
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return false
		}
		b = b[size:]
	}
	return true
}
