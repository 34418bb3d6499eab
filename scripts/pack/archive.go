package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"time"
)

// A file is one of an archive.
type file struct {
	name    string
	content []byte
	runs    bool
}

func (f file) mode() int64 {
	if f.runs {
		return 0o755
	}
	return 0o644
}

// archive writes the program with its licence, for Windows as .zip, else as .tar.gz.
func (p *program) archive() error {
	files := []file{{p.executable(), p.code, true}, {p.tool + ".cdx.json", p.bill, false}}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		content, err := p.read(name)
		if err != nil {
			return err
		}
		files = append(files, file{name, content, false})
	}
	for i := range files {
		files[i].name = p.name() + "/" + files[i].name
	}
	pack, suffix := tarball, ".tar.gz"
	if p.system == "windows" {
		pack, suffix = zipped, ".zip"
	}
	content, err := pack(files, p.when)
	if err != nil {
		return err
	}
	return p.write(p.name()+suffix, content)
}

// tarball packs files in their order, with the folders that come before them.
func tarball(files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	zw, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	tw := tar.NewWriter(zw)
	for _, f := range files {
		header := tar.Header{Name: f.name, Mode: f.mode(), Size: int64(len(f.content)), ModTime: when, Format: tar.FormatUSTAR, Uname: "root", Gname: "root"}
		if f.content == nil {
			header.Typeflag, header.Mode = tar.TypeDir, 0o755
		}
		if err := tw.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := tw.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := tw.Close(); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// zipped packs files in their order.
func zipped(files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	for _, f := range files {
		header := zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when}
		header.CreatorVersion = 3 << 8 // Unix, whose modes follow
		header.ExternalAttrs = uint32(0o100000|f.mode()) << 16
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
