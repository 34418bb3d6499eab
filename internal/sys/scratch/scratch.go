// Package scratch keeps bytes outside memory while a process lives: in one file that nobody else can
// read.
//
// The file is in a folder that only its owner may enter. Where the system allows it, the file has no name
// any more once it is open: nothing is left of it however the process ends. Elsewhere it is removed by
// [File.Close], or after a crash by the next process that calls [Create] (package stage says how).
//
// What is written is encrypted and authenticated (AES-256 in Galois/counter mode) under a key that is in
// memory alone. Every write has a nonce of its own, a counter, also where it replaces an earlier one. So
// what is left on a disk after the process has ended is noise, and a damaged file is noticed.
package scratch

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/tempdir"
)

// KeySize is the number of bytes of a key.
const KeySize = 32

// Overhead is the number of bytes beyond those of a place for which memory must have space to be read into.
const Overhead = 16

// Errors say what the system did. They depend on the size and the place of a file alone.
var (
	// ErrWrite is returned if the file cannot be made or written: mostly, the disk is full.
	ErrWrite = fault.New(fault.Usage, "the scratch file cannot be written; free some space on its disk, or name another folder with --scratch")
	// ErrRead is returned if the file does not hold what was written to it.
	ErrRead = fault.New(fault.Usage, "the scratch file cannot be read back; check its disk, or name another folder with --scratch")
)

// WithoutStage returns [ErrWrite] or [ErrRead] if err wraps it, and err otherwise. What wraps them says in which
// stage of a run the file failed, and that depends on the exact number of records.
func WithoutStage(err error) error {
	for _, failure := range []error{ErrWrite, ErrRead} {
		if errors.Is(err, failure) {
			return failure
		}
	}
	return err
}

// prefix begins the names of the folders of scratch files, and name is that of the file.
const (
	prefix = "dptrain-scratch-"
	name   = "cells"
)

// A File is a scratch file. Its methods may be used by several goroutines at once.
type File struct {
	dir    *tempdir.Dir
	file   *os.File
	aead   cipher.AEAD
	writes atomic.Uint64
	writer sync.Mutex // while one writes: the system lets one at a time into a file, and the others wait at work

	mu   sync.Mutex
	end  int64           // of what was handed out
	free map[int][]int64 // places that can be handed out again, by size
}

// A Place is where some bytes are kept. The zero Place keeps none.
type Place struct {
	at    int64
	size  int
	write uint64 // number of the last write from 1; 0: none
}

// Create makes a scratch file in a folder, and first clears away what processes that were
// killed left in it. An empty folder name is that of the system's temporary files. The key must be fresh.
func Create(folder string, key [KeySize]byte) (*File, error) {
	if folder == "" {
		folder = os.TempDir()
	}
	tempdir.Sweep(folder, prefix, func(_, dead *os.Root, _ string) { _ = dead.Remove(name) })
	dir, err := tempdir.Make(folder, prefix)
	if err != nil {
		return nil, ErrWrite
	}
	path := filepath.Join(dir.Path, name)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		_ = dir.Close()
		return nil, ErrWrite
	}
	_ = os.Remove(path) // fails where an open file keeps its name
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("scratch: " + err.Error()) // the key size is a constant
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("scratch: " + err.Error()) // the block size is a constant
	}
	if aead.Overhead() != Overhead {
		panic("scratch: another overhead") // GCM has one
	}
	return &File{dir: dir, file: file, aead: aead, free: map[int][]int64{}}, nil
}

// Close removes the file. What is kept is lost.
func (f *File) Close() error { return errors.Join(f.file.Close(), f.dir.Close()) }

// Size returns the number of bytes that the file has grown to.
func (f *File) Size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end
}

// Reserve returns a place for so many bytes.
func (f *File) Reserve(size int) Place {
	whole := size + Overhead
	f.mu.Lock()
	defer f.mu.Unlock()
	if list := f.free[whole]; len(list) > 0 {
		last := len(list) - 1
		f.free[whole] = list[:last]
		return Place{at: list[last], size: size}
	}
	p := Place{at: f.end, size: size}
	f.end += int64(whole)
	return p
}

// Release gives a place back.
func (f *File) Release(p Place) {
	if p == (Place{}) {
		return
	}
	whole := p.size + Overhead
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free[whole] = append(f.free[whole], p.at)
}

// nonce returns that of a write.
func (f *File) nonce(write uint64) []byte {
	return binary.LittleEndian.AppendUint64(make([]byte, f.aead.NonceSize()-8, f.aead.NonceSize()), write)
}

// Write keeps bytes in a place of their size. room is reused memory, and is returned, perhaps larger.
// A place must not be written by several goroutines at once.
func (f *File) Write(p *Place, data, room []byte) ([]byte, error) {
	if len(data) != p.size {
		return room, fmt.Errorf("%w: %d bytes for a place of %d", errSize, len(data), p.size)
	}
	p.write = f.writes.Add(1)
	sealed := f.aead.Seal(room[:0], f.nonce(p.write), data, nil)
	return sealed, f.writeAt(sealed, p.at)
}

// writeAt writes encrypted bytes.
func (f *File) writeAt(sealed []byte, at int64) error {
	f.writer.Lock()
	defer f.writer.Unlock()
	if _, err := f.file.WriteAt(sealed, at); err != nil {
		return ErrWrite
	}
	return nil
}

// Read returns what is kept in a place, in room if it has space: valid until room is used again.
func (f *File) Read(p Place, room []byte) ([]byte, error) {
	if p.write == 0 {
		return nil, fmt.Errorf("%w: nothing was written", errSize)
	}
	whole := p.size + Overhead
	if cap(room) < whole {
		room = make([]byte, whole)
	}
	room = room[:whole]
	if n, err := f.file.ReadAt(room, p.at); n < whole || err != nil && !errors.Is(err, io.EOF) {
		return nil, ErrRead
	}
	data, err := f.aead.Open(room[:0], f.nonce(p.write), room, nil)
	if err != nil {
		return nil, ErrRead
	}
	return data, nil
}

// errSize is a fault of the program.
var errSize = errors.New("a place of the scratch file is used wrongly")
