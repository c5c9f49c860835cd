package agent

import (
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync/atomic"

	"golang.org/x/net/publicsuffix"
)

// cookies are those of a user. The zero value keeps none.
type cookies struct {
	jar *cookiejar.Jar
	any *atomic.Bool // a cookie was set once
}

func newCookies() cookies {
	// It cannot fail.
	jar, _ := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	return cookies{jar, new(atomic.Bool)}
}

// header returns the value of Cookie for a call: what its request says, and what
// the server has set. It costs nothing as long as there is no cookie.
func (c cookies) header(x *call) string {
	own := x.r.Header["Cookie"]
	if len(own) == 0 && (c.jar == nil || !c.any.Load()) {
		return ""
	}
	req := http.Request{Header: http.Header{}}
	if len(own) > 0 {
		req.Header["Cookie"] = []string{strings.Join(own, "; ")}
	}
	if c.jar != nil {
		for _, one := range c.jar.Cookies(x.where()) {
			req.AddCookie(one)
		}
	}
	return req.Header.Get("Cookie")
}

// take keeps what an answer sets. What is no cookie is left out, as browsers do.
func (c cookies) take(x *call, h Header) {
	if c.jar == nil {
		return
	}
	var set []*http.Cookie
	for _, line := range h.Values("Set-Cookie") {
		if one, err := http.ParseSetCookie(line); err == nil {
			set = append(set, one)
		}
	}
	if len(set) > 0 {
		c.jar.SetCookies(x.where(), set)
		c.any.Store(true)
	}
}
