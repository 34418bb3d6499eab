package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aead.dev/minisign"
)

// TestVersionsSortAlike checks that a version sorts the same way for Debian, Python and Go.
func TestVersionsSortAlike(t *testing.T) {
	for version, want := range map[string][2]string{
		"v1.2.3": {"1.2.3", "1.2.3"},
		"v1.2.3-rc.1": {
			"1.2.3~rc.1",
			"1.2.3rc1",
		},
		"v1.2.3+meta": {
			"1.2.3",
			"1.2.3",
		},
		"v0.0.0-20261122162454-4e44894776d4": {
			"0.0.0~20261122162454.4e44894776d4",
			"0.0.0.dev20261122162454",
		},
		"v1.2.4-0.20261122162454-4e44894776d4": {
			"1.2.4~0.20261122162454.4e44894776d4",
			"1.2.4.dev20261122162454",
		},
		"v1.2.3-rc.2.0.20261122162454-4e44894776d4": {
			"1.2.3~rc.2.0.20261122162454.4e44894776d4",
			"1.2.3.dev20261122162454",
		},
		"(devel)": {"0~.devel.", "0.0.0.dev0"},
	} {
		got := [2]string{debianVersion(version), pythonVersion(version)}
		if got != want {
			t.Errorf(
				"%s: %v, want %v",
				version, got, want,
			)
		}
	}
}

// TestPack packs this test as if it were the program, twice. It checks that the bytes are the same, that the
// wheel's RECORD has the hash of every file, that the image can be read, that the bill of materials names the
// modules with their licences, and that the hashes are signed.
func TestPack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the test has another name there")
	}
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := private.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var sums [2][]byte
	var out string
	for i := range sums {
		t.Setenv(keyVariable, strings.Repeat(string(secret), i)) // the first release is not signed
		var stdout string
		out, stdout = packSelf(t)
		want := []string{
			"SHA256SUMS is not signed: " + keyVariable + " is not set",
			fmt.Sprintf("signed by key %X", public.ID()),
		}[i]
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in %s", want, stdout)
		}
		if sums[i], err = os.ReadFile(filepath.Join(out, "SHA256SUMS")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(sums[0], sums[1]) || bytes.Count(sums[0], []byte("\n")) != 9 { // wheel, package, image, and for each program an archive and a bill
		t.Errorf(
			"two releases:\n%s\n%s",
			sums[0], sums[1],
		)
	}
	signature, err := os.ReadFile(filepath.Join(out, "SHA256SUMS.minisig"))
	if err != nil ||
		!minisign.Verify(public, sums[1], signature) ||
		minisign.Verify(public, sums[1][1:], signature) {
		t.Errorf("signature %s: %v", signature, err)
	}
	checkWheel(
		t,
		filepath.Join(
			out,
			"dptrain-1.2.3-py3-none-"+tags["linux_amd64"]+".whl",
		),
	)
	checkImage(t, filepath.Join(out, "dptrain_1.2.3_linux_amd64.oci.tar"))
	for _, tool := range tools {
		_, err := os.Stat(filepath.Join(
			out,
			tool+"_1.2.3_linux_amd64.tar.gz",
		))
		if err != nil {
			t.Error(err)
		}
	}
	content, err := os.ReadFile(filepath.Join(
		out, "dptrain_1.2.3_linux_amd64.cdx.json",
	))
	if err != nil {
		t.Fatal(err)
	}
	var b cycloneDX
	err = json.Unmarshal(content, &b)
	if err != nil ||
		!strings.HasPrefix(b.Metadata.Component.PURL, "pkg:golang/"+testModule) {
		t.Errorf(
			"bill %+v: %v",
			b.Metadata, err,
		)
	}
	found := map[string]string{}
	for _, c := range b.Components {
		found[c.Name] = c.Licenses[0].Expression
	}
	for name, want := range map[string]string{
		"std":                            "BSD-3-Clause",
		"aead.dev/minisign":              "MIT",
		"golang.org/x/crypto":            "BSD-3-Clause",
		"github.com/google/licensecheck": "BSD-3-Clause",
	} {
		if found[name] != want {
			t.Errorf(
				"the licence of %s is %q, want %q",
				name, found[name], want,
			)
		}
	}
}

const testModule = "github.com/dptrain/dptrain/scripts/pack"

