package phases

import (
	"fmt"
	"strings"
)

// A Request names requests by method and path, such as POST /initialize. An empty
// method stands for any.
type Request struct {
	Method string
	Path   string
}

// Initialize is what contests begin with.
var Initialize = Request{"POST", "/initialize"}

// ParseRequest reads "POST /initialize" or "/initialize". Of a URL only the path
// counts.
func ParseRequest(text string) (Request, error) {
	fields := strings.Fields(text)
	var r Request
	switch len(fields) {
	case 1:
		r.Path = fields[0]
	case 2:
		r.Method, r.Path = strings.ToUpper(fields[0]), fields[1]
	default:
		return r, fmt.Errorf("request %q: want METHOD PATH, such as %s", text, Initialize)
	}
	if strings.Trim(r.Method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return Request{}, fmt.Errorf("request %q: %q is not a method", text, r.Method)
	}
	if _, rest, ok := strings.Cut(r.Path, "://"); ok && !strings.HasPrefix(r.Path, "/") {
		_, path, _ := strings.Cut(rest, "/")
		r.Path = "/" + path
	}
	if r.Path = targetOf(r.Path); !strings.HasPrefix(r.Path, "/") {
		return Request{}, fmt.Errorf("request %q: %q is not a path: it begins with a /", text, r.Path)
	}
	return r, nil
}

// String returns "POST /initialize".
func (r Request) String() string { return strings.TrimSpace(r.Method + " " + r.Path) }

// Matches reports whether a request is one of those. The query string does not
// count, nor does a slash at the end.
func (r Request) Matches(method, path string) bool {
	return (r.Method == "" || r.Method == method) && targetOf(path) == r.Path
}

// targetOf returns the path without query string and without slashes at its end.
func targetOf(path string) string {
	if i := strings.IndexAny(path, "?#;"); i >= 0 {
		path = path[:i]
	}
	if short := strings.TrimRight(path, "/"); short != "" {
		return short
	}
	return path[:min(1, len(path))]
}
