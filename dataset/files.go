package dataset

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// filesOf returns the files that a path denotes: itself, or the files that match it as a filepath pattern,
// sorted by name. An existing file takes precedence over the pattern.
func filesOf(path string) ([]string, error) {
	if !strings.ContainsAny(path, "*?[") {
		return []string{path}, nil
	}
	if _, err := os.Stat(path); err == nil {
		return []string{path}, nil
	}
	found, err := filepath.Glob(path)
	if err != nil {
		return nil,
			&FileError{
				Path: path,
				Msg:  "is not a valid file name pattern",
				Hint: "close the brackets",
				Err:  ErrUnreadable,
			}
	}
	if len(found) == 0 {
		return nil,
			&FileError{
				Path: path,
				Msg:  "matches no file",
				Hint: "check the path",
				Err:  ErrUnreadable,
			}
	}
	return found, nil
}

// sameHeader returns the heading of the first file, and an error if another has other column names.
func sameHeader(paths []string, opts ReadOptions) (Heading, error) {
	var first Heading
	for i, path := range paths {
		got, err := fileHeading(path, opts)
		if err != nil {
			return Heading{}, err
		}
		if i == 0 {
			first = got
			continue
		}
		if !slices.Equal(got.Names, first.Names) {
			return Heading{},
				&FileError{
					Path: path,
					Line: 1,
					Msg:  fmt.Sprintf("the header differs from that of %s", paths[0]),
					Hint: "all files of a table need the same columns in the same order",
					Err:  ErrNoColumn,
				}
		}
	}
	return first, nil
}

// readFiles reads files of one table.
func readFiles(
	ctx context.Context,
	paths []string,
	schema Schema,
	opts ReadOptions,
) (*Table, *Stats, error) {
	if _, err := sameHeader(paths, opts); err != nil {
		return nil, nil, err
	}
	opts.joined = true
	var parts []slab
	cols := newColumns(schema, opts.Format.fillNumbers(schema.Numbers).Decimal) // of all files, which share the text categories of a column
	all := newStats(schema)
	rows := int64(0)
	for _, path := range paths {
		t, stats, err := readFile(ctx, path, schema, opts, cols)
		if err != nil {
			return nil, nil, err
		}
		if rows += int64(t.rows); rows > maxRows {
			return nil, nil, tooLarge(path)
		}
		parts = append(parts, slab{
			floats: t.floats,
			codes:  t.codes,
			ids:    t.ids,
			rows:   t.rows,
		})
		all.addStats(stats)
	}
	joined, err := joinSlabs(ctx, opts.workerCount(), cols, schema.Unit != "", parts)
	if err != nil {
		return nil, nil, err
	}
	return joined.newTable(schema.Clone(), cols), all, nil
}

// HeadingFrom is [ReadHeading] for the formats of [ReadFrom]. It reads beyond the header; rest yields all of r
// from the start, and ends with the error of ctx if ctx ends first.
func HeadingFrom(
	ctx context.Context,
	r io.Reader,
	name string,
	opts ReadOptions,
) (h Heading, rest io.Reader, err error) {
	rd, err := streamReader(name, Schema{}, opts)
	if err != nil {
		return Heading{}, nil, err
	}
	if rd.format.needsOffsets() {
		held, err := rd.holdTable(ctx, r)
		if err != nil {
			return Heading{}, nil, err
		}
		h, err = rd.headingAt(held, held.Size())
		return h, held, err
	}
	within, cancel := context.WithCancel(ctx)
	defer func() {
		if err != nil {
			cancel()
		}
	}()
	lines := newPump(within, r)
	var seen strings.Builder
	src, err := rd.newSource(io.TeeReader(lines, &seen))
	if err == nil {
		h, err = rd.readHeading(src)
	}
	if ended := ctx.Err(); ended != nil {
		return Heading{}, nil, ended
	}
	if err != nil {
		return h, nil, err
	}
	return h, io.MultiReader(strings.NewReader(seen.String()), lines), nil
}
