package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	repository  = "https://github.com/dptrain/dptrain"
	description = "Differentially private training of regressions and classifiers"
)

// downloadAddress returns the download URL of a file of the release.
func (r release) downloadAddress(name string) string {
	return repository + "/releases/download/" + r.version + "/" + name
}

// hashesOf returns the SHA-256 of each named file of the release, or nil if a file was not built.
func (r release) hashesOf(names ...string) ([]string, error) {
	var out []string
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprintf("%x", sha256.Sum256(content)))
	}
	return out, nil
}

// archiveNames returns the names of the archives of dptrain for some platforms.
func (r release) archiveNames(platforms ...string) []string {
	var out []string
	for _, platform := range platforms {
		system, arch, _ := strings.Cut(platform, "_")
		p := program{
			release: r,
			tool:    tools[0],
			system:  system,
			arch:    arch,
		}
		out = append(out, p.archiveName())
	}
	return out
}

// writeHomebrew writes the formula dptrain.rb if the archives for macOS and Linux were built.
func (r release) writeHomebrew() error {
	names := r.archiveNames(
		"darwin_amd64",
		"darwin_arm64",
		"linux_amd64",
		"linux_arm64",
	)
	hashes, err := r.hashesOf(names...)
	if err != nil || hashes == nil {
		return err
	}
	var out strings.Builder
	fmt.Fprintf(&out, `class Dptrain < Formula
  desc %q
  homepage %q
  version %q
  license "Apache-2.0"

`, description, repository, r.version[1:])
	for i, system := range []string{"macos", "linux"} {
		intel := 2 * i
		arm := 2*i + 1
		fmt.Fprintf(&out, `  on_%s do
    on_intel do
      url %q
      sha256 %q
    end
    on_arm do
      url %q
      sha256 %q
    end
  end

`, system, r.downloadAddress(names[intel]), hashes[intel], r.downloadAddress(names[arm]), hashes[arm])
	}
	out.WriteString(`  def install
    bin.install "dptrain"
    doc.install "README.md", "CHANGELOG.md", "THIRD_PARTY_LICENSES.txt"
    generate_completions_from_executable(bin/"dptrain", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/dptrain version")
    (testpath/"table.csv").write "x,y\n1,2\n"
    system bin/"dptrain", "plan", "--data", "table.csv", "--target", "y", "--epsilon", "1"
  end
end
`)
	return r.writeFile("dptrain.rb", []byte(out.String()))
}

// The used parts of a Scoop manifest.
type (
	scoopManifest struct {
		Version      string                   `json:"version"`
		Description  string                   `json:"description"`
		Homepage     string                   `json:"homepage"`
		License      string                   `json:"license"`
		Architecture map[string]scoopDownload `json:"architecture"`
		Bin          string                   `json:"bin"`
	}
	scoopDownload struct {
		URL        string `json:"url"`
		Hash       string `json:"hash"`
		ExtractDir string `json:"extract_dir"`
	}
)

// writeScoop writes the manifest dptrain.json if the archives for Windows were built.
func (r release) writeScoop() error {
	names := r.archiveNames("windows_amd64", "windows_arm64")
	hashes, err := r.hashesOf(names...)
	if err != nil || hashes == nil {
		return err
	}
	m := scoopManifest{
		Version:      r.version[1:],
		Description:  description,
		Homepage:     repository,
		License:      "Apache-2.0",
		Architecture: map[string]scoopDownload{},
		Bin:          "dptrain.exe",
	}
	for i, architecture := range []string{"64bit", "arm64"} {
		m.Architecture[architecture] = scoopDownload{r.downloadAddress(names[i]), hashes[i],
			strings.TrimSuffix(names[i], ".zip")}
	}
	text, err := json.MarshalIndent(m, "", "    ")
	if err != nil {
		return err
	}
	return r.writeFile("dptrain.json", append(text, '\n'))
}
