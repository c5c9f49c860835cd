package kasoku

import (
	"fmt"
	"strings"
	"time"
)

// AgainScope is the scope of the settings by which a run says what clients fetched again that
// they had: the name of one is an endpoint, the value how often, and what it cost.
const AgainScope = "again"

// FetchedAgain are answers 200 to GET that had the size of the one that the same client had
// got for the same URI before. A client is an address with a user agent, and only those
// count that had been answered 304 elsewhere: they keep what they may keep.
type FetchedAgain struct {
	Method, Route string
	Requests      uint64
	Bytes         uint64        // of these answers
	Time          time.Duration // that these requests took
}

// formatAgain is the value of a setting in [AgainScope].
const formatAgain = "%d answers, %d bytes, %d us"

// Setting returns the form in which a run keeps it.
func (f FetchedAgain) Setting(host string) Setting {
	return Setting{Host: host, Scope: AgainScope, Name: f.Method + " " + f.Route,
		Value: fmt.Sprintf(formatAgain, f.Requests, f.Bytes, f.Time.Microseconds())}
}

// FetchedAgain returns what clients of a host's access log fetched again. What is not written
// so is passed over: a run file may come from anywhere.
func (r *Recording) FetchedAgain(host string) (out []FetchedAgain) {
	for _, s := range r.Settings {
		if s.Scope != AgainScope || s.Host != host {
			continue
		}
		var f FetchedAgain
		var us int64
		method, route, ok := strings.Cut(s.Name, " ")
		n, err := fmt.Sscanf(s.Value, formatAgain, &f.Requests, &f.Bytes, &us)
		if ok && n == 3 && err == nil && us >= 0 {
			f.Method, f.Route, f.Time = method, route, time.Duration(us)*time.Microsecond
			out = append(out, f)
		}
	}
	return out
}
