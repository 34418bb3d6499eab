//go:build !linux

package report

// exchange is for systems that have it.
func exchange(string, string) error { return errNoExchange }
