package tablefile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

// encodeUTF writes text with size bytes per character.
func encodeUTF(text string, size int, order binary.AppendByteOrder) string {
	var out []byte
	if size == 2 {
		for _, u := range utf16.Encode([]rune(text)) {
			out = order.AppendUint16(out, u)
		}
		return string(out)
	}
	for _, r := range text {
		out = order.AppendUint32(out, uint32(r))
	}
	return string(out)
}

func TestContentOf(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte("a,b\n1,2\n"))
	_ = z.Close()
	little := binary.LittleEndian
	big := binary.BigEndian
	text := "größe,b\n1,2\n"
	for head, want := range map[string]string{
		zipped.String():             "gzip",
		"\x28\xb5\x2f\xfd\x04\x00a": "Zstandard",
		"BZh91AY&SY\x00":            "bzip2",
		"\xfd7zXZ\x00\x00":          "xz",
		"\x04\x22\x4d\x18a":         "LZ4",
		"PK\x03\x04\x14\x00\x06\x00" + strings.Repeat("\x00", 22) + "[Content_Types].xml":                                    "Excel workbook",
		"PK\x03\x04\n\x00" + strings.Repeat("\x00", 24) + "xl/a":                                                             "Excel workbook",
		"PK\x03\x04\x14\x00\x00\x08" + strings.Repeat("\x00", 22) + "mimetypeapplication/vnd.oasis.opendocument.spreadsheet": "OpenDocument",
		"PK\x03\x04" + strings.Repeat("\x00", 26) + "data.csv":                                                               "zip archive",
		"PK\x05\x06":                            "empty zip",
		"PAR1\x15\x04\x15":                      "Parquet",
		"ARROW1\x00\x00":                        "Arrow file",
		"\xff\xff\xff\xff\x10\x01\x00\x00":      "Arrow stream",
		"FEA1\x00\x00\x01":                      "Feather",
		"ORC\x0a\x03":                           "ORC",
		"Obj\x01\x04":                           "Avro",
		"SQLite format 3\x00\x10":               "SQLite",
		"\x01\x02\x03\x04\x05\x06\x07\x08DUCK":  "DuckDB",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":      "old format",
		"%PDF-1.7\n":                            "PDF",
		"\x80\x04\x95\x00":                      "pickle",
		"\x80\x02]q\x00(K\x00K":                 "pickle",
		"]\x00\x00\x80\x00\xff\xff\xff\xff\xff": "LZMA",
		"\x89PNG\r\n\x1a\n\x00":                 "picture",
		"x\x9c\xab\xd0\xa9\x02\x00\x05":         "binary data",
		"\n\n  <html>\n":                        "HTML page",
		"\n[{\"a\": 1}]\n":                      "JSON",
		"<!DOCTYPE html><html>":                 "HTML page",
		"  <HTML>\n":                            "HTML page",
		"<?xml version='1.0'?>":                 "XML",
		"<stata_dta><header>":                   "Stata",
		`[{"a": 1, "b": 2}]`:                    "JSON",
		"[\n{":                                  "JSON",
		"{\n":                                   "JSON",
		`{"a": 1}` + "\n" + `{"a": 2}`:          "JSON Lines",
		`["a", "b"]`:                            "JSON",
		"[[1,2]]":                               "JSON",
		"version https://git-lfs.github.com/spec/v1\n": "Git LFS",
		"\x00\x01\x02\x03\xfe":                         "binary data",
		"\xff\xfea\x00,\x00":                           "UTF-16",
		"\xfe\xff\x00a\x00,":                           "UTF-16",
		encodeUTF(text, 2, little):                     "UTF-16",
		encodeUTF(text, 2, big):                        "UTF-16",
		encodeUTF("a\n", 2, little):                    "UTF-16",
		"x,k,y\x00\n1,2,3\n":                           "zero bytes",
		"x,k\x00,y,zeros\n":                            "zero bytes",
		"\xff\xfe\x00\x00a\x00\x00\x00":                "UTF-32",
		"\x00\x00\xfe\xff\x00\x00\x00a":                "UTF-32",
		encodeUTF(text, 4, little):                     "UTF-32",
		encodeUTF(text, 4, big):                        "UTF-32",
		// tables
		text:                "",
		"":                  "",
		"a":                 "",
		"[id],[name]\n1,2":  "",
		"<DATE>,<OPEN>\n":   "",
		"{id},b\n":          "",
		"Objects,b":         "",
		"ORCID,name":        "",
		"PART,PAR1":         "",
		"PAR1,b":            "",
		"BZh,a\n":           "",
		"PKS,a":             "",
		"PARENT,b":          "",
		"ARROW1,b":          "",
		"FEA1,b":            "",
		"$FL2,b":            "",
		"a,b\n[{\"x\":1}]":  "",
		"a,b\n\x1f\x8b\x08": "",
		"abcdef,\nDUCK":     "",
		"gr\xf6\xdfe,b":     "",
		"\xef\xbb\xbfa,b":   "",
		"RDX3,a":            "",
		"versions,https":    "",
		"CDF,a":             "",
		"a,b\n1,\x00\n":     "",
		"BZh9,a,bcdefgh":    "",
		"gr\xf6\xdfe\x01b":  "",
		"\xe9t\xe9\tb\r":    "",
		"\n\na,b\n":         "",
	} {
		c, ok := ContentOf([]byte(head))
		if ok != (want != "") || !strings.Contains(c.What, want) {
			t.Errorf(
				"%.40q is %q, want %q",
				head, c.What, want,
			)
		}
		if ok && c.Do == "" {
			t.Errorf("%.40q: nothing to do", head)
		}
	}
}
