package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
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
	pack := p.newTarball
	if p.system == "windows" {
		pack = p.newZip
	}
	content, err := pack(files)
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
func (r release) newTarball(files []file) ([]byte, error) {
	var out bytes.Buffer
	level := gzip.BestCompression
	if r.fast {
		level = gzip.BestSpeed
	}
	zw, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		return nil, err
	}
	if err := writeTar(zw, files, r.when); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// newZip packs files in their order.
func (r release) newZip(files []file) ([]byte, error) {
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	if r.fast {
		zw.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
			return flate.NewWriter(w, flate.BestSpeed)
		})
	}
	for _, f := range files {
		header := zip.FileHeader{
			Name:     f.name,
			Method:   zip.Deflate,
			Modified: r.when,
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
