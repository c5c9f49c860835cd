package load

import "strings"

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
