package noise

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

// TestDeriveIsHMAC compares derived keys with those of crypto/hmac, for messages below and above the buffer.
func TestDeriveIsHMAC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var k Key
		copy(k[:], rapid.SliceOfN(rapid.Byte(), len(k), len(k)).Draw(t, "key"))
		text := rapid.StringN(0, -1, deriveBuffer)
		purpose := text.Draw(t, "purpose")
		path := text.Draw(t, "path")
		index := rapid.Uint64().Draw(t, "index")
		mac := hmac.New(sha256.New, k[:])
		for _, part := range []string{purpose, path} {
			mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			mac.Write([]byte(part))
		}
		mac.Write(binary.BigEndian.AppendUint64(nil, index))
		if got := k.Derive(purpose, path, index); Key(mac.Sum(nil)) != got {
			t.Fatalf("%x, want %x", got, mac.Sum(nil))
		}
	})
}

// BenchmarkDerive measures the derivation of the key of a leaf.
func BenchmarkDerive(b *testing.B) {
	b.ReportAllocs()
	var k Key
	for b.Loop() {
		k = k.Derive("noise", "fit/train/all/model/boosted-kernel/sums", 3)
	}
}
