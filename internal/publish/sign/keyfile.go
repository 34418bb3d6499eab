package sign

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// maxFileBytes is more than the size of any key file or signature file.
const maxFileBytes = 1 << 13

// ErrReadable is returned for a secret key file that users other than its owner may read.
var ErrReadable = errors.New(
	"other users can read it; run chmod 600 on it, or create a new key if someone may have copied it")

// ReadFile reads a key file or a signature file.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(data) > maxFileBytes {
		err = errors.New("it is too large to be a key or a signature")
	}
	return data, err
}

// ReadSecretFile reads a secret key file or a password file. On systems with file permissions it rejects, with
// [ErrReadable], a file that users other than its owner may read.
func ReadSecretFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return nil, ErrReadable
	}
	return ReadFile(path)
}

// WriteNew writes a file that must not exist yet, with the given permissions regardless of the umask. An incomplete
// file is removed.
func WriteNew(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
