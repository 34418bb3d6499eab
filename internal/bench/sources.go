package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/tablefile"
)

// source is a table of the experiment.
type source struct {
	path string
	name string
}

// listSources lists the tables, each once: those of Data in order, or those that
// the recipes name.
func (c Config) listSources(methods []*method) ([]source, error) {
	var paths []string
	for _, path := range c.Data {
		found, err := listTables(path)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	if len(c.Data) == 0 {
		for _, m := range methods {
			if !m.file {
				continue
			}
			path := m.recipe.DataFile()
			if path == "" {
				return nil,
					fmt.Errorf("%w: neither the experiment nor the recipe %q names one", ErrNoData,
						m.name)
			}
			paths = append(paths, filepath.Clean(path))
		}
	}
	if len(paths) == 0 {
		return nil, ErrNoData
	}
	return namedSources(paths), nil
}

// listTables returns the path of a table, or those of the tables in a folder.
func listTables(path string) ([]string, error) {
	path = filepath.Clean(path)
	if !isFolder(path) {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return nil,
			&dataset.FileError{
				Path: path,
				Msg:  "the folder cannot be listed",
				Hint: "check its permissions",
				Err:  dataset.ErrUnreadable,
			}
	}
	var found []string
	for _, e := range entries {
		if kind, _, ok := tablefile.ParsePath(e.Name()); ok && !kind.JSON && !e.IsDir() {
			found = append(found, filepath.Join(path, e.Name()))
		}
	}
	if len(found) == 0 {
		return nil,
			fmt.Errorf("%w: the folder %s contains no file with the suffix %s", ErrNoData, path,
				joinNames(tablefile.Suffixes()))
	}
	return found, nil
}

// isFolder reports whether path is a folder. Problems of a path that does not exist are reported when it is
// opened as a table.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// namedSources gives every path its table's name: the file's, without suffix, or the
// whole path where two tables would share a name.
func namedSources(paths []string) []source {
	var sources []source
	count := map[string]int{}
	for _, path := range paths {
		if slices.ContainsFunc(sources, func(s source) bool {
			return s.path == path
		}) {
			continue
		}
		_, name, _ := tablefile.ParsePath(filepath.Base(path))
		count[name]++
		sources = append(sources, source{path, name})
	}
	for i, s := range sources {
		if count[s.name] > 1 {
			sources[i].name = s.path
		}
	}
	return sources
}
