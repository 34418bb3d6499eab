package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/publish/sign"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

const signLong = `Sign a release with an Ed25519 key, in the formats of minisign. The signature is
a file next to report.json. It covers the whole release, because report.json
contains the SHA-256 of the other files. The release is verified first.

  dptrain sign --new publisher.key             (creates a .key and a .pub file)
  dptrain sign out/release --key publisher.key
  dptrain verify out/release --key publisher.pub

Publish the public key where readers trust it, such as on your website. Keep the
secret key safe: anyone who has it can sign in your name. Its file must be
readable by its owner only. With --password-file, the key is encrypted with the
first line of that file as the password. minisign can also create the keys and
verify the signatures:

  minisign -V -p publisher.pub -m out/release/report.json`

func signCommand(a *app) *cobra.Command {
	var s signing
	cmd := &cobra.Command{
		Use:   "sign [RELEASE]",
		Short: "Sign a release or create a signing key",
		Long:  signLong,
		Example: `  dptrain sign --new publisher.key
  dptrain sign out/release --key publisher.key`,
		Args: between(0, 1, "the output folder of a run, or its release folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			making := cmd.Flags().Changed("new")
			switch {
			case making && (len(args) > 0 || cmd.Flags().Changed("key") || s.force):
				return usagef("--new only creates a key; sign with it in a second call")
			case making && s.path == "", !making && s.key == "" && cmd.Flags().Changed("key"):
				return usagef("the name of the key file must not be empty")
			case making:
				return a.makeKey(s)
			case len(args) == 0:
				return usagef(
					"name the release to sign, or create a key with --new; see `dptrain sign --help`")
			case s.key == "":
				return usagef(
					"name the secret key with --key; `dptrain sign --new publisher.key` creates one")
			}
			return a.sign(cmd.Context(), args[0], s)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(
		&s.key,
		"key",
		"",
		"secret key `FILE`, created by --new or minisign",
	)
	cmd.Flags().StringVar(&s.password, "password-file", "",
		"read the password of the key from the first line of `FILE`")
	cmd.Flags().StringVar(&s.path, "new", "",
		"create a key pair: the secret key in `FILE`, the public key next to it in a .pub file")
	cmd.Flags().BoolVar(&s.force, "force", false, "overwrite an existing signature")
	return cmd
}

// signing holds the flags of sign.
type signing struct {
	key      string
	password string
	path     string
	force    bool
}

// secretWord reads the password, or returns nil if there is none.
func (s signing) secretWord() ([]byte, error) {
	if s.password == "" {
		return nil, nil
	}
	text, err := sign.ReadSecretFile(s.password)
	if err != nil {
		return nil, keyError(s.password, err)
	}
	word, _, _ := bytes.Cut(text, []byte("\n"))
	word = bytes.TrimSuffix(word, []byte("\r"))
	if len(word) == 0 {
		return nil, usagef("%s: the password is empty; write it in the first line", s.password)
	}
	return word, nil
}

// keyError returns the error about a key or password file.
func keyError(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if errors.Is(err, fs.ErrExist) {
		err = errors.New(
			"the file already exists, and keys are never overwritten: choose another name")
	}
	return fault.WithKind(fault.Usage, &pathError{path, err})
}

// makeKey creates a key pair and writes its files.
func (a *app) makeKey(s signing) error {
	word, err := s.secretWord()
	if err != nil {
		return err
	}
	k, err := sign.Generate()
	if err != nil {
		return err
	}
	text, err := k.File(word)
	if err != nil {
		return err
	}
	public := strings.TrimSuffix(s.path, ".key") + ".pub"
	if err := sign.WriteNew(s.path, text, 0o600); err != nil {
		return keyError(s.path, err)
	}
	if err := sign.WriteNew(public, k.Public().File(), 0o644); err != nil {
		return keyError(public, err)
	}
	if word == nil {
		fmt.Fprintf(a.stderr,
			"dptrain: note: %s has no password, so anyone who can read the file can sign; --password-file sets one\n",
			printable(s.path))
	}
	_, err = fmt.Fprintf(a.stdout, "%s%s",
		report.Paragraph("Secret", s.path+": keep it safe and make a backup"),
		report.Paragraph("Public", fmt.Sprintf("%s: publish it; as text: %s", public, k.Public())))
	return err
}

// sign verifies and signs the release at path.
func (a *app) sign(ctx context.Context, path string, s signing) error {
	word, err := s.secretWord()
	if err != nil {
		return err
	}
	text, err := sign.ReadSecretFile(s.key)
	if err != nil {
		return keyError(s.key, err)
	}
	k, err := sign.ParseSecretKey(text, word)
	if errors.Is(err, sign.ErrEncrypted) {
		err = fmt.Errorf("%w; name the file that holds it with --password-file", err)
	}
	if err != nil {
		return keyError(s.key, err)
	}
	dir, v, err := a.verification(ctx, path, "", report.VerifyOptions{})
	if err != nil {
		return err
	}
	if err := v.Err(); err != nil {
		return fmt.Errorf(
			"%s: %w, so it was not signed; see `dptrain verify`",
			dir,
			err,
		)
	}
	signed := accountAt(filepath.Join(dir, report.ReportFile))
	signature := k.Sign(v.Signed,
		fmt.Sprintf("timestamp:%d\tfile:%s\thashed", time.Now().Unix(), filepath.Base(signed)))
	file := signed + report.SignatureSuffix
	err = writeOutput(ctx, file, s.force, func(w io.Writer) error {
		_, err := w.Write(signature)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.stdout,
		report.Paragraph("Signed",
			fmt.Sprintf("%s with key %s; the signature is %s", signed, k.Public().ID, file)))
	return err
}

// readPublicKey reads a public key given as a file or as base64 text.
func readPublicKey(given string) (sign.PublicKey, error) {
	if k, err := sign.ParsePublicKey([]byte(given)); err == nil {
		return k, nil
	}
	text, err := sign.ReadFile(given)
	if err != nil {
		return sign.PublicKey{}, keyError(given, err)
	}
	k, err := sign.ParsePublicKey(text)
	if err != nil {
		if _, secretErr := sign.ParseSecretKey(text, nil); secretErr == nil ||
			errors.Is(secretErr, sign.ErrEncrypted) {
			err = errors.New("this is a secret key; give the public key, whose name ends in .pub")
		}
		return k, keyError(given, err)
	}
	return k, nil
}
