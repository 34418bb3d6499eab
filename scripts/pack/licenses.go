package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/google/licensecheck"
	"golang.org/x/mod/module"
)

// minCover is the minimum share of a licence file, in percent, that must match known licences.
const minCover = 75

// A licensed module has the licences of its files as an SPDX expression, and their texts.
type licensed struct {
	expression string
	texts      []string
}

// licenses classifies the licence files of modules. It reads the modules from the module cache, so
// it must run on the machine that built the program.
type licenses struct {
	cache  string // GOMODCACHE
	goRoot string // GOROOT
	known  map[string]licensed
}

// forModule returns the licences of a module of a program. A module without a recognised licence is an error.
func (l *licenses) forModule(m *debug.Module) (licensed, error) {
	path, version := effectiveModule(m)
	key := path + "@" + version
	if found, ok := l.known[key]; ok {
		return found, nil
	}
	escaped, err := module.EscapePath(path)
	if err != nil {
		return licensed{}, err
	}
	escapedVersion, err := module.EscapeVersion(version)
	if err != nil {
		return licensed{}, err
	}
	folder := filepath.Join(l.cache, filepath.FromSlash(escaped)+"@"+escapedVersion)
	found, err := readLicenses(folder)
	if err != nil {
		return licensed{}, fmt.Errorf("the licence of %s: %w", key, err)
	}
	l.known[key] = found
	return found, nil
}

// ofGo returns the licence of the standard library.
func (l *licenses) ofGo() (licensed, error) {
	return readLicenses(l.goRoot)
}

var licenseName = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice)([.-].*)?$`)

// maxReferenceWords is the maximum size of a file that refers to a licence instead of stating it.
const maxReferenceWords = 60

// readLicenses classifies the licence files of a folder. Every file must match known licences in
// most of its words, with two exceptions: files of the name NOTICE, and short files that refer to a
// licence which another file states.
func readLicenses(folder string) (licensed, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return licensed{}, err
	}
	var out licensed
	var ids []string
	references := map[string][]string{} // licences by file
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenseName.MatchString(e.Name()) ||
			filepath.Ext(e.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return licensed{}, err
		}
		out.texts = append(out.texts, string(text))
		if strings.HasPrefix(strings.ToLower(e.Name()), "notice") {
			continue
		}
		cover := licensecheck.Scan(text)
		var found []string
		for _, match := range cover.Match {
			found = append(found, match.ID)
		}
		switch {
		case cover.Percent >= minCover:
			ids = append(ids, found...)
		case len(found) > 0 && len(strings.Fields(string(text))) <= maxReferenceWords:
			references[e.Name()] = found
		default:
			return licensed{},
				fmt.Errorf("%s matches known licences in %.0f%% of its words, want %d%%", e.Name(),
					cover.Percent, minCover)
		}
	}
	for name, found := range references {
		for _, id := range found {
			if !slices.Contains(ids, id) {
				return licensed{},
					fmt.Errorf("%s refers to the licence %s, which no file states", name, id)
			}
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return licensed{}, errors.New("there is no licence file")
	}
	out.expression = strings.Join(ids, " AND ")
	return out, nil
}

// thirdParty writes the licence texts of all modules of a program, for the archives and packages
// that carry it.
func (l *licenses) thirdParty(info *debug.BuildInfo) ([]byte, error) {
	var out strings.Builder
	out.WriteString("The licences of the software that this program contains.\n")
	add := func(name string, found licensed) {
		fmt.Fprintf(&out, "\n%s\n%s (%s)\n%s\n\n", strings.Repeat("=", 80), name, found.expression,
			strings.Repeat("=", 80))
		for _, text := range found.texts {
			out.WriteString(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) + "\n")
		}
	}
	found, err := l.ofGo()
	if err != nil {
		return nil, err
	}
	add("the Go standard library "+info.GoVersion, found)
	for _, m := range info.Deps {
		if found, err = l.forModule(m); err != nil {
			return nil, err
		}
		path, version := effectiveModule(m)
		add(path+" "+version, found)
	}
	return []byte(out.String()), nil
}
