package fleet

import (
	"fmt"

	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// maxHostName is the longest name of a host: a label of the domain name system.
const maxHostName = 63

// CheckHost returns an error for what cannot be the name of a host of a fleet: it is one
// word of lower-case letters, digits, - and _, so that it is one token of a subject.
func CheckHost(name string) error {
	bad := len(name) == 0 || len(name) > maxHostName
	for _, c := range []byte(name) {
		bad = bad || !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_')
	}
	if bad {
		return fmt.Errorf("bad host name %q: want lower-case letters, digits, - and _, at most %d", clip(name), maxHostName)
	}
	return nil
}

// HostName returns what of a host's own name can be its name in a fleet: the part before
// the first dot, in lower case. It may still be none; see [CheckHost].
func HostName(own string) string {
	short, _, _ := strings.Cut(strings.ToLower(own), ".")
	return short
}

// Operator is the name of who coordinates; no host may have it.
const Operator = "operator"

// Absent is why a host is not asked.
const Absent = "it is not connected to the hub"

// The questions that a host answers.
const (
	Hello  = "hello"
	Clock  = "clock"
	Load   = "load"
	Frames = "frames"
	Stop   = "stop"
)

// Verbs are all questions.
var Verbs = []string{Hello, Clock, Load, Frames, Stop, Record, Recording, Part, Logs}

// Subject returns where a host is asked.
func Subject(host, verb string) string { return "kasoku.ask." + host + "." + verb }

// AllQuestions is what who coordinates may publish to.
const AllQuestions = "kasoku.ask.>"

// A Ticket is what a host needs to join a fleet, as the line that a hub prints:
//
//	kasoku-join:10.0.0.9:7422,ca=SHA256,token=TOKEN,until=20261129T220000Z
type Ticket struct {
	Address string    // HOST:PORT of the hub
	CA      string    // SHA-256 of the public key of the hub's certificate, 64 hexadecimal digits
	Token   string    // for one use
	Until   time.Time // the token is refused from then on

	// Cluster: instead of a hub, a NATS server of somebody's own, whose configuration has the host's key. There is
	// no token:
	//
	//	kasoku-cluster:nats.example.com:4222,ca=SHA256
	Cluster bool
}

const (
	ticketPrefix  = "kasoku-join:"
	clusterPrefix = "kasoku-cluster:"
	ticketTime    = "20060102T150405Z"
)

// String returns the line.
func (t Ticket) String() string {
	if t.Cluster {
		return clusterPrefix + t.Address + ",ca=" + t.CA
	}
	return fmt.Sprintf("%s%s,ca=%s,token=%s,until=%s", ticketPrefix, t.Address, t.CA, t.Token,
		t.Until.UTC().Format(ticketTime))
}

var ticketPattern = lazyregexp.New(
	`^kasoku-join:([0-9A-Za-z.:\[\]_-]{3,300}),ca=([0-9a-f]{64}),token=([0-9A-Za-z_-]{20,64}),until=([0-9]{8}T[0-9]{6}Z)$`)

var clusterPattern = lazyregexp.New(`^kasoku-cluster:([0-9A-Za-z.:\[\]_-]{3,300}),ca=([0-9a-f]{64})$`)

// ParseTicket reads the line. An error does not quote it: it holds a secret.
func ParseTicket(line string) (Ticket, error) {
	if m := clusterPattern().FindStringSubmatch(strings.TrimSpace(line)); m != nil {
		return Ticket{Address: m[1], CA: m[2], Cluster: true}, nil
	}
	m := ticketPattern().FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return Ticket{}, fmt.Errorf("bad join line: want %sADDRESS:PORT,ca=…,token=…,until=…, as `kasoku hub` prints it", ticketPrefix)
	}
	until, err := time.Parse(ticketTime, m[4])
	if err != nil {
		return Ticket{}, fmt.Errorf("bad join line: until: %w", err)
	}
	return Ticket{Address: m[1], CA: m[2], Token: m[3], Until: until}, nil
}

// clip shortens what is quoted.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// Clean returns the text of another host, of a server or of a file as it may be printed: one line without control
// characters, and not long.
func Clean(s string) string {
	const most = 300
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
