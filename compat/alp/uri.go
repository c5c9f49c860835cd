package alp

import (
	"net/url"
	"slices"
	"strings"
)

// plainPath are the characters of a path that net/url leaves as they are. A
// percent sign is one when two hexadecimal digits follow.
var plainPath = func() (set [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/!$&'()*+,;=:@[]" {
		set[c] = true
	}
	return set
}()

// A keyRule is what of a URI makes the name of a class.
type keyRule struct {
	query        bool // with the query string, its keys sorted
	ignoreValues bool // and xxx for its values
}

// append appends the name of a URI to dst: as net/url writes it, which encodes
// what should have been. It reports false for what is no URI.
func (r keyRule) append(dst, uri []byte) ([]byte, bool) {
	if path, ok := r.plain(uri); ok {
		return append(dst, path...), true
	}
	if len(uri) == 0 {
		return dst, false
	}
	u, err := url.Parse(string(uri))
	if err != nil {
		return dst, false
	}
	switch {
	case !r.query:
		u.RawQuery = ""
	case u.RawQuery != "":
		q := u.Query()
		if r.ignoreValues {
			for k := range q {
				q.Set(k, "xxx")
			}
		}
		u.RawQuery = q.Encode()
	}
	return append(dst, u.String()...), true
}

// plain returns the name of a URI that needs no work: a path of which nothing is
// encoded or decoded, and a query string only where it goes.
func (r keyRule) plain(uri []byte) (path []byte, ok bool) {
	if len(uri) == 0 || uri[0] != '/' || len(uri) > 1 && uri[1] == '/' {
		return nil, false
	}
	i := 0
	for ; i < len(uri); i++ {
		c := uri[i]
		if plainPath[c] {
			continue
		}
		if c != '%' || i+2 >= len(uri) || !isHex(uri[i+1]) || !isHex(uri[i+2]) {
			break
		}
		i += 2
	}
	path = uri[:i]
	if i == len(uri) {
		return path, true
	}
	if uri[i] != '?' || r.query || i+1 == len(uri) {
		return nil, false
	}
	for _, c := range uri[i+1:] {
		if c == '#' || c < ' ' || c == 0x7f {
			return nil, false
		}
	}
	return path, true
}

func isHex(c byte) bool {
	return c-'0' <= 9 || c-'a' <= 5 || c-'A' <= 5
}

// sortedQuery returns a matching group as alp understands it: when it looks like
// a URI with a query string, that has its keys sorted, as those of requests have.
// It is the name of the class as well.
func sortedQuery(group string) string {
	u, err := url.Parse(group)
	if err != nil || u.RawQuery == "" {
		return group
	}
	values := map[string][]string{}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		k, v, _ := strings.Cut(pair, "=")
		values[k] = append(values[k], v)
	}
	var out []string
	for k, v := range values {
		out = append(out, k+"="+strings.Join(v, "="+k+"="))
	}
	slices.SortFunc(out, func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return strings.Compare(a, b)
	})
	return u.Path + "?" + strings.Join(out, "&")
}

// decodeName returns the name of a class with its path and query string decoded.
func decodeName(name string) string {
	u, err := url.Parse(name)
	if err != nil {
		return name
	}
	if u.RawQuery == "" {
		return u.Path
	}
	query, err := url.QueryUnescape(u.Query().Encode())
	if err != nil {
		return name
	}
	return u.Path + "?" + query
}
