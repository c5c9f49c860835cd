package record

import (
	"errors"

	"github.com/kasoku/kasoku/store"
)

// full stands for all the words that SQLite and the kernel have for a full disk.
const full = "full"

// distinctErrors joins errors and leaves out those with the cause of an earlier one: a
// full disk makes every step that stores something fail.
func distinctErrors(errs ...error) error {
	seen := map[string]bool{}
	var kept []error
	for _, err := range flattenErrors(errs) {
		if why := innermostError(err).Error(); store.IsFull(err) && !seen[full] {
			seen[full] = true
			kept = append(kept, err)
		} else if !store.IsFull(err) && !seen[why] {
			seen[why] = true
			kept = append(kept, err)
		}
	}
	return errors.Join(kept...)
}

// flattenErrors takes joined errors apart.
func flattenErrors(errs []error) []error {
	var out []error
	for _, err := range errs {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			out = append(out, flattenErrors(joined.Unwrap())...)
			continue
		}
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

// innermostError returns the innermost error of a chain, of joined ones the first.
func innermostError(err error) error {
	for {
		inner := errors.Unwrap(err)
		if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 0 {
			inner = joined.Unwrap()[0]
		}
		if inner == nil {
			return err
		}
		err = inner
	}
}
