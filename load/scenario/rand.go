package scenario

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// newRand returns random numbers that follow from what it is given alone. A hash makes
// the states of neighbours as different as any.
func newRand(seed uint64, name string, number int) *rand.Rand {
	key := binary.BigEndian.AppendUint64(nil, seed)
	key = binary.BigEndian.AppendUint64(key, uint64(number))
	sum := sha256.Sum256(append(key, name...))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}
