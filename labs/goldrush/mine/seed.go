package mine

import (
	"crypto/aes"
	"crypto/cipher"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	oldrand "math/rand"
	"math/rand/v2"
)

// A source gives each part of a game a stream of numbers of its own, so that what one shows,
// such as the map, says nothing of another.
type source struct {
	key  [32]byte
	seed int64 // 0: the key is random
}

// newSource returns the source of a seed; of 0 it is drawn from the system's.
func newSource(seed int64) *source {
	s := &source{seed: seed}
	if seed == 0 {
		_, _ = crand.Read(s.key[:]) // it never fails
		return s
	}
	binary.LittleEndian.PutUint64(s.key[:], uint64(seed))
	return s
}

// sub is the key of a part.
func (s *source) sub(part string) [32]byte { return sha256.Sum256(append(s.key[:], part...)) }

func (s *source) stream(part string) *rand.Rand { return rand.New(rand.NewChaCha8(s.sub(part))) }

// bestDepth is the depth at which digging earns most, from 3 to 7. It is the one thing in
// which a game with a seed is the published one of that seed: the first number of Go's old
// generator.
func (s *source) bestDepth() int {
	const least, depths = 3, 5
	if s.seed == 0 {
		return least + s.stream("values").IntN(depths)
	}
	return least + oldrand.New(oldrand.NewSource(s.seed)).Intn(depths)
}

// A place is where a treasure was.
type place struct{ x, y, depth int }

// A sealer makes places into the texts that stand for treasures, and back. No one else can
// make such a text, nor read it.
type sealer struct{ block cipher.Block }

func (s *source) sealer() sealer {
	key := s.sub("treasures")
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	return sealer{block}
}

// seal returns the text. The zeros at the end of its block are what a forged one lacks.
func (s sealer) seal(p place) string {
	var b [aes.BlockSize]byte
	binary.LittleEndian.PutUint16(b[0:], uint16(p.x))
	binary.LittleEndian.PutUint16(b[2:], uint16(p.y))
	b[4] = byte(p.depth)
	s.block.Encrypt(b[:], b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// open reads a text, and reports whether it is one of its own.
func (s sealer) open(text string) (p place, ok bool) {
	var b [aes.BlockSize]byte
	if len(text) != base64.RawURLEncoding.EncodedLen(len(b)) {
		return p, false
	}
	if _, err := base64.RawURLEncoding.Decode(b[:], []byte(text)); err != nil {
		return p, false
	}
	s.block.Decrypt(b[:], b[:])
	for _, c := range b[5:] {
		if c != 0 {
			return p, false
		}
	}
	return place{int(binary.LittleEndian.Uint16(b[0:])), int(binary.LittleEndian.Uint16(b[2:])), int(b[4])}, true
}
