//go:build !linux

package report

// exchange always fails: this system cannot exchange two folders.
func exchange(string, string) error {
	return errNoExchange
}
