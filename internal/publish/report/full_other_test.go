//go:build !linux

package report

func childFull(string)     {}
func childReadOnly(string) {}
