package filesys

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestProgram checks that a program in the folder of this executable takes precedence over one on the PATH, and that
// folders are ignored.
func TestProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const name = "program-of-test"
	file := name
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	near := filepath.Join(filepath.Dir(self), file)
	far := filepath.Join(t.TempDir(), file)
	t.Setenv("PATH", filepath.Dir(far))
	if path, ok := FindProgram(name); ok {
		t.Errorf("there is none, and it is %s", path)
	}
	if err := os.Mkdir(near, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(near)
	if err := os.WriteFile(far, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	path, ok := FindProgram(name)
	if !ok || path != far {
		t.Errorf(
			"beside is a folder: %s, %t",
			path, ok,
		)
	}
	if err := os.Remove(near); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(near, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	path, ok = FindProgram(name)
	if !ok || path != near {
		t.Errorf("%s, %t", path, ok)
	}
}
