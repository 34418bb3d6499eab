//go:build !linux

package ledger

func childFull() {}

func childReadOnly() {}
