package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// tags are the platforms of wheels. The program for Linux is static, so it runs with any C library. The oldest
// macOS is that of Go 1.26.
var tags = map[string]string{
	"linux_amd64":   "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"linux_arm64":   "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin_amd64":  "macosx_12_0_x86_64",
	"darwin_arm64":  "macosx_12_0_arm64",
	"windows_amd64": "win_amd64",
	"windows_arm64": "win_arm64",
}

// packWheel writes the Python package with the program inside, in the binary distribution format of
// https://packaging.python.org/en/latest/specifications/binary-distribution-format/.
func (p *program) packWheel() error {
	tag, ok := tags[p.system+"_"+p.arch]
	if !ok {
		return fmt.Errorf("no wheel is known for %s on %s", p.system, p.arch)
	}
	version := pythonVersion(p.version)
	info := "dptrain-" + version + ".dist-info/"
	files, err := p.moduleFiles()
	if err != nil {
		return err
	}
	files = append(files, file{"dptrain/bin/" + p.executable(), p.code, true})
	licence, err := p.readFile("LICENSE")
	if err != nil {
		return err
	}
	readme, err := p.readFile("python/README.md")
	if err != nil {
		return err
	}
	files = append(files,
		file{info + "METADATA", []byte(pythonMetadata(version) + string(readme)), false},
		file{info + "WHEEL",
			[]byte("Wheel-Version: 1.0\nGenerator: dptrain-pack\nRoot-Is-Purelib: false\n" +
				tagLines(tag)), false},
		file{info + "entry_points.txt",
			[]byte("[console_scripts]\ndptrain = dptrain.__main__:main\n"), false},
		file{info + "licenses/LICENSE", licence, false},
		file{info + "licenses/THIRD_PARTY_LICENSES.txt", p.notices, false},
		file{info + "sboms/dptrain.cdx.json", p.bill, false},
	)
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.content)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name,
			base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	record.WriteString(info + "RECORD,,\n")
	content, err := p.newZip(append(files, file{info + "RECORD", []byte(record.String()), false}))
	if err != nil {
		return err
	}
	return p.writeFile("dptrain-"+version+"-py3-none-"+tag+".whl", content)
}

// tagLines writes a compressed set of platforms as one tag per line.
func tagLines(tag string) string {
	var out strings.Builder
	for platform := range strings.SplitSeq(tag, ".") {
		out.WriteString("Tag: py3-none-" + platform + "\n")
	}
	return out.String()
}

// moduleFiles reads the files of the Python package, in order.
func (p *program) moduleFiles() ([]file, error) {
	var out []file
	root := filepath.Join(p.source, "python")
	err := fs.WalkDir(os.DirFS(root), "dptrain", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() ||
			!strings.HasSuffix(name, ".py") && !strings.HasSuffix(name, "py.typed") {
			return err
		}
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		out = append(out, file{name, content, false})
		return err
	})
	slices.SortFunc(out, func(a, b file) int {
		return strings.Compare(a.name, b.name)
	})
	return out, err
}

func pythonMetadata(version string) string {
	return `Metadata-Version: 2.4
Name: dptrain
Version: ` + version + `
Summary: Differentially private training of regressions and classifiers
License-Expression: Apache-2.0
License-File: LICENSE
License-File: THIRD_PARTY_LICENSES.txt
Requires-Python: >=3.10
Requires-Dist: numpy>=1.22
Provides-Extra: arrow
Requires-Dist: pyarrow>=11; extra == "arrow"
Provides-Extra: sklearn
Requires-Dist: scikit-learn>=1.2; extra == "sklearn"
Description-Content-Type: text/markdown

`
}

var pseudo = regexp.MustCompile(`^(?:.*\.)?(\d{14})-[0-9a-f]{12}$`)

// pythonVersion converts a version of Go to PEP 440: v1.2.3-rc.1 becomes 1.2.3rc1, and a commit without a tag a
// development release with its time.
func pythonVersion(version string) string {
	m := goVersion.FindStringSubmatch(version)
	switch {
	case m == nil:
		return "0.0.0.dev0"
	case m[2] == "":
		return m[1]
	}
	if at := pseudo.FindStringSubmatch(m[2]); at != nil {
		return m[1] + ".dev" + at[1]
	}
	if pre := regexp.MustCompile(`^(alpha|beta|rc)\.?(\d+)$`).FindStringSubmatch(m[2]); pre != nil {
		return m[1] + map[string]string{
			"alpha": "a",
			"beta":  "b",
			"rc":    "rc",
		}[pre[1]] + pre[2]
	}
	return m[1] + ".dev0"
}
