package kasoku

import (
	"slices"
	"strings"
)

// A Weight is how much a warning takes from what a run says, or asks of its reader. Warnings
// are printed the heaviest first.
type Weight int

// The weights, the heaviest first.
const (
	// Left: something on the service is not as it was before the run, or may not be.
	Left Weight = iota
	// Spoiled: figures of the run may be those of something else.
	Spoiled
	// Blind: rules of weight had nothing to look at.
	Blind
	// Partial: some figures or texts are missing.
	Partial
	// Lasting: what a run lacks because of who records, or where: the same in each run.
	Lasting
)

// weights are those of codes. One that is not listed is Partial.
var weights = map[string]Weight{
	"not-restored": Left, "sessions-log": Left, "changed-meanwhile": Left, "guard-restarted": Left, "journal-left": Left,
	"journal-set-aside": Left, "no-guard": Left, "server-restarted": Left, "still-running": Left,

	"late-generator": Spoiled, "busy-generator": Spoiled, "no-descriptors": Spoiled, "no-local-ports": Spoiled,
	"damage": Spoiled, "part-lost": Spoiled, "store": Spoiled, "handover": Spoiled, "log-foreign": Spoiled,
	"late-begin": Spoiled, "clocks-disagree": Spoiled, "same-requests": Spoiled, "refused": Spoiled, "no-answer": Spoiled,
	"answers": Spoiled, "command-failed": Spoiled,

	"log-lacks": Blind, "log-missing": Blind, "log-gone": Blind, "log-lost": Blind, "no-logs": Blind, "empty-log": Blind,
	"database-unasked": Blind, "slow-log-partial": Blind, "slow-log-braked": Blind, "no-slow-log": Blind,
	"no-slow-table": Blind, "service-unknown": Blind, "sessions-unknown": Blind, "no-score": Blind,

	"not-confined": Lasting, "shared-host": Lasting, "shared-server": Lasting, "one-run": Lasting,
}

// rightsHint begins the hint of what the user who records may not see.
const rightsHint = "run as root, or as the user of the "

// Weight returns how heavy the warning is.
func (w Warning) Weight() Weight {
	if strings.HasPrefix(w.Hint, rightsHint) {
		return Lasting
	}
	if weight, ok := weights[w.Code]; ok {
		return weight
	}
	return Partial
}

// Unseen reports whether the warning is of what the user who records may not see.
func (w Warning) Unseen() bool { return strings.HasPrefix(w.Hint, rightsHint) }

// ByWeight returns the warnings with the heaviest first, each text once.
func ByWeight(all []Warning) []Warning {
	var out []Warning
	for _, w := range all {
		same := func(o Warning) bool { return o.Host == w.Host && o.Code == w.Code && o.Text == w.Text }
		if !slices.ContainsFunc(out, same) {
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b Warning) int { return int(a.Weight()) - int(b.Weight()) })
	return out
}

// Same reports whether two warnings say the same of two runs: their texts differ in numbers
// alone, such as those of processes.
func (w Warning) Same(o Warning) bool {
	return w.Host == o.Host && w.Code == o.Code && withoutNumbers(w.Text) == withoutNumbers(o.Text)
}

// withoutNumbers replaces each run of digits, with its separators, by one sign.
func withoutNumbers(s string) string {
	var b strings.Builder
	inside := false
	for _, r := range s {
		if r >= '0' && r <= '9' || inside && (r == ',' || r == '.') {
			if !inside {
				b.WriteByte('#')
			}
			inside = true
			continue
		}
		inside = false
		b.WriteRune(r)
	}
	return b.String()
}
