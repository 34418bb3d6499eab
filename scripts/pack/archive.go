package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"time"
)

// A file is a file of an archive.
type file struct {
	name    string
	content []byte
	runs    bool
}

func (f file) fileMode() int64 {
	if f.runs {
		return 0o755
	}
	return 0o644
}

// packArchive writes the program with its licence, for Windows as .zip, else as .tar.gz.
func (p *program) packArchive() error {
	files := []file{
		{p.executable(), p.code, true},
		{p.tool + ".cdx.json", p.bill, false},
		{"THIRD_PARTY_LICENSES.txt", p.notices, false},
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		content, err := p.readFile(name)
		if err != nil {
			return err
		}
		files = append(files, file{name, content, false})
	}
	for i := range files {
		files[i].name = p.baseName() + "/" + files[i].name
	}
	pack := newTarball
	if p.system == "windows" {
		pack = newZip
	}
	content, err := pack(files, p.when)
	if err != nil {
		return err
	}
	return p.writeFile(p.archiveName(), content)
}

// archiveName returns the name of the archive of the program.
func (p *program) archiveName() string {
	if p.system == "windows" {
		return p.baseName() + ".zip"
	}
	return p.baseName() + ".tar.gz"
}

// newTarball packs files in their order, with the folders that come before them.
func newTarball(files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	zw, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := writeTar(zw, files, when); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// newZip packs files in their order.
func newZip(files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	for _, f := range files {
		header := zip.FileHeader{
			Name:     f.name,
			Method:   zip.Deflate,
			Modified: when,
		}
		header.CreatorVersion = 3 << 8 // Unix, whose modes follow
		header.ExternalAttrs = uint32(0o100000|f.fileMode()) << 16
		w, err := zw.CreateHeader(&header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
