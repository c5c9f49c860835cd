package record

import (
	"errors"

	"github.com/kasoku/kasoku/internal/causes"
	"github.com/kasoku/kasoku/store"
)

// full stands for all the words that SQLite and the kernel have for a full disk.
const full = "full"

// distinctErrors joins errors and leaves out those with the cause of an earlier one: a
// full disk makes every step that stores something fail.
func distinctErrors(errs ...error) error {
	seen := map[string]bool{}
	var kept []error
	for _, err := range causes.Flatten(errs) {
		if why := causes.Innermost(err).Error(); store.IsFull(err) && !seen[full] {
			seen[full] = true
			kept = append(kept, err)
		} else if !store.IsFull(err) && !seen[why] {
			seen[why] = true
			kept = append(kept, err)
		}
	}
	return errors.Join(kept...)
}
