package program

import (
	"errors"
	"fmt"
	"io"
)

// Complain prints an error on one line and, on the next, what to do about it when
// the error or one that it wraps has a method Hint() string.
func Complain(w io.Writer, name string, err error) {
	fmt.Fprintf(w, "%s: %v\n", name, err)
	if hint := hintOf(err); hint != "" {
		fmt.Fprintf(w, "%s: hint: %s\n", name, hint)
	}
}

// Explanation is an error with its hint on one line, as the message of a check.
func Explanation(err error) string {
	if hint := hintOf(err); hint != "" {
		return fmt.Sprintf("%v (hint: %s)", err, hint)
	}
	return err.Error()
}

func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}
