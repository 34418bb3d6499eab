// Command pack turns programs built for several platforms into the published files: archives, Python wheels,
// Debian packages, container images, a Homebrew formula, a Scoop manifest, a bill of materials for each
// program, and the signed hashes of all. Equal programs give equal bytes: times are that of the commit, owners
// are 0, and files have a fixed order. scripts/release.sh builds the programs and runs it.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// mostBytes is the limit on the size of a program.
const mostBytes = 32_000_000

// A release holds the settings that the files of all platforms share.
type release struct {
	version string    // of Go, such as v1.2.3
	when    time.Time // of the commit
	source  string    // the folder of the sources
	bin     string    // contains OS_ARCH/dptrain, with .exe for Windows
	out     string
	fast    bool // archives are compressed less, for tests

	licenses *licenses
}

// A program is a program of the release for one platform.
type program struct {
	release
	tool    string // dptrain, or a program released with it
	system  string
	arch    string
	code    []byte
	bill    []byte // in CycloneDX
	notices []byte // the licences of all modules
}

func main() {
	if err := runCommand(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func runCommand(args []string, stdout io.Writer) error {
	var r release
	var seconds int64
	set := flag.NewFlagSet("pack", flag.ContinueOnError)
	set.StringVar(&r.version, "version", "", "the version, such as v1.2.3")
	set.Int64Var(&seconds, "time", 0, "the time of the commit, in seconds since 1970")
	set.StringVar(&r.source, "source", ".", "the folder of the sources")
	set.StringVar(&r.bin, "bin", "", "the folder of the programs")
	set.StringVar(&r.out, "out", "", "the folder to write to")
	set.BoolVar(&r.fast, "fast", false, "compress less, for tests of the files")
	cache := set.String("modcache", "", "the folder of GOMODCACHE")
	goRoot := set.String("goroot", "", "the folder of GOROOT")
	if err := set.Parse(args); err != nil {
		return err
	}
	r.when = time.Unix(seconds, 0).UTC()
	r.licenses = &licenses{*cache, *goRoot, map[string]licensed{}}
	names, err := filepath.Glob(filepath.Join(r.bin, "*_*"))
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no program in %s", r.bin)
	}
	for _, name := range names {
		if err := r.packPlatform(filepath.Base(name), stdout); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
	}
	for _, step := range []func() error{r.writeHomebrew, r.writeScoop, r.writeSums} {
		if err := step(); err != nil {
			return err
		}
	}
	return r.signFiles(stdout)
}

// tools are the programs of a release. Wheels and packages contain the first one too.
var tools = []string{"dptrain", "dptrain-spark", "dptrain-sql"}

// packPlatform writes the files of one platform.
func (r release) packPlatform(platform string, stdout io.Writer) error {
	system, arch, ok := strings.Cut(platform, "_")
	if !ok {
		return errors.New("is no platform, such as linux_amd64")
	}
	for _, tool := range tools {
		p := program{
			release: r,
			tool:    tool,
			system:  system,
			arch:    arch,
		}
		if err := p.packAll(platform, stdout); err != nil {
			return fmt.Errorf("%s: %w", tool, err)
		}
	}
	return nil
}

// packAll writes the files of one program.
func (p *program) packAll(platform string, stdout io.Writer) error {
	path := filepath.Join(p.bin, platform, p.executable())
	var err error
	if p.code, err = os.ReadFile(path); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%-14s %-14s %11d bytes\n", platform, p.tool, len(p.code))
	if len(p.code) >= mostBytes {
		return fmt.Errorf("the program has %d bytes and must stay below %d: see docs/lab/size.md",
			len(p.code), mostBytes)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	if p.bill, err = p.makeBill(info); err != nil {
		return err
	}
	if p.notices, err = p.licenses.thirdParty(info); err != nil {
		return err
	}
	if err := p.writeFile(p.baseName()+".cdx.json", p.bill); err != nil {
		return err
	}
	steps := []func() error{p.packArchive}
	if p.tool == tools[0] {
		steps = append(steps, p.packWheel)
	}
	if p.tool == tools[0] && p.system == "linux" {
		steps = append(steps, p.packDebian, p.packImage)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) executable() string {
	if p.system == "windows" {
		return p.tool + ".exe"
	}
	return p.tool
}

func (p *program) baseName() string {
	return p.tool + "_" + strings.TrimPrefix(p.version, "v") + "_" + p.system + "_" + p.arch
}

func (r release) writeFile(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644) //nolint:gosec // to be published
}

func (r release) readFile(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(r.source, filepath.FromSlash(name)))
}

// writeSums writes SHA256SUMS, which sha256sum -c reads.
func (r release) writeSums() error {
	names, err := filepath.Glob(filepath.Join(r.out, "dptrain*"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	var list strings.Builder
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(content), filepath.Base(name))
	}
	return r.writeFile("SHA256SUMS", []byte(list.String()))
}
