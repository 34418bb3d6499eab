package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// hexHash returns the SHA-256 hash of data in hexadecimal digits.
func hexHash(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}

// forgeModel replaces the intercept of the model in dir and recomputes all hashes.
func forgeModel(t *testing.T, dir string) {
	t.Helper()
	model := readFile(t, filepath.Join(dir, "model.json"))
	edited := regexp.MustCompile(`"intercept": {"coefficient":[-0-9.e+]+`).ReplaceAllString(
		model,
		`"intercept": {"coefficient":12345`,
	)
	if edited == model {
		t.Fatal("the model has no intercept")
	}
	writeFile(t, filepath.Join(dir, "model.json"), edited)
	s, err := report.ReadSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	var page, encoded bytes.Buffer
	if err := report.HTML(&page, s); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "report.html"), page.String())
	s.Report.Files.Model = hexHash(edited)
	s.Report.Files.Page = hexHash(page.String())
	if err := report.Encode(&encoded, s.Report); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "report.json"), encoded.String())
}

// TestVerifyKeyRejectsEditedRelease checks that verify --key accepts a signed release and rejects one with edited
// coefficients, even if all hashes were recomputed and verify without the key reports no problem.
func TestVerifyKeyRejectsEditedRelease(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(20000))
	for _, args := range [][]string{
		{
			"fit",
			"--data", "line.csv",
			"--target", "y",
			"--epsilon", "1",
			"--method", "adassp",
			"--quiet",
		},
		{"sign", "--new", "my.key"},
		{"sign", "--new", "other.key"},
		{"sign", "out", "--key", "my.key"},
		{"verify", "out", "--key", "my.pub"},
		{"verify", "out/release"},
	} {
		got := dptrain(t, args...)
		if got.code != exitOK {
			t.Fatalf("%v: %+v", args, got)
		}
	}
	public := strings.Split(readFile(t, "my.pub"), "\n")[1]
	if got := dptrain(t, "verify", "out", "--key", public); got.code != exitOK ||
		!strings.Contains(got.stdout, "signature: report.json was signed with the key ") {
		t.Errorf("a key as text: %+v", got)
	}
	if got := dptrain(t, "verify", "out", "--key", "other.pub"); got.code != exitBroken ||
		!strings.Contains(got.stdout, "it was made with another key") {
		t.Errorf("another key: %+v", got)
	}
	if got := dptrain(t, "sign", "out", "--key", "my.key"); got.code != exitUsage ||
		!strings.Contains(got.stderr, "already exists") {
		t.Errorf("a signature was replaced: %+v", got)
	}
	forgeModel(t, "out/release")
	if got := dptrain(t, "verify", "out"); got.code != exitOK {
		t.Errorf("without the key: %+v", got)
	}
	got := dptrain(
		t, "verify", "out",
		"--key", "my.pub",
	)
	if got.code != exitBroken ||
		!strings.Contains(strings.Join(strings.Fields(got.stdout), " "),
			"failed signature: report.json.minisig: the signature does not match") {
		t.Errorf("an edited intercept: %+v", got)
	}
	got = dptrain(
		t, "sign", "out",
		"--key", "other.key",
		"--force",
	)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	if got := dptrain(t, "verify", "out", "--key", "my.pub"); got.code != exitBroken {
		t.Errorf("signed by somebody else: %+v", got)
	}
	writeFile(t, "out/release/recipe.yaml", "edited")
	got = dptrain(
		t, "sign", "out",
		"--key", "my.key",
		"--force",
	)
	if got.code != exitBroken ||
		!strings.Contains(got.stderr, "it was not signed") {
		t.Errorf(
			"a release that does not fit was signed: %+v",
			got,
		)
	}
	got = dptrain(t, "fit",
		"--data", "line.csv",
		"--target", "y",
		"--epsilon", "1",
		"--quiet",
		"--force",
	)
	if got.code != exitOK {
		t.Errorf(
			"a signature is in the way of a new run: %+v",
			got,
		)
	}
	_, err := os.Stat("out/release/report.json.minisig")
	if err == nil {
		t.Error("the signature of the former release was kept")
	}
}

