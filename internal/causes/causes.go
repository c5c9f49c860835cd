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
