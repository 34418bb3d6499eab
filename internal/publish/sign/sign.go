// Package sign signs files with Ed25519 keys in the formats of minisign (https://jedisct1.github.io/minisign/), so
// that either program can verify the signatures of the other.
//
// A key file holds an algorithm, an identifier and the key, in base64 below a comment. A secret key may be encrypted
// under a password by scrypt. A signature file holds a signature of the BLAKE2b-512 hash of the signed file, and a
// trusted comment with a second signature over the first one and the comment.
package sign

import (
	"bytes"
	"crypto/ed25519"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/scrypt"

	"github.com/dptrain/dptrain/internal/noise/secret"
)

// Errors of reading keys and of verification.
var (
	ErrKey       = errors.New("not a minisign key")
	ErrEncrypted = errors.New("the key is encrypted: a password is needed")
	ErrPassword  = errors.New("the password is wrong, or the key is damaged")
	ErrSignature = errors.New("not a minisign signature")
	ErrOtherKey  = errors.New("it was made with another key")
	ErrForged    = errors.New(
		"the signature does not match: the file was edited, or the signature was forged")
	ErrComment = errors.New("the trusted comment was edited")
)

const idSize = 8

// The markers of the formats.
var (
	pure      = [2]byte{'E', 'd'} // Ed25519; in a signature, of the file itself
	prehashed = [2]byte{'E', 'D'} // of the BLAKE2b-512 hash of the file
	scryptKDF = [2]byte{'S', 'c'}
	noKDF     = [2]byte{0, 0}
	blake2    = [2]byte{'B', '2'}
)

// An ID identifies a key. It is neither secret nor a proof of identity.
type ID [idSize]byte

// String returns the identifier as minisign prints it.
func (id ID) String() string {
	reversed := slices.Clone(id[:])
	slices.Reverse(reversed)
	return strings.ToUpper(hex.EncodeToString(reversed))
}

// A PublicKey verifies signatures.
type PublicKey struct {
	ID  ID
	key [ed25519.PublicKeySize]byte
}

// A SecretKey signs.
type SecretKey struct {
	id  ID
	key ed25519.PrivateKey
}

// Generate returns a new key. It fails only when the random source of the operating system does.
func Generate() (*SecretKey, error) {
	seed, err := secret.FreshKey()
	if err != nil {
		return nil, err
	}
	id, err := secret.FreshKey()
	if err != nil {
		return nil, err
	}
	return &SecretKey{ID(id[:idSize]), ed25519.NewKeyFromSeed(seed[:])}, nil
}

// Public returns the key that verifies the signatures of k.
func (k *SecretKey) Public() PublicKey {
	out := PublicKey{ID: k.id}
	copy(out.key[:], k.key[ed25519.SeedSize:])
	return out
}

// String returns the key in base64, as accepted by the -P flag of minisign.
func (k PublicKey) String() string {
	return base64.StdEncoding.EncodeToString(slices.Concat(pure[:], k.ID[:], k.key[:]))
}

// File returns the contents of a public key file.
func (k PublicKey) File() []byte {
	return fmt.Appendf(nil, "untrusted comment: minisign public key %s\n%s\n", k.ID, k)
}

// ParsePublicKey reads the contents of a public key file, or its line in base64 alone. The error is [ErrKey].
func ParsePublicKey(text []byte) (PublicKey, error) {
	var out PublicKey
	lines := linesOf(text)
	if len(lines) == 2 && isComment(lines[0]) {
		lines = lines[1:]
	}
	if len(lines) != 1 {
		return out, ErrKey
	}
	raw, err := base64.StdEncoding.DecodeString(lines[0])
	if err != nil || len(raw) != 2+idSize+ed25519.PublicKeySize || !bytes.HasPrefix(raw, pure[:]) {
		return out, ErrKey
	}
	copy(out.ID[:], raw[2:])
	copy(out.key[:], raw[2+idSize:])
	return out, nil
}

// The layout of a secret key: algorithms of the signature, of the key derivation and of the checksum, the salt, two
// limits of the derivation, and the body, which is encrypted: identifier, key and checksum.
const (
	saltSize = 32
	headSize = 6 + saltSize + 16
	bodySize = idSize + ed25519.PrivateKeySize + blake2b.Size256
)

// The limits of scrypt for new keys: N = 2^17, r = 8, p = 1, which takes 128 MiB; and the largest that are accepted,
// which are the defaults of minisign.
const (
	opsLimit        = 1 << 22
	memoryLimit     = 1 << 27
	mostOps         = 1 << 25
	mostMemoryLimit = 1 << 30
)

// checksum is the checksum of the body of a secret key.
func (k *SecretKey) checksum() [blake2b.Size256]byte {
	return blake2b.Sum256(slices.Concat(pure[:], k.id[:], k.key))
}

// File returns the contents of a secret key file, encrypted under a password unless that is empty.
func (k *SecretKey) File(password []byte) ([]byte, error) {
	sum := k.checksum()
	head := make([]byte, headSize)
	body := slices.Concat(k.id[:], k.key, sum[:])
	copy(head, slices.Concat(pure[:], noKDF[:], blake2[:]))
	comment := "minisign secret key, not encrypted"
	if len(password) > 0 {
		comment = "minisign encrypted secret key"
		salt, err := secret.FreshKey()
		if err != nil {
			return nil, err
		}
		copy(head[2:], scryptKDF[:])
		copy(head[6:], salt[:])
		binary.LittleEndian.PutUint64(head[6+saltSize:], opsLimit)
		binary.LittleEndian.PutUint64(head[6+saltSize+8:], memoryLimit)
		if err := crypt(head, body, password); err != nil {
			return nil, err
		}
	}
	return fmt.Appendf(nil, "untrusted comment: %s\n%s\n", comment,
		base64.StdEncoding.EncodeToString(append(head, body...))), nil
}

