// Package causes takes errors apart: joined ones into each, a chain to its innermost.
package causes

import "errors"

// Flatten takes joined errors apart, and leaves out those that are nil.
func Flatten(errs []error) []error {
	var out []error
	for _, err := range errs {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			out = append(out, Flatten(joined.Unwrap())...)
			continue
		}
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

// Innermost returns the innermost error of a chain, of joined ones the first.
func Innermost(err error) error {
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

// Distinct joins errors and leaves out those with the cause of an earlier one. Those that
// same holds for have one cause, whatever their words: a full disk makes every step that
// stores something fail.
func Distinct(same func(error) bool, errs ...error) error {
	seen, met := map[string]bool{}, false
	var kept []error
	for _, err := range Flatten(errs) {
		if why := Innermost(err).Error(); same(err) && !met {
			met = true
			kept = append(kept, err)
		} else if !same(err) && !seen[why] {
			seen[why] = true
			kept = append(kept, err)
		}
	}
	return errors.Join(kept...)
}
