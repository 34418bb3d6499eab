package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aead.dev/minisign"
)

// The environment variables with the secret key of minisign, as the text of its key file, and with the password
// of that key.
const (
	keyVariable      = "DPTRAIN_SIGNING_KEY"
	passwordVariable = "DPTRAIN_SIGNING_PASSWORD"
)

// signFiles writes SHA256SUMS.minisig, an Ed25519 signature in the format of minisign. Without a key it
// prints that the release is unsigned.
func (r release) signFiles(stdout io.Writer) error {
	text := os.Getenv(keyVariable)
	if text == "" {
		_, err := fmt.Fprintf(
			stdout,
			"SHA256SUMS is not signed: %s is not set\n",
			keyVariable,
		)
		return err
	}
	key, err := signingKey([]byte(text), os.Getenv(passwordVariable))
	if err != nil {
		return fmt.Errorf("%s: %w", keyVariable, err)
	}
	sums, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
	if err != nil {
		return err
	}
	signature := minisign.SignWithComments(
		key,
		sums,
		"dptrain "+r.version+" SHA256SUMS",
		"signature of SHA256SUMS of dptrain "+r.version,
	)
	if err := r.writeFile("SHA256SUMS.minisig", signature); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "SHA256SUMS is signed by key %X\n", key.ID())
	return err
}

// signingKey reads a key file of minisign.
func signingKey(text []byte, password string) (minisign.PrivateKey, error) {
	if minisign.IsEncrypted(text) {
		return minisign.DecryptKey(password, text)
	}
	var key minisign.PrivateKey
	err := key.UnmarshalText(text)
	return key, err
}
