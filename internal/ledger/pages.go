package ledger

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// checkPages walks all pages of a bbolt file that the store could follow. It refuses a file with a page that points
// outside the file or to a page already in use, or that is out of order. The store maps the file into memory and
// trusts it: on a file that was cut or edited it may fault, loop, or overwrite pages that are in use. A file that
// passes is a tree of separate pages within the file, whatever its keys and values are.
//
// The layout is that of bbolt's format 2, with pages of pageSize bytes, the only size this package writes. Numbers are
// in the machine's byte order.
func checkPages(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return unreadableError(err)
	}
	if size > maxFile {
		return fmt.Errorf("%w: it is larger than %d bytes", ErrFormat, maxFile)
	}
	data := make([]byte, size)
	if _, err := f.ReadAt(data, 0); err != nil && err != io.EOF {
		return unreadableError(err)
	}
	return checkImage(data)
}

// checkPaths is checkPages restricted to the pages that an operation touches: the top pages, the list of free pages,
// and in every bucket of paths the pages on the path to each key. Other pages may be damaged; [Ledger.Verify] checks
// them all.
func checkPaths(f *os.File, paths keyPaths) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return unreadableError(err)
	}
	if size > maxFile {
		return fmt.Errorf("%w: it is larger than %d bytes", ErrFormat, maxFile)
	}
	head := make([]byte, min(size, 2*pageSize))
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return unreadableError(err)
	}
	load := func(at, n int64) ([]byte, error) {
		b := make([]byte, n)
		if _, err := f.ReadAt(b, at); err != nil {
			return nil, unreadableError(err)
		}
		return b, nil
	}
	return (&image{
		head:  head,
		size:  size,
		load:  load,
		order: byteOrder(),
		paths: paths,
	}).checkPages()
}

const (
	pageSize       = 4096
	maxFile        = 1 << 30
	pageHeaderSize = 16 // id uint64, flags uint16, count uint16, overflow uint32
	elementSize    = 16 // of a branch: pos, ksize uint32, id uint64; of a leaf: flags, pos, ksize, vsize uint32
	maxDepth       = 32
	boltMagic      = 0xED0CDAED

	flagBranch   = 1
	flagLeaf     = 2
	flagFreelist = 16
	flagBucket   = 1 // of a leaf element
)

// byteOrder returns the byte order of the machine, which is also that of its files.
func byteOrder() binary.ByteOrder {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return binary.LittleEndian
	}
	return binary.BigEndian
}

// keyPaths lists the keys that an operation looks up, by the name of their bucket.
type keyPaths map[string][][]byte

// image is the content of a file.
type image struct {
	head  []byte // the available part of the first two pages
	size  int64
	load  func(at, n int64) ([]byte, error) // returns n bytes, which must exist
	order binary.ByteOrder
	paths keyPaths // nil: everything is checked
	pages uint64   // in use by the store: the others are not there yet
	seen  []bool
}

// meta is a decoded meta page.
type meta struct{ root, freelist, pages, txid uint64 }

func brokenError(format string, args ...any) error {
	return fmt.Errorf("%w: the file is truncated or damaged: %s", ErrDamaged,
		fmt.Sprintf(format, args...))
}

func checkImage(data []byte) error {
	im := &image{
		head:  data[:min(len(data), 2*pageSize)],
		size:  int64(len(data)),
		order: byteOrder(),
		load: func(at, n int64) ([]byte, error) {
			return data[at : at+n], nil
		},
	}
	return im.checkPages()
}

func (im *image) checkPages() error {
	if len(im.head) < 16 || !im.hasMagic() {
		return fmt.Errorf("%w: the file has a different format", ErrFormat)
	}
	var best *meta
	for i := range 2 {
		m, err := im.readMeta(i)
		if err != nil {
			return err
		}
		if m != nil && (best == nil || m.txid > best.txid) {
			best = m
		}
	}
	if best == nil {
		return brokenError("neither of its first pages is valid")
	}
	if best.pages < 4 || best.pages > uint64(im.size)/pageSize {
		return brokenError("it has fewer pages than it says")
	}
	im.pages, im.seen = best.pages, make([]bool, best.pages)
	im.seen[0] = true
	im.seen[1] = true
	if _, err := im.checkTree(best.root, nil, 0); err != nil {
		return err
	}
	return im.checkFreelist(best.freelist)
}

