// Package scratch stores bytes outside memory while a process lives, in one file that no other user can read.
//
// The file is in a folder that only its owner may enter. Where the system allows it, the file loses its name as soon
// as it is open, so no trace remains however the process ends. Elsewhere it is removed by [File.Close], or after a
// crash by the next process that calls [Create] (see package stage).
//
// Contents are encrypted and authenticated (AES-256 in Galois/counter mode) under a key that exists only in memory.
// Every write has a nonce of its own, a counter, also where it replaces an earlier one. Data left on a disk after the
// process has ended is therefore indistinguishable from noise, and damage is detected.
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
	"github.com/dptrain/dptrain/internal/sys/filesys"
)

// KeySize is the number of bytes of a key.
const KeySize = 32

// Overhead is the number of extra bytes that a buffer needs to read a place.
const Overhead = 16

// Errors about the system. They depend on the size and the location of a file only.
var (
	// ErrWrite is returned if the file cannot be created or written, usually because the disk is full.
	ErrWrite = fault.New(fault.Usage,
		"the scratch file cannot be written; free some disk space, or name another folder with --scratch")
	// ErrRead is returned if the contents differ from the data written.
	ErrRead = fault.New(fault.Usage,
		"the scratch file cannot be read back; check its disk, or name another folder with --scratch")
)

// WithoutStage returns [ErrWrite] or [ErrRead] if err wraps it, and err otherwise. The wrapping errors name the stage
// of the run, which depends on the exact number of records.
func WithoutStage(err error) error {
	for _, failure := range []error{ErrWrite, ErrRead} {
		if errors.Is(err, failure) {
			return failure
		}
	}
	return err
}

// Names of the folders, by their prefix, and of the file.
const (
	folderPrefix = "dptrain-scratch-"
	fileName     = "cells"
)

// A File is a scratch file. Its methods are safe for concurrent use.
type File struct {
	dir    *filesys.TempDir
	file   *os.File
	aead   cipher.AEAD
	writes atomic.Uint64
	writer sync.Mutex // held during a write: the system serialises writes to a file, and the other writers wait here

	mu   sync.Mutex
	end  int64           // end of the allocated places
	free map[int][]int64 // places for reuse, by size
}

// A Place locates stored bytes. The zero Place is empty.
type Place struct {
	at    int64
	size  int
	write uint64 // number of the last write, from 1; 0: not written
}

// Create makes a scratch file in a folder, after removing files that killed processes left in it. An empty folder name
// selects the system's folder for temporary files. The key must be fresh.
func Create(folder string, key [KeySize]byte) (*File, error) {
	if folder == "" {
		folder = os.TempDir()
	}
	filesys.RemoveStale(folder, folderPrefix, func(_, dead *os.Root, _ string) {
		_ = dead.Remove(fileName)
	})
	dir, err := filesys.MakeTempDir(folder, folderPrefix)
	if err != nil {
		return nil, ErrWrite
	}
	path := filepath.Join(dir.Path, fileName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		_ = dir.Close()
		return nil, ErrWrite
	}
	_ = os.Remove(path) // fails on systems where an open file keeps its name
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("scratch: " + err.Error()) // the key size is a constant
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("scratch: " + err.Error()) // the block size is a constant
	}
	if aead.Overhead() != Overhead {
		panic("scratch: another overhead") // the overhead of GCM is fixed
	}
	return &File{
		dir:  dir,
		file: file,
		aead: aead,
		free: map[int][]int64{},
	}, nil
}

// Close removes the file and its contents.
func (f *File) Close() error {
	return errors.Join(f.file.Close(), f.dir.Close())
}

// Size returns the size of the file in bytes.
func (f *File) Size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end
}

// Reserve returns a place for size bytes.
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

// Release returns a place for reuse.
func (f *File) Release(p Place) {
	if p == (Place{}) {
		return
	}
	whole := p.size + Overhead
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free[whole] = append(f.free[whole], p.at)
}

// nonce returns the nonce of a write, by its number.
func (f *File) nonce(write uint64) []byte {
	return binary.LittleEndian.AppendUint64(make([]byte, f.aead.NonceSize()-8, f.aead.NonceSize()),
		write)
}

// Write stores data in p, whose size must be len(data). It returns buf, which it uses as working memory, perhaps
// enlarged. Concurrent writes to the same place are not allowed.
func (f *File) Write(p *Place, data, buf []byte) ([]byte, error) {
	if len(data) != p.size {
		return buf, fmt.Errorf("%w: %d bytes for a place of %d", errSize, len(data), p.size)
	}
	p.write = f.writes.Add(1)
	sealed := f.aead.Seal(buf[:0], f.nonce(p.write), data, nil)
	return sealed, f.writeAt(sealed, p.at)
}

// writeAt writes encrypted bytes at an offset of the file.
func (f *File) writeAt(sealed []byte, at int64) error {
	f.writer.Lock()
	defer f.writer.Unlock()
	if _, err := f.file.WriteAt(sealed, at); err != nil {
		return ErrWrite
	}
	return nil
}

// Read returns the contents of a place. It uses buf if that is large enough; the result is valid until buf is reused.
func (f *File) Read(p Place, buf []byte) ([]byte, error) {
	if p.write == 0 {
		return nil, fmt.Errorf("%w: nothing was written", errSize)
	}
	whole := p.size + Overhead
	if cap(buf) < whole {
		buf = make([]byte, whole)
	}
	buf = buf[:whole]
	if n, err := f.file.ReadAt(buf, p.at); n < whole || err != nil && !errors.Is(err, io.EOF) {
		return nil, ErrRead
	}
	data, err := f.aead.Open(buf[:0], f.nonce(p.write), buf, nil)
	if err != nil {
		return nil, ErrRead
	}
	return data, nil
}

// ReadInto reads the contents of a place into memory, which must have as many bytes and a capacity
// of [Overhead] more. After an error the contents of memory are undefined.
func (f *File) ReadInto(p Place, memory []byte) error {
	if p.size != len(memory) || cap(memory) < p.size+Overhead {
		return fmt.Errorf(
			"%w: memory for %d bytes and a place of %d",
			errSize,
			len(memory),
			p.size,
		)
	}
	_, err := f.Read(p, memory)
	return err
}

// errSize indicates a bug in the caller: a place of the wrong size or an empty one.
var errSize = errors.New("a place of the scratch file is used wrongly")
