package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// packDebian writes a Debian package: the program and its licences, without scripts that run at installation.
// Its layout is that of deb(5): an ar archive with a version, a control archive and a data archive.
func (p *program) packDebian() error {
	licence, err := p.readFile("LICENSE")
	if err != nil {
		return err
	}
	version := debianVersion(p.version)
	control := fmt.Sprintf(`Package: dptrain
Version: %s
Architecture: %s
Maintainer: the dptrain authors <dptrain@example.invalid>
Installed-Size: %d
Section: science
Priority: optional
Description: differentially private training of regressions and classifiers
 dptrain trains models on tables of records about people. What it publishes
 hides, up to a budget epsilon, whether any one record was in the table.
`, version, p.arch, (len(p.code)+len(licence)+len(p.notices)+len(p.bill)+1023)/1024)
	control2, err := p.newTarball([]file{{"./", nil, false}, {"./control", []byte(control), false}})
	if err != nil {
		return err
	}
	data, err := p.newTarball([]file{
		{"./", nil, false},
		{"./usr/", nil, false},
		{"./usr/bin/", nil, false},
		{"./usr/bin/dptrain", p.code, true},
		{"./usr/share/", nil, false},
		{"./usr/share/doc/", nil, false},
		{"./usr/share/doc/dptrain/", nil, false},
		{"./usr/share/doc/dptrain/copyright", licence, false},
		{"./usr/share/doc/dptrain/third-party-licenses", p.notices, false},
		{"./usr/share/doc/dptrain/dptrain.cdx.json", p.bill, false},
	})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	for _, f := range []file{
		{"debian-binary", []byte("2.0\n"), false},
		{"control.tar.gz", control2, false},
		{"data.tar.gz", data, false},
	} {
		fmt.Fprintf(&out, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, p.when.Unix(), 0, 0, 0o100644,
			len(f.content))
		out.Write(f.content)
		if len(f.content)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	// The name has the version in its usual form: release hosts rename files with a tilde.
	return p.writeFile("dptrain_"+p.version[1:]+"_"+p.arch+".deb", out.Bytes())
}

var goVersion = regexp.MustCompile(`^v(\d+\.\d+\.\d+)(?:-(.+?))?(?:\+.*)?$`)

// debianVersion converts a version so that a pre-release sorts before its release.
func debianVersion(version string) string {
	m := goVersion.FindStringSubmatch(version)
	if m == nil {
		return "0~" + regexp.MustCompile(`[^A-Za-z0-9.]`).ReplaceAllString(version, ".")
	}
	if m[2] == "" {
		return m[1]
	}
	return m[1] + "~" + strings.ReplaceAll(m[2], "-", ".")
}