// hasMagic reports whether one of the first two pages has the magic number of bbolt.
func (im *image) hasMagic() bool {
	for i := range 2 {
		at := i*pageSize + pageHeaderSize
		if len(im.head) >= at+4 && im.order.Uint32(im.head[at:]) == boltMagic {
			return true
		}
	}
	return false
}

// readMeta reads meta page i. It returns nil for an invalid page, which a power failure may leave. A page that the
// store would accept must have the page size that this package writes.
func (im *image) readMeta(i int) (*meta, error) {
	if len(im.head) < (i+1)*pageSize {
		return nil, nil
	}
	b := im.head[i*pageSize+pageHeaderSize:]
	u := func(at int) uint64 {
		return im.order.Uint64(b[at:])
	}
	h := fnv.New64a()
	h.Write(b[:56])
	m := &meta{
		root:     u(16),
		freelist: u(32),
		pages:    u(40),
		txid:     u(48),
	}
	switch {
	case im.order.Uint32(b) != boltMagic || im.order.Uint32(b[4:]) != 2 || h.Sum64() != u(56):
		return nil, nil
	case im.order.Uint32(b[8:]) != pageSize || m.txid%2 != uint64(i):
		return nil, brokenError("one of its first pages is of another kind of store")
	}
	return m, nil
}

// takePage marks page id and its overflow pages as used and returns their bytes.
func (im *image) takePage(id uint64) (flags, count int, b []byte, err error) {
	if id < 2 || id >= im.pages {
		return 0, 0, nil, brokenError("page %d is outside", id)
	}
	if b, err = im.load(int64(id)*pageSize, pageSize); err != nil {
		return 0, 0, nil, err
	}
	n := uint64(im.order.Uint32(b[12:])) + 1
	if im.order.Uint64(b) != id || n > im.pages-id {
		return 0, 0, nil, brokenError("page %d is not one", id)
	}
	for i := id; i < id+n; i++ {
		if im.seen[i] {
			return 0, 0, nil, brokenError("page %d is used twice", i)
		}
		im.seen[i] = true
	}
	if n > 1 {
		if b, err = im.load(int64(id)*pageSize, int64(n)*pageSize); err != nil {
			return 0, 0, nil, err
		}
	}
	return int(im.order.Uint16(b[8:])), int(im.order.Uint16(b[10:])), b, nil
}

// checkTree checks the page id and the pages below it, or only those on the paths to keys if keys is not nil. It
// returns the first key of the page.
func (im *image) checkTree(
	id uint64,
	keys [][]byte,
	depth int,
) (first []byte, err error) {
	if depth > maxDepth {
		return nil, brokenError("its pages are nested too deeply")
	}
	flags, count, b, err := im.takePage(id)
	if err != nil {
		return nil, err
	}
	switch flags {
	case flagBranch:
		return im.checkBranch(b, count, keys, depth)
	case flagLeaf:
		return im.checkLeaf(b, count, depth)
	}
	return nil, brokenError("page %d is of an unknown kind", id)
}

func (im *image) checkBranch(
	b []byte,
	count int,
	keys [][]byte,
	depth int,
) (first []byte, err error) {
	if count == 0 || pageHeaderSize+count*elementSize > len(b) {
		return nil, brokenError("a branch page has %d elements", count)
	}
	names := make([][]byte, count)
	for i := range count {
		at := pageHeaderSize + i*elementSize
		if names[i], _, err = im.keyAndValue(b, at, im.order.Uint32(b[at:]),
			im.order.Uint32(b[at+4:]), 0); err != nil {
			return nil, err
		}
		if i > 0 && bytes.Compare(names[i-1], names[i]) >= 0 {
			return nil, brokenError("the keys of a branch page are out of order")
		}
	}
	for i, name := range names {
		below := keys
		if keys != nil {
			if below = keysBelow(keys, names, i); below == nil {
				continue
			}
		}
		child, err := im.checkTree(
			im.order.Uint64(b[pageHeaderSize+i*elementSize+8:]),
			below,
			depth+1,
		)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(child, name) {
			return nil, brokenError("the keys of a branch page are out of order")
		}
	}
	return names[0], nil
}

