package find

import (
	"net"
	"net/http"
	"strings"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// Target writes the target of a load for an [Ask]: a URL, an address or a path, and after a
// space the name by which requests ask there, where their Host header gives one. A name that
// differs from request to request is not known.
func Target(at string, header http.Header) string {
	at, _, _ = strings.Cut(at, " ")
	for name, values := range header {
		if strings.EqualFold(name, "Host") && len(values) > 0 {
			return at + " " + siteOf(values[len(values)-1])
		}
	}
	return at
}

// siteOf returns the name in a Host header, without a port.
func siteOf(host string) string {
	if strings.ContainsAny(host, "{ ") {
		return ""
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// hostHeader is a word of a command that sets the header: alone, or with the option before it.
var hostHeader = lazyregexp.New(`(?i)^(?:-H|--?[a-z-]+=)?\s*Host:\s*(\S+)\s*$`)

// Targets returns those in the words of a command that makes a load: its URLs, and targets as
// Vegeta has them, each by every Host header that the command sets.
func Targets(words []string) (out []string) {
	var headers []http.Header
	for _, word := range words {
		if m := hostHeader().FindStringSubmatch(word); m != nil {
			headers = append(headers, http.Header{"Host": {m[1]}})
		}
	}
	if len(headers) == 0 {
		headers = []http.Header{nil}
	}
	for _, word := range words {
		if f := strings.Fields(word); len(f) == 2 && strings.Trim(f[0], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
			word = f[1]
		}
		if strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") {
			for _, header := range headers {
				out = append(out, Target(word, header))
			}
		}
	}
	return out
}
