package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"
)

// The used parts of a CycloneDX 1.5 bill of materials (https://cyclonedx.org/docs/1.5/json/).
type (
	cycloneDX struct {
		Schema       string       `json:"$schema"`
		Format       string       `json:"bomFormat"`
		SpecVersion  string       `json:"specVersion"`
		SerialNumber string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Ref        string     `json:"bom-ref"`
		Type       string     `json:"type"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		PURL       string     `json:"purl"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Licenses   []licence  `json:"licenses,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	licence struct {
		Expression string `json:"expression"` // of SPDX
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// makeBill lists the modules of a program with their versions, licences and sums of go.sum, the standard
// library, and the build settings. The serial number is derived from the hash of the program.
func (p *program) makeBill(info *debug.BuildInfo) ([]byte, error) {
	sum := sha256.Sum256(p.code)
	main := goModule(info.Main.Path, p.version)
	main.Type = "application"
	main.Hashes = []hash{{"SHA-256", fmt.Sprintf("%x", sum)}}
	main.Licenses = []licence{{"Apache-2.0"}}
	for _, s := range info.Settings {
		main.Properties = append(main.Properties, property{"go:build:" + s.Key, s.Value})
	}
	found, err := p.licenses.ofGo()
	if err != nil {
		return nil, err
	}
	library := goModule("std", info.GoVersion)
	library.Licenses = []licence{{found.expression}}
	b := cycloneDX{
		Schema:       "http://cyclonedx.org/schema/bom-1.5.schema.json",
		Format:       "CycloneDX",
		SpecVersion:  "1.5",
		Version:      1,
		SerialNumber: serialNumber(sum),
		Metadata:     metadata{p.when.Format(time.RFC3339), main},
		Components:   []component{library},
	}
	direct := dependency{main.Ref, []string{library.Ref}}
	for _, d := range info.Deps {
		c := goModule(effectiveModule(d))
		if found, err = p.licenses.forModule(d); err != nil {
			return nil, err
		}
		c.Licenses = []licence{{found.expression}}
		if d.Sum != "" {
			c.Properties = []property{{"go:sum", d.Sum}}
		}
		b.Components = append(b.Components, c)
		direct.DependsOn = append(direct.DependsOn, c.Ref)
	}
	b.Dependencies = []dependency{direct}
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

func effectiveModule(m *debug.Module) (path, version string) {
	if m.Replace != nil {
		m = m.Replace
	}
	return m.Path, m.Version
}

func goModule(path, version string) component {
	url := "pkg:golang/" + path + "@" + version
	return component{
		Ref:     url,
		Type:    "library",
		Name:    path,
		Version: version,
		PURL:    url,
	}
}

// serialNumber derives a UUID of version 8 from a hash.
func serialNumber(sum [sha256.Size]byte) string {
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return fmt.Sprintf(
		"urn:uuid:%x-%x-%x-%x-%x",
		id[:4],
		id[4:6],
		id[6:8],
		id[8:10],
		id[10:],
	)
}