// keysBelow returns the keys that belong below element i of a branch page: from its name up to the next name.
func keysBelow(keys, names [][]byte, i int) (below [][]byte) {
	for _, key := range keys {
		after := i == 0 || bytes.Compare(key, names[i]) >= 0
		if after && (i+1 == len(names) || bytes.Compare(key, names[i+1]) < 0) {
			below = append(below, key)
		}
	}
	return below
}

func (im *image) checkLeaf(
	b []byte,
	count, depth int,
) (first []byte, err error) {
	if pageHeaderSize+count*elementSize > len(b) {
		return nil, brokenError("a leaf page has %d elements", count)
	}
	var last []byte
	for i := range count {
		at := pageHeaderSize + i*elementSize
		u := func(k int) uint32 {
			return im.order.Uint32(b[at+4*k:])
		}
		key, value, err := im.keyAndValue(b, at, u(1), u(2), u(3))
		if err != nil {
			return nil, err
		}
		if i > 0 && bytes.Compare(last, key) >= 0 {
			return nil, brokenError("the keys of a leaf page are out of order")
		}
		if last = key; i == 0 {
			first = key
		}
		switch u(0) {
		case 0:
		case flagBucket:
			if err := im.checkBucket(key, value, depth); err != nil {
				return nil, err
			}
		default:
			return nil, brokenError("a leaf element is of an unknown kind")
		}
	}
	return first, nil
}

// keyAndValue returns the key and the value of the element at byte offset at of the page.
func (im *image) keyAndValue(
	b []byte,
	at int,
	pos, ksize, vsize uint32,
) (key, value []byte, err error) {
	begin := uint64(at) + uint64(pos)
	end := begin + uint64(ksize) + uint64(vsize)
	if ksize == 0 || pos < elementSize || end > uint64(len(b)) {
		return nil, nil, brokenError("an element is outside its page")
	}
	middle := begin + uint64(ksize)
	return b[begin:middle], b[middle:end], nil
}

// checkBucket checks a bucket: its root page, or the inline page in its value.
func (im *image) checkBucket(name, value []byte, depth int) error {
	keys := im.paths[string(name)]
	if im.paths != nil && keys == nil {
		return nil
	}
	if len(value) < 16 {
		return brokenError("a bucket has no root")
	}
	if root := im.order.Uint64(value); root != 0 {
		_, err := im.checkTree(root, keys, depth+1)
		return err
	}
	if len(value) < 16+pageHeaderSize || depth > maxDepth {
		return brokenError("a bucket has no page")
	}
	inline := value[16:]
	if im.order.Uint16(inline[8:]) != flagLeaf || im.order.Uint64(inline) != 0 ||
		im.order.Uint32(inline[12:]) != 0 {
		return brokenError("a small bucket is not one page")
	}
	_, err := im.checkLeaf(inline, int(im.order.Uint16(inline[10:])), depth+1)
	return err
}

// checkFreelist checks that the free pages are within the file and not in use.
func (im *image) checkFreelist(id uint64) error {
	flags, n, b, err := im.takePage(id)
	if err != nil {
		return err
	}
	if flags != flagFreelist {
		return brokenError("it has no list of free pages")
	}
	ids := b[pageHeaderSize:]
	count := uint64(n)
	if n == 0xFFFF {
		count = im.order.Uint64(ids)
		ids = ids[8:]
	}
	if count > uint64(len(ids))/8 {
		return brokenError("its list of free pages is too long")
	}
	for i := range count {
		free := im.order.Uint64(ids[8*i:])
		if free < 2 || free >= im.pages || im.seen[free] {
			return brokenError("page %d is free and in use", free)
		}
		im.seen[free] = true
	}
	return nil
}
