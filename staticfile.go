package kasoku

import (
	"path"
	"slices"
	"strings"
)

// FilesScope is the scope of the settings by which a run says where the web server of the
// service finds files that the application sends: the name of one is the path of a URL,
// the value a directory below which that path is a file of the same size.
const FilesScope = "files"

// staticEndings are those of files that are the same for everyone until a service is
// deployed anew.
var staticEndings = []string{
	".css", ".js", ".mjs", ".map", ".html", ".htm", ".ico", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif",
	".woff", ".woff2", ".ttf", ".wasm", ".txt", ".webmanifest",
}

// IsStatic reports whether the endpoint sends what looks like a file: its path ends as those
// of files do, and its answers have one size.
func (e *Endpoint) IsStatic() bool {
	file, _, query := strings.Cut(e.Route, "?")
	return !query && (e.Method == "GET" || e.Method == "HEAD") && slices.Contains(staticEndings, strings.ToLower(path.Ext(file))) &&
		e.Varied == 0 && e.Codes[200] > 0
}

// FileRoot returns the directory below which the path of a URL is a file that the service's
// web server may read; false where none was found, or none looked for.
func (r *Recording) FileRoot(url string) (dir string, ok bool) {
	for _, s := range r.Settings {
		if s.Scope == FilesScope && s.Name == url && IsPlainPath(s.Value) {
			return s.Value, true
		}
	}
	return "", false
}

// IsPlainPath reports whether a path is absolute, goes nowhere up, and has no character that
// means something to a shell, a web server's configuration or a terminal.
func IsPlainPath(name string) bool {
	return strings.HasPrefix(name, "/") && path.Clean(name) == name && !strings.ContainsFunc(name, func(c rune) bool {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		return !letter && !strings.ContainsRune("/._-+@", c)
	})
}
