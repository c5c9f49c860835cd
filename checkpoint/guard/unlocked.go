package guard

import (
	"context"
	"errors"
)

// releaseUnlocked puts back what the recording changed where its journal can be
// neither locked nor written: the disk is full or read-only, the directory gone or
// of somebody else by now. What others need, as far as the journal can be read,
// stays; they could not have written since.
func (h *Hold) releaseUnlocked(ctx context.Context, keep Keep) error {
	f := file{path: h.path}
	j, err := f.load()
	if err != nil || j == nil {
		j = &Journal{}
	}
	err = h.releaseAlone(ctx, j)
	return errors.Join(err, keep(h.left()))
}

// Settled reports whether nothing is left of what the recording changed that is
// still to be put back: it is back, or it is known why it stays.
func (h *Hold) Settled() bool {
	for _, c := range h.Changes() {
		if pending(&c) {
			return false
		}
	}
	return true
}