// packSelf packs this test as all programs of one platform. It returns the folder of the release and the
// output.
func packSelf(t *testing.T) (out, stdout string) {
	t.Helper()
	folder := t.TempDir()
	out = filepath.Join(folder, "out")
	platform := filepath.Join(folder, "bin", "linux_amd64")
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
	printed := new(bytes.Buffer)
	args := []string{"-fast", "-version", "v1.2.3", "-time", "1700000000", "-source", "../..", "-bin",
		filepath.Dir(platform), "-out", out, "-modcache", goEnv(t, "GOMODCACHE"), "-goroot",
		goEnv(t, "GOROOT")}
	if err := runCommand(args, printed); err != nil {
		t.Fatal(err)
	}
	return out, printed.String()
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(
		t.Context(), "go", "env",
		name,
	).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestLicenses checks that a module without a licence file, or with an unknown licence text, is an error.
func TestLicenses(t *testing.T) {
	none := t.TempDir()
	if _, err := readLicenses(none); err == nil {
		t.Error("a folder without a licence")
	}
	odd := t.TempDir()
	err := os.WriteFile(
		filepath.Join(odd, "LICENSE.txt"),
		[]byte(strings.Repeat("You may look at this and no more. ", 50)),
		0o600,
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readLicenses(odd); err == nil {
		t.Error("a licence that is not known")
	}
	reference := "It is licensed under the terms of https://creativecommons.org/licenses/by/4.0/legalcode, which are elsewhere."
	err = os.WriteFile(
		filepath.Join(none, "LICENSE-link.txt"),
		[]byte(reference),
		0o600,
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readLicenses(none); err == nil {
		t.Error("a reference to a licence that no file states")
	}
	svgo := filepath.Join(
		goEnv(t, "GOMODCACHE"),
		"github.com",
		"ajstarks",
		"svgo@v0.0.0-20211024235047-1546f124cd8b",
	)
	found, err := readLicenses(svgo)
	if err != nil && !os.IsNotExist(err) ||
		err == nil && found.expression != "CC-BY-4.0" {
		t.Errorf(
			"svgo: %q, %v",
			found.expression, err,
		)
	}
	found, err = readLicenses("../..")
	if err != nil || found.expression != "Apache-2.0" {
		t.Errorf(
			"this project: %q, %v",
			found.expression, err,
		)
	}
}

// TestManagers checks that the formula and the manifest name each archive with its hash, and are not written if
// an archive is missing.
func TestManagers(t *testing.T) {
	r := release{
		version: "v1.2.3-rc.1",
		out:     t.TempDir(),
	}
	names := r.archiveNames(
		"darwin_amd64",
		"darwin_arm64",
		"linux_amd64",
		"linux_arm64",
		"windows_amd64",
		"windows_arm64",
	)
	for i, name := range names {
		if err := errors.Join(r.writeHomebrew(), r.writeScoop()); err != nil {
			t.Fatal(err)
		}
		for file, complete := range map[string]int{"dptrain.rb": 4, "dptrain.json": 6} {
			_, err := os.Stat(filepath.Join(r.out, file))
			if (err == nil) != (i >= complete) {
				t.Errorf(
					"%s after %d archives: %v",
					file, i, err,
				)
			}
		}
		if err := r.writeFile(name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.writeScoop(); err != nil {
		t.Fatal(err)
	}
	var all string
	for _, file := range []string{"dptrain.rb", "dptrain.json"} {
		content, err := os.ReadFile(filepath.Join(r.out, file))
		if err != nil {
			t.Fatal(err)
		}
		all += string(content)
	}
	for _, name := range names {
		for _, want := range []string{
			"https://github.com/dptrain/dptrain/releases/download/v1.2.3-rc.1/" +
				name,
			fmt.Sprintf("%x", sha256.Sum256([]byte(name))),
		} {
			if strings.Count(all, `"`+want+`"`) != 1 {
				t.Errorf(
					"%s is not named once in %s",
					want, all,
				)
			}
		}
	}
}

// checkImage follows the descriptors of an OCI archive to the program.
func checkImage(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := untarFiles(t, content)
	blob := func(d descriptor) []byte {
		content := files[blobPath(d)]
		if len(content) != d.Size ||
			d.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256(content)) {
			t.Fatalf(
				"%+v: %d bytes",
				d, len(content),
			)
		}
		return content
	}
	var index imageIndex
	var manifest imageManifest
	var config imageConfig
	decodeJSON(t, files["index.json"], &index)
	decodeJSON(t, blob(index.Manifests[0]), &manifest)
	decodeJSON(t, blob(manifest.Config), &config)
	layer, err := gunzip(blob(manifest.Layers[0]))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("sha256:%x", sha256.Sum256(layer))
	if config.RootFS.DiffIDs[0] != want {
		t.Errorf(
			"layer %s, want %s",
			config.RootFS.DiffIDs[0], want,
		)
	}
	root := untarFiles(t, layer)
	if len(root["dptrain"]) == 0 ||
		len(root["THIRD_PARTY_LICENSES.txt"]) == 0 ||
		config.Config.User != "65532:65532" ||
		config.Config.Entrypoint[0] != "/dptrain" {
		t.Errorf(
			"%d bytes, %+v",
			len(root["dptrain"]), config.Config,
		)
	}
	var docker []dockerManifest
	decodeJSON(t, files["manifest.json"], &docker)
	if docker[0].Config != blobPath(manifest.Config) ||
		docker[0].Layers[0] != blobPath(manifest.Layers[0]) {
		t.Errorf("%+v", docker)
	}
}

func decodeJSON(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// untarFiles returns the files of a tar archive by name.
func untarFiles(t *testing.T, content []byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	tr := tar.NewReader(bytes.NewReader(content))
	for {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if out[header.Name], err = io.ReadAll(tr); err != nil {
			t.Fatal(err)
		}
	}
}

func checkWheel(t *testing.T, path string) {
	t.Helper()
	zr, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer zr.Close() //nolint:errcheck // it was read
	files := map[string]string{}
	record := ""
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
			t.Errorf(
				"%s: mode %v",
				f.Name, f.Mode(),
			)
		}
		if f.Name == "dptrain-1.2.3.dist-info/RECORD" {
			record = string(content)
		}
	}
	for _, name := range []string{"dptrain/__init__.py", "dptrain/_estimators.py",
		"dptrain/_flags.py", "dptrain/py.typed"} {
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