// TestSigningKeys checks that only the owner can read a key file, that it is never replaced, that it may be
// encrypted, and that mistakes have clear errors.
func TestSigningKeys(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(2000))
	writeFile(t, "text", "no key\n")
	writeFile(t, "word", "secret\n")
	writeFile(t, "wrong", "Secret\n")
	for _, name := range []string{"word", "wrong"} {
		if err := os.Chmod(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{
			"fit", "--data", "line.csv",
			"--target", "y", "--epsilon",
			"1", "--quiet",
		},
		{
			"sign", "--new", "my.key",
			"--password-file", "word",
		},
		{
			"sign", "out", "--key",
			"my.key", "--password-file",
			"word",
		},
		{"verify", "out", "--key", "my.pub"},
	} {
		got := dptrain(t, args...)
		if got.code != exitOK || strings.Contains(got.stderr, "no password") {
			t.Fatalf("%v: %+v", args, got)
		}
	}
	got := dptrain(t, "sign", "--new", "open.key")
	if got.code != exitOK ||
		!strings.Contains(got.stderr, "note: open.key has no password") {
		t.Errorf("%+v", got)
	}
	tests := []struct {
		args []string
		want string
	}{
		{
			[]string{"sign", "--new", "my.key"},
			"my.key: the file already exists",
		},
		{
			[]string{
				"sign", "out", "--key",
				"my.key", "--force",
			},
			"--password-file",
		},
		{
			[]string{
				"sign", "out",
				"--key", "my.key",
				"--password-file", "wrong",
				"--force",
			},
			"the password is wrong",
		},
		{
			[]string{
				"sign", "out", "--key",
				"my.pub", "--force",
			},
			"my.pub: ",
		},
		{
			[]string{"verify", "out", "--key", "my.key"},
			"this is a secret key",
		},
		{
			[]string{"verify", "out", "--key", "none.pub"},
			"none.pub: ",
		},
		{
			[]string{"verify", "out", "--key", "text"},
			"text: not a minisign key",
		},
		{
			[]string{"verify", "out", "--key", "line.csv"},
			"line.csv: it is too large to be a key",
		},
		{[]string{"sign", "out"}, "--key"},
		{[]string{"sign"}, "name the release"},
		{
			[]string{"sign", "out", "--new", "x.key"},
			"--new only creates a key",
		},
	}
	if runtime.GOOS != "windows" {
		info, err := os.Stat("my.key")
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		if err := os.Chmod("open.key", 0o644); err != nil {
			t.Fatal(err)
		}
		tests = append(tests, struct {
			args []string
			want string
		}{
			[]string{
				"sign", "out", "--key",
				"open.key", "--force",
			},
			"other users can read it",
		})
	}
	for _, tt := range tests {
		got := dptrain(t, tt.args...)
		if got.code != exitUsage || !strings.Contains(got.stderr, tt.want) {
			t.Errorf("%v: %+v", tt.args, got)
		}
	}
}

// TestSignaturesOfTasks: the release of every task can be signed, and fits afterwards with and without the key. An edit
// of its report does not.
func TestSignaturesOfTasks(t *testing.T) {
	data, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	chdirTemp(t)
	got := dptrain(t, "sign", "--new", "my.key")
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	for file, args := range map[string][]string{
		"causal.json": {
			"causal",
			"--data", filepath.Join(data, "doses.csv"),
			"--columns", "dose,response",
			"--epsilon", "2",
		},
		"describe.json": {
			"describe", filepath.Join(data, "visits.csv"),
			"--columns", "age,dose",
			"--epsilon", "2",
		},
	} {
		out := strings.TrimSuffix(file, ".json")
		for _, args := range [][]string{
			append(args, "--out", out, "--quiet"),
			{"sign", out, "--key", "my.key"},
			{"verify", out},
			{"verify", out, "--key", "my.pub"},
		} {
			got := dptrain(t, args...)
			if got.code != exitOK {
				t.Fatalf("%v: %+v", args, got)
			}
		}
		path := filepath.Join(out, "release", file)
		writeFile(t, path, readFile(t, path)+"\n")
		got := dptrain(t, "verify", out, "--key", "my.pub")
		if got.code != exitBroken ||
			!strings.Contains(joinWords(got.stdout), "the signature does not match") {
			t.Errorf(
				"an edit of %s: %+v",
				file, got,
			)
		}
	}
}
