package kasoku

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// AgentsScope is the scope of the settings by which a run keeps the names of the bots in
// its access log: the name of one is a product's, in lower case, the value how many requests
// it sent and how many of them were passed on.
const AgentsScope = "agents"

// A NamedBot is what a bot asked for that gives its product's name.
type NamedBot struct {
	Name     string // lower case
	Requests uint64
	Passed   uint64 // of Requests, answered by the upstream server
}

// formatNamedBot is the value of a setting in [AgentsScope].
const formatNamedBot = "%d requests, %d passed on"

// Setting returns the form in which a run keeps it.
func (b NamedBot) Setting(host string) Setting {
	return Setting{Host: host, Scope: AgentsScope, Name: b.Name, Value: fmt.Sprintf(formatNamedBot, b.Requests, b.Passed)}
}

// NamedBots returns the bots of a host's access log that gave a name, those that were passed
// on most first. It is empty where no names were kept.
func (r *Recording) NamedBots(host string) (out []NamedBot) {
	for _, s := range r.Settings {
		b := NamedBot{Name: s.Name}
		if s.Scope != AgentsScope || s.Host != host || !IsProductName(s.Name) {
			continue
		}
		if n, err := fmt.Sscanf(s.Value, formatNamedBot, &b.Requests, &b.Passed); n == 2 && err == nil && b.Passed <= b.Requests {
			out = append(out, b)
		}
	}
	SortNamedBots(out)
	return out
}

// SortNamedBots puts those first that were passed on most.
func SortNamedBots(bots []NamedBot) {
	slices.SortFunc(bots, func(a, b NamedBot) int {
		return cmp.Or(cmp.Compare(b.Passed, a.Passed), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
}

// IsProductName reports whether a name is one of 4 to 40 lower-case letters, digits and ".", "_",
// "-", and begins with a letter.
func IsProductName(name string) bool {
	return 4 <= len(name) && len(name) <= 40 && 'a' <= name[0] && name[0] <= 'z' && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || 'z' < c) && (c < '0' || '9' < c) && c != '.' && c != '_' && c != '-'
	})
}
