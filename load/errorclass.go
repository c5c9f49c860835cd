package load

import (
	"strconv"
	"strings"
)

// maxErrorText bounds an error message that is kept, in bytes.
const maxErrorText = 300

// ErrorClass returns the message without what differs between requests that
// failed alike: the local port of a connection, as in
//
//	read tcp 127.0.0.1:40312->127.0.0.1:8080: read: connection reset by peer
//
// and without what is beyond 300 bytes.
func ErrorClass(msg string) string {
	if i := strings.Index(msg, "->"); i > 0 {
		j := i
		for j > 0 && msg[j-1] >= '0' && msg[j-1] <= '9' {
			j--
		}
		if j < i && j > 0 && msg[j-1] == ':' {
			msg = msg[:j-1] + msg[i:]
		}
	}
	if len(msg) > maxErrorText {
		msg = strings.ToValidUTF8(msg[:maxErrorText], "") + "…"
	}
	return msg
}

// withoutURL returns the message of a [url.Error] without the URL:
//
//	Get "http://127.0.0.1/users/17": EOF
//
// becomes "Get: EOF". Another message stays as it is.
func withoutURL(msg string) string {
	op, rest, found := strings.Cut(msg, " ")
	if !found || !strings.HasPrefix(rest, `"http`) {
		return msg
	}
	url, err := strconv.QuotedPrefix(rest)
	if why, ok := strings.CutPrefix(rest[len(url):], ": "); ok && err == nil {
		return op + ": " + why
	}
	return msg
}
