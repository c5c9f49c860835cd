// Package keys makes and names the keys by which the members of a fleet know one another.
package keys

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/nats-io/nkeys"
)

// New returns the seed of a new key (Ed25519, as nkeys writes it), and its public part.
func New() (seed []byte, public string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, "", fmt.Errorf("make key: %w", err)
	}
	if seed, err = pair.Seed(); err != nil {
		return nil, "", fmt.Errorf("make key: %w", err)
	}
	if public, err = pair.PublicKey(); err != nil {
		return nil, "", fmt.Errorf("make key: %w", err)
	}
	return seed, public, nil
}

// Public returns the public part of the key of a seed.
func Public(seed []byte) (string, error) {
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		return "", fmt.Errorf("read key: %w", err)
	}
	return pair.PublicKey()
}

// CheckPublic returns an error for what is not the public part of a member's key.
func CheckPublic(key string) error {
	if !nkeys.IsValidPublicUserKey(key) {
		return errors.New("that is no key: want U and 55 more letters and digits")
	}
	return nil
}

// Fingerprint returns the SHA-256 of a certificate's public key, in hexadecimal digits.
func Fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}
