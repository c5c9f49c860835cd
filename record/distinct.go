package record

import (
	"errors"

	"github.com/kasoku/kasoku/store"
)

// full stands for all the words that SQLite and the kernel have for a full disk.
const full = "full"

// distinct joins errors and leaves out those with the cause of an earlier one: a
// full disk makes every step that stores something fail.
func distinct(errs ...error) error {
	seen := map[string]bool{}
	var kept []error
	for _, err := range flat(errs) {
		if why := cause(err).Error(); store.IsFull(err) && !seen[full] {
			seen[full] = true
			kept = append(kept, err)
		} else if !store.IsFull(err) && !seen[why] {
			seen[why] = true
			kept = append(kept, err)
		}
	}
	return errors.Join(kept...)
}

// flat takes joined errors apart.
func flat(errs []error) []error {
	var out []error
	for _, err := range errs {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			out = append(out, flat(joined.Unwrap())...)
			continue
		}
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

// cause returns the innermost error of a chain, of joined ones the first.
func cause(err error) error {
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
