package nethttp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/kasoku/kasoku/load"
)

// What other engines share with this one, so that both send the same and say the
// same of it, is in this file.

// Request returns request n to a target as an engine with these options sends
// it, so that other engines send the same.
func (o *Options) Request(t *load.Target, n uint64) (*http.Request, error) {
	tmpl, err := (&Engine{opts: *o}).template(t)
	if err != nil {
		return nil, err
	}
	req, _, err := tmpl.request(context.Background(), n)
	return req, err
}

// Failed words the failure of a request as http.Client does:
// `Get "http://…": EOF`. The URL's password is not shown.
func Failed(method string, u *url.URL, err error) error {
	op := method[:1] + strings.ToLower(method[1:])
	return &url.Error{Op: op, URL: withoutPassword(u), Err: err}
}

func withoutPassword(u *url.URL) string {
	if _, has := u.User.Password(); !has {
		return u.String()
	}
	return strings.Replace(u.String(), u.User.String()+"@", u.User.Username()+":***@", 1)
}

// The texts of Vegeta's http.Client for a request that took too long.
var (
	ErrTimeout     = errors.New("context deadline exceeded (Client.Timeout exceeded while awaiting headers)")
	ErrBodyTimeout = errors.New("context deadline exceeded (Client.Timeout or context cancellation while reading body)")
)

// Redirects reports whether http.Client follows the Location of an answer with
// this code.
func Redirects(code int) bool {
	switch code {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// Counted returns how many of n bytes of a body count, by [Options.MaxBody].
func Counted(n uint64, maxBody int64) uint64 {
	switch {
	case maxBody == 0:
		return n
	case maxBody < 0:
		return 0
	default:
		return min(n, uint64(maxBody))
	}
}
