package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestVersions: a version sorts the same way for Debian, Python and Go.
func TestVersions(t *testing.T) {
	for version, want := range map[string][2]string{
		"v1.2.3":                                    {"1.2.3", "1.2.3"},
		"v1.2.3-rc.1":                               {"1.2.3~rc.1", "1.2.3rc1"},
		"v1.2.3+meta":                               {"1.2.3", "1.2.3"},
		"v0.0.0-20261122162454-4e44894776d4":        {"0.0.0~20261122162454.4e44894776d4", "0.0.0.dev20261122162454"},
		"v1.2.4-0.20261122162454-4e44894776d4":      {"1.2.4~0.20261122162454.4e44894776d4", "1.2.4.dev20261122162454"},
		"v1.2.3-rc.2.0.20261122162454-4e44894776d4": {"1.2.3~rc.2.0.20261122162454.4e44894776d4", "1.2.3.dev20261122162454"},
		"(devel)":                                   {"0~.devel.", "0.0.0.dev0"},
	} {
		if got := [2]string{debianVersion(version), pythonVersion(version)}; got != want {
			t.Errorf("%s: %v, want %v", version, got, want)
		}
	}
}

// TestPack packs this test as if it were the program, twice: the bytes are the same, the wheel's RECORD has the hash
// of every file, and the bill of materials names the module and its dependencies.
func TestPack(t *testing.T) {
	var sums [2][]byte
	var out string
	for i := range sums {
		folder := t.TempDir()
		out = filepath.Join(folder, "out")
		platform := filepath.Join(folder, "bin", "linux_amd64")
		if runtime.GOOS == "windows" {
			t.Skip("the test has another name there")
		}
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		code, err := os.ReadFile(self)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{out, platform} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for _, tool := range tools {
			if err := os.WriteFile(filepath.Join(platform, tool), code, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := run([]string{"-version", "v1.2.3", "-time", "1700000000", "-source", "../..", "-bin", filepath.Dir(platform), "-out", out}, io.Discard); err != nil {
			t.Fatal(err)
		}
		if sums[i], err = os.ReadFile(filepath.Join(out, "SHA256SUMS")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(sums[0], sums[1]) || bytes.Count(sums[0], []byte("\n")) != 8 { // wheel, package, and of each program an archive and a bill
		t.Errorf("two releases:\n%s\n%s", sums[0], sums[1])
	}
	checkWheel(t, filepath.Join(out, "dptrain-1.2.3-py3-none-"+tags["linux_amd64"]+".whl"))
	for _, tool := range tools {
		if _, err := os.Stat(filepath.Join(out, tool+"_1.2.3_linux_amd64.tar.gz")); err != nil {
			t.Error(err)
		}
	}
	content, err := os.ReadFile(filepath.Join(out, "dptrain_1.2.3_linux_amd64.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b cycloneDX
	if err := json.Unmarshal(content, &b); err != nil || b.Components[0].Name != "std" || !strings.HasPrefix(b.Metadata.Component.PURL, "pkg:golang/github.com/dptrain/") {
		t.Errorf("bill %+v: %v", b.Metadata, err)
	}
}

func checkWheel(t *testing.T, path string) {
	t.Helper()
	zr, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer zr.Close() //nolint:errcheck // it was read
	files, record := map[string]string{}, ""
	for _, f := range zr.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		files[f.Name] = "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:])
		if runs := f.Mode()&0o111 != 0; runs != (f.Name == "dptrain/bin/dptrain") {
			t.Errorf("%s: mode %v", f.Name, f.Mode())
		}
		if f.Name == "dptrain-1.2.3.dist-info/RECORD" {
			record = string(content)
		}
	}
	for _, name := range []string{"dptrain/__init__.py", "dptrain/_estimators.py", "dptrain/py.typed"} {
		if files[name] == "" {
			t.Errorf("no %s", name)
		}
	}
	for line := range strings.Lines(record) {
		fields := strings.Split(line, ",")
		if fields[1] != "" && files[fields[0]] != fields[1] {
			t.Errorf("RECORD: %s", line)
		}
		delete(files, fields[0])
	}
	if len(files) > 0 {
		t.Errorf("not in RECORD: %v", files)
	}
}
