package nethttp

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/kasoku/kasoku/load"
)

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
