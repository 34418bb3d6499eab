package sign

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The key and the signature below were published with minisign 0.10 in its documentation and in its tests.
const (
	knownKey       = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
	knownSignature = `untrusted comment: signature from minisign secret key
RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSSbXxwA=
trusted comment: timestamp:1555779966	file:test
QtKMXWyYcwdpZAlPF7tE2ENJkRd1ujvKjlj1m9RtHTBnZPa5WKU5uWRs5GoP5M/VqE81QFuMKI5k/SfNQUaOAA==
`
)

// TestKnownSignature checks that a signature made by minisign, of the file with the text "test", is verified.
func TestKnownSignature(t *testing.T) {
	k, err := ParsePublicKey([]byte(knownKey))
	if err != nil ||
		k.String() != knownKey ||
		k.ID.String() != "E7620F1842B4E81F" {
		t.Fatal(k, err)
	}
	comment, err := k.Verify([]byte("test"), []byte(knownSignature))
	if err != nil || comment != "timestamp:1555779966\tfile:test" {
		t.Errorf("%q, %v", comment, err)
	}
	_, err = k.Verify([]byte("Test"), []byte(knownSignature))
	if !errors.Is(err, ErrForged) {
		t.Error(err)
	}
}

// TestSign checks that the public key verifies the signatures of its secret key, and that every edit of the file, the
// signature or the comment is detected.
func TestSign(t *testing.T) {
	k, err := Generate()
	if err != nil {
		t.Fatal(err)
	}
	other, err := Generate()
	if err != nil {
		t.Fatal(err)
	}
	data := []byte("a report")
	signature := string(k.Sign(data, "timestamp:1\tfile:report.json\thashed"))
	public, err := ParsePublicKey(k.Public().File())
	if err != nil || public != k.Public() {
		t.Fatal(err)
	}
	comment, err := public.Verify(data, []byte(signature))
	if err != nil || comment != "timestamp:1\tfile:report.json\thashed" {
		t.Fatalf("%q, %v", comment, err)
	}
	comment, err = public.Verify(
		data,
		[]byte(strings.ReplaceAll(signature, "\n", "\r\n")),
	)
	if err != nil || strings.Contains(comment, "\r") {
		t.Errorf("%q, %v", comment, err)
	}
	lines := strings.SplitAfter(signature, "\n")
	for name, tt := range map[string]struct {
		data, signature string
		key             PublicKey
		want            error
	}{
		"data": {"A report", signature, public, ErrForged},
		"comment": {
			"a report",
			strings.Replace(signature, "timestamp:1", "timestamp:2", 1),
			public,
			ErrComment,
		},
		"key": {"a report", signature, other.Public(), ErrOtherKey},
		"key of that name": {
			"a report",
			signature,
			PublicKey{public.ID, other.Public().key},
			ErrForged,
		},
		"other signature": {
			"a report",
			strings.Replace(signature, lines[1], linesWith(other, k, data), 1),
			public,
			ErrForged,
		},
		"no comment": {"a report", lines[0] + lines[1], public, ErrSignature},
		"empty":      {"a report", "", public, ErrSignature},
		"base64": {
			"a report",
			strings.Replace(signature, lines[3], "!\n", 1),
			public,
			ErrSignature,
		},
	} {
		_, err := tt.key.Verify(
			[]byte(tt.data),
			[]byte(tt.signature),
		)
		if !errors.Is(err, tt.want) {
			t.Errorf(
				"%s: %v, want %v",
				name, err, tt.want,
			)
		}
	}
}

// linesWith returns the line of a signature by forger under the identifier of k.
func linesWith(forger, k *SecretKey, data []byte) string {
	forged := &SecretKey{k.id, forger.key}
	return strings.SplitAfter(string(forged.Sign(data, "")), "\n")[1]
}

// TestSecretKeyFiles checks that a key can be read back with and without a password, and that a wrong password or a
// damaged file is rejected.
func TestSecretKeyFiles(t *testing.T) {
	k, err := Generate()
	if err != nil {
		t.Fatal(err)
	}
	open, err := k.File(nil)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := k.File([]byte("word"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		file, password string
		want           error
	}{
		{string(open), "", nil},
		{string(open), "unused", nil},
		{string(locked), "word", nil},
		{string(locked), "", ErrEncrypted},
		{string(locked), "Word", ErrPassword},
		{"", "", ErrKey},
		{string(k.Public().File()), "", ErrKey},
		{
			strings.Replace(string(open), "RWQ", "RWR", 1),
			"", ErrKey,
		},
		{string(open[:len(open)-20]), "", ErrKey},
	} {
		got, err := ParseSecretKey([]byte(tt.file), []byte(tt.password))
		if !errors.Is(err, tt.want) ||
			err == nil && got.Public() != k.Public() {
			t.Errorf(
				"%q: %v, want %v",
				tt.password, err, tt.want,
			)
		}
	}
	edited := slices.Clone(open)
	at := len(edited) - 60 // within the key
	edited[at] ^= 1
	_, err = ParseSecretKey(edited, nil)
	if !errors.Is(err, ErrPassword) && !errors.Is(err, ErrKey) {
		t.Errorf("a damaged key: %v", err)
	}
}

// TestScryptParameters checks that the limits of minisign and of this package give the same parameters as libsodium.
func TestScryptParameters(t *testing.T) {
	for _, tt := range []struct {
		ops, memory uint64
		n, r, p     int
	}{
		{1 << 25, 1 << 30, 1 << 20, 8, 1},
		{opsLimit, memoryLimit, 1 << 17, 8, 1},
		{1 << 19, 1 << 24, 1 << 14, 8, 1},
		{0, 1 << 30, 1 << 10, 8, 1},
	} {
		n, r, p := scryptParameters(tt.ops, tt.memory)
		if n != tt.n || r != tt.r || p != tt.p {
			t.Errorf(
				"%d, %d: %d, %d, %d",
				tt.ops, tt.memory, n, r, p,
			)
		}
	}
}

func TestSecretFilesArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k")
	err := WriteNew(path, []byte("x"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	err = WriteNew(path, []byte("y"), 0o600)
	if !errors.Is(err, os.ErrExist) {
		t.Errorf("a file was replaced: %v", err)
	}
	data, err := ReadSecretFile(path)
	if err != nil || string(data) != "x" {
		t.Errorf("%q, %v", data, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := ReadSecretFile(path)
		if !errors.Is(err, ErrReadable) {
			t.Errorf("%v: %v", mode, err)
		}
	}
}