// ParseSecretKey reads the contents of a secret key file. The error is [ErrKey], [ErrEncrypted] if the key needs a
// password and password is empty, or [ErrPassword].
func ParseSecretKey(text, password []byte) (*SecretKey, error) {
	lines := linesOf(text)
	if len(lines) != 2 || !isComment(lines[0]) {
		return nil, ErrKey
	}
	raw, err := base64.StdEncoding.DecodeString(lines[1])
	if err != nil || len(raw) != headSize+bodySize || !bytes.HasPrefix(raw, pure[:]) ||
		!bytes.Equal(raw[4:6], blake2[:]) {
		return nil, ErrKey
	}
	head := raw[:headSize]
	body := raw[headSize:]
	switch [2]byte(head[2:4]) {
	case noKDF:
	case scryptKDF:
		if len(password) == 0 {
			return nil, ErrEncrypted
		}
		if err := crypt(head, body, password); err != nil {
			return nil, err
		}
	default:
		return nil, ErrKey
	}
	k := &SecretKey{ID(body[:idSize]), slices.Clone(body[idSize : idSize+ed25519.PrivateKeySize])}
	if sum := k.checksum(); subtle.ConstantTimeCompare(sum[:], body[bodySize-len(sum):]) != 1 {
		return nil, ErrPassword
	}
	if !k.key.Equal(ed25519.NewKeyFromSeed(k.key.Seed())) {
		return nil, ErrKey // its public half does not match its seed, and signatures would reveal the key
	}
	return k, nil
}

// crypt encrypts or decrypts the body of a secret key in place.
func crypt(head, body, password []byte) error {
	ops := binary.LittleEndian.Uint64(head[6+saltSize:])
	memory := binary.LittleEndian.Uint64(head[6+saltSize+8:])
	if ops > mostOps || memory > mostMemoryLimit {
		return fmt.Errorf(
			"%w: its key derivation takes more memory or time than minisign's default", ErrKey)
	}
	n, r, p := scryptParameters(ops, memory)
	stream, err := scrypt.Key(password, head[6:6+saltSize], n, r, p, len(body))
	if err != nil {
		return fmt.Errorf("%w: %v", ErrKey, err)
	}
	subtle.XORBytes(body, body, stream)
	return nil
}

// scryptParameters returns the parameters that libsodium derives from the limits of a key file.
func scryptParameters(ops, memory uint64) (n, r, p int) {
	const blocks = 8
	ops = max(ops, 1<<15)
	power := func(most uint64) int {
		log := 1
		for log < 30 && uint64(1)<<log <= most/2 {
			log++
		}
		return 1 << log
	}
	if ops < memory/32 {
		return power(ops / (4 * blocks)), blocks, 1
	}
	n = power(memory / (128 * blocks))
	return n, blocks, max(int(ops/4/uint64(n))/blocks, 1)
}

// Sign returns the contents of a signature file for data. The trusted comment, of one line, is signed too.
func (k *SecretKey) Sign(data []byte, comment string) []byte {
	hash := blake2b.Sum512(data)
	signature := ed25519.Sign(k.key, hash[:])
	global := ed25519.Sign(k.key, slices.Concat(signature, []byte(comment)))
	return fmt.Appendf(nil,
		"untrusted comment: signature from minisign secret key %s\n%s\ntrusted comment: %s\n%s\n",
		k.id,
		base64.StdEncoding.EncodeToString(slices.Concat(prehashed[:], k.id[:], signature)), comment,
		base64.StdEncoding.EncodeToString(global))
}

// Verify checks the contents of a signature file against data and returns its trusted comment. The error is
// [ErrSignature], [ErrOtherKey], [ErrForged] or [ErrComment].
func (k PublicKey) Verify(data, signatureFile []byte) (comment string, err error) {
	lines := linesOf(signatureFile)
	if len(lines) != 4 || !isComment(lines[0]) {
		return "", ErrSignature
	}
	comment, trusted := strings.CutPrefix(lines[2], "trusted comment: ")
	raw, err1 := base64.StdEncoding.DecodeString(lines[1])
	global, err2 := base64.StdEncoding.DecodeString(lines[3])
	if !trusted || err1 != nil || err2 != nil || len(raw) != 2+idSize+ed25519.SignatureSize ||
		len(global) != ed25519.SignatureSize {
		return "", ErrSignature
	}
	message := data
	switch [2]byte(raw[:2]) {
	case pure:
	case prehashed:
		hash := blake2b.Sum512(data)
		message = hash[:]
	default:
		return "", ErrSignature
	}
	signature := raw[2+idSize:]
	switch {
	case ID(raw[2:2+idSize]) != k.ID:
		return "", fmt.Errorf("%w: %s, not %s", ErrOtherKey, ID(raw[2:2+idSize]), k.ID)
	case !ed25519.Verify(k.key[:], message, signature):
		return "", ErrForged
	case !ed25519.Verify(k.key[:], slices.Concat(signature, []byte(comment)), global):
		return "", ErrComment
	}
	return comment, nil
}

// linesOf splits a text into lines, without carriage returns and without empty lines at the end.
func linesOf(text []byte) []string {
	s := strings.TrimRight(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func isComment(line string) bool {
	return strings.HasPrefix(line, "untrusted comment: ")
}
