package main

import (
	"bufio"
	"encoding/binary"
	"io"
)

// The limits of a list: the number of its strings, and the bytes of one.
const (
	mostStrings = 1 << 20
	mostBytes   = 1 << 30
)

// readList reads a list of byte strings: their number, and then each with its length before it. Numbers have
// four bytes, in little-endian order. It returns io.EOF if there is no further list.
func readList(r io.Reader) ([][]byte, error) {
	n, err := readNumber(r, mostStrings)
	if err != nil {
		return nil, err
	}
	list := make([][]byte, 0, min(n, 1<<10))
	for range n {
		size, err := readNumber(r, mostBytes)
		if err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		list = append(list, text)
	}
	return list, nil
}

func readNumber(r io.Reader, most int) (int, error) {
	var b [4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, err
	}
	n := int64(binary.LittleEndian.Uint32(b[:]))
	if n > int64(most) {
		return 0, io.ErrUnexpectedEOF
	}
	return int(n), nil
}

// writeList writes a list in the format of readList.
func writeList(w *bufio.Writer, list [][]byte) error {
	put := func(n int) {
		_, _ = w.Write(binary.LittleEndian.AppendUint32(nil, uint32(n)))
	}
	put(len(list))
	for _, text := range list {
		put(len(text))
		_, _ = w.Write(text)
	}
	return w.Flush()
}
