package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/kasoku/kasoku/wire/mackerel"
)

// ask asks the API once: a gate cannot wait, and the next run asks again.
func (t target) ask(ctx context.Context, timeout time.Duration) (mackerel.HostState, error) {
	c, err := mackerel.New(mackerel.Options{Key: t.key, Base: t.base, Attempts: 1, Timeout: timeout, UserAgent: name})
	if err != nil {
		return mackerel.HostState{}, &refusal{err}
	}
	return c.HostState(ctx, t.id)
}

// A refusal is an error that waiting does not mend.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// isDown reports whether the API gave no answer for now. A refused key or an
// unknown host is one; what a proxy says in its place is none.
func isDown(err error) bool {
	var r *refusal
	var answer *mackerel.Error
	switch {
	case errors.As(err, &r):
		return false
	case errors.As(err, &answer):
		s := answer.Status
		return s < 400 || s >= 500 || s == http.StatusRequestTimeout || s == http.StatusTooManyRequests
	}
	return true
}
