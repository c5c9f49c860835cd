package request

import (
	"errors"
	"net/http"
)

// An Error is a request that is refused.
type Error struct {
	Status int // of the answer, which has no body
	Reason string
}

// Error returns why the request is refused.
func (e *Error) Error() string { return e.Reason }

// Status returns the status to answer after an error: 200 for none, that of an
// [Error], 500 for any other.
func Status(err error) int {
	if err == nil {
		return http.StatusOK
	}
	var refused *Error
	if errors.As(err, &refused) {
		return refused.Status
	}
	return http.StatusInternalServerError
}

// NotFound is for the id of a row that is not there or is sold out.
var NotFound = &Error{http.StatusNotFound, "no such row"}

func bad(reason string) error { return &Error{http.StatusBadRequest, reason} }

// broken refuses with 500, as the contest's service does where a library's error
// reached it.
func broken(reason string) error { return &Error{http.StatusInternalServerError, reason} }
