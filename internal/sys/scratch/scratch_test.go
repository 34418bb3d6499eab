package scratch

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func createScratch(t *testing.T, folder string) *File {
	t.Helper()
	f, err := Create(folder, [KeySize]byte{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = f.Close()
	})
	return f
}

func writeData(t *testing.T, f *File, p *Place, data []byte) {
	t.Helper()
	if _, err := f.Write(p, data, nil); err != nil {
		t.Fatal(err)
	}
}

func readData(t *testing.T, f *File, p Place) []byte {
	t.Helper()
	data, err := f.Read(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestScratchRoundTrip(t *testing.T) {
	f := createScratch(t, t.TempDir())
	a := f.Reserve(1000)
	b := f.Reserve(70)
	first := bytes.Repeat([]byte("a"), 1000)
	second := bytes.Repeat([]byte("b"), 70)
	writeData(t, f, &a, first)
	writeData(t, f, &b, second)
	if !bytes.Equal(readData(t, f, a), first) ||
		!bytes.Equal(readData(t, f, b), second) {
		t.Error("other bytes than were written")
	}
	writeData(t, f, &a, bytes.Repeat([]byte("c"), 1000))
	got := readData(t, f, a)
	if !bytes.Equal(got, bytes.Repeat([]byte("c"), 1000)) ||
		!bytes.Equal(readData(t, f, b), second) {
		t.Error("other bytes than were written at last")
	}
	size := f.Size()
	f.Release(b)
	c := f.Reserve(70)
	if c.at != b.at || f.Size() != size {
		t.Error("a place that was given back is not used again")
	}
}

// TestScratchBytesLookRandom checks that no written byte string appears in the file, and that the same bytes are never
// stored in the same form.
func TestScratchBytesLookRandom(t *testing.T) {
	f := createScratch(t, t.TempDir())
	p := f.Reserve(4096)
	text := bytes.Repeat([]byte("private!"), 512)
	var seen [][]byte
	for range 3 {
		writeData(t, f, &p, text)
		raw := make([]byte, f.Size())
		if _, err := f.file.ReadAt(raw, 0); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte("private!")) {
			t.Error("cells can be read in the file")
		}
		for _, other := range seen {
			if bytes.Equal(raw[:64], other[:64]) {
				t.Error("one key stream is used twice")
			}
		}
		seen = append(seen, raw)
	}
}

func TestDamageIsNoticed(t *testing.T) {
	f := createScratch(t, t.TempDir())
	p := f.Reserve(100)
	writeData(t, f, &p, make([]byte, 100))
	older := p
	writeData(t, f, &p, make([]byte, 100))
	_, err := f.Read(older, nil)
	if !errors.Is(err, ErrRead) {
		t.Errorf("what was replaced: %v", err)
	}
	_, err = f.file.WriteAt([]byte{77}, 50)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Read(p, nil)
	if !errors.Is(err, ErrRead) {
		t.Errorf("a damaged place: %v", err)
	}
	if err := f.file.Truncate(60); err != nil {
		t.Fatal(err)
	}
	_, err = f.Read(p, nil)
	if !errors.Is(err, ErrRead) {
		t.Errorf("a truncated file: %v", err)
	}
	_, err = f.Write(&p, make([]byte, 99), nil)
	if err == nil {
		t.Error("fewer bytes than their place has")
	}
	_, err = f.Read(f.Reserve(10), nil)
	if err == nil {
		t.Error("a place that was never written")
	}
}

// TestClosedScratchLeavesNoFile checks that an open file has no name, that a closed file leaves no folder, and that the
// remains of a killed process are removed when the next one starts.
func TestClosedScratchLeavesNoFile(t *testing.T) {
	folder := t.TempDir()
	dead := filepath.Join(folder, folderPrefix+"123")
	if err := os.Mkdir(dead, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dead, fileName), []byte("noise"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := createScratch(t, folder)
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Fatalf(
			"%d folders, want that of the open file: %v",
			len(entries), err,
		)
	}
	if runtime.GOOS != "windows" {
		info, err := entries[0].Info()
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf(
				"others may enter: %v %v",
				info.Mode(), err,
			)
		}
		inside, err := os.ReadDir(filepath.Join(folder, entries[0].Name()))
		if err != nil || len(inside) != 0 {
			t.Errorf("the open file has a name: %v", err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if entries, _ = os.ReadDir(folder); len(entries) != 0 {
		t.Errorf("%d folders are left", len(entries))
	}
	_, err = Create(filepath.Join(folder, "none"), [KeySize]byte{})
	if !errors.Is(err, ErrWrite) {
		t.Errorf("no folder: %v", err)
	}
}

func BenchmarkRead(b *testing.B) {
	f, err := Create(b.TempDir(), [KeySize]byte{1})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	p := f.Reserve(1 << 19)
	room, err := f.Write(&p, make([]byte, 1<<19), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(1 << 19)
	for b.Loop() {
		data, err := f.Read(p, room)
		if err != nil {
			b.Fatal(err)
		}
		room = data
	}
}

// TestReadInto checks that a place is decrypted in the memory of the caller, and that memory of
// another size is an error.
func TestReadInto(t *testing.T) {
	f, err := Create(t.TempDir(), [KeySize]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := []byte("some cells")
	p := f.Reserve(len(want))
	if _, err := f.Write(&p, want, nil); err != nil {
		t.Fatal(err)
	}
	memory := make([]byte, len(want), len(want)+Overhead)
	n := testing.AllocsPerRun(10, func() {
		err = f.ReadInto(p, memory)
	})
	if err != nil || n > 1 { // the nonce
		t.Fatalf("%v, %v allocations", err, n)
	}
	if !bytes.Equal(memory, want) {
		t.Errorf("%q was kept as %q", want, memory)
	}
	for _, other := range [][]byte{
		make([]byte, len(want)),
		memory[:len(want)-1],
		make([]byte, len(want)+1, 100),
	} {
		err := f.ReadInto(p, other)
		if !errors.Is(err, errSize) {
			t.Errorf(
				"%d bytes with space for %d: %v",
				len(other), cap(other), err,
			)
		}
	}
}
