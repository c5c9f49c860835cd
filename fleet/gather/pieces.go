package gather

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/kasoku/kasoku/fleet"
)

// A handed file is one that a host says it has for who asks.
type handed struct {
	hard     context.Context // its end gives up
	patience time.Duration
	run      string
	what     string // "its run file"
	size     int64
	sum      string // SHA-256, in hexadecimal digits
	ask      func(verb string, question, answer any) error
}

// pieces writes the file, piece by piece. A piece that does not come is asked for again.
func pieces(f *os.File, h *handed) error {
	sum := sha256.New()
	heard := time.Now()
	for at := int64(0); at < h.size; {
		var p fleet.PartAnswer
		err := h.ask(fleet.Part, fleet.PartQuestion{Run: h.run, Offset: at}, &p)
		switch {
		case err != nil && (h.hard.Err() != nil || time.Since(heard) > h.patience):
			return fmt.Errorf("%s has not come whole: %w", h.what, err)
		case err != nil:
			select {
			case <-time.After(pollEvery):
			case <-h.hard.Done():
			}
			continue
		case p.Error != "":
			return errors.New(h.what + " has not come whole: " + p.Error)
		case int64(len(p.Data)) != min(fleet.MaxPiece, h.size-at): // fewer at a time would go on for days
			return fmt.Errorf("%s is not the one that it measured: %d bytes at %d of %d", h.what, len(p.Data), at, h.size)
		}
		heard = time.Now()
		if _, err := f.Write(p.Data); err != nil {
			return err
		}
		_, _ = sum.Write(p.Data) // it never fails
		at += int64(len(p.Data))
	}
	if hex.EncodeToString(sum.Sum(nil)) != h.sum {
		return errors.New(h.what + " is not the one that it measured: another SHA-256")
	}
	return nil
}
