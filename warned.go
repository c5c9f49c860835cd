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

// Seen is what the reader of warnings was shown already.
type Seen struct {
	Now    []Warning // by this command
	Before []Warning // of the run before, by the command that made it
}

// Printed reports whether this command has shown the very warning.
func (s Seen) Printed(w Warning) bool {
	return slices.ContainsFunc(s.Now, func(o Warning) bool {
		return o.Host == w.Host && o.Code == w.Code && o.Text == w.Text && o.Hint == w.Hint
	})
}

// Has reports whether the reader has seen the warning: now, or as one of the run before that
// says the same.
func (s Seen) Has(w Warning) bool { return s.Printed(w) || slices.ContainsFunc(s.Before, w.Same) }

// Same reports whether the warnings of two runs say the same: their texts differ in amounts
// alone. Two warnings of one run that differ so are two.
func (w Warning) Same(o Warning) bool {
	return w.Host == o.Host && w.Code == o.Code && withoutAmounts(w.Text) == withoutAmounts(o.Text)
}

// numbered are the words after which a number is a name.
var numbered = []string{"port", "step", "uid", "version"}

// withoutAmounts replaces each number that stands alone by one sign, such as that of a process
// or of milliseconds. Digits of a word, a path or an address are names.
func withoutAmounts(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		amount := strings.Trim(word, "\"'()[],.:;!?+-~×%")
		if strings.HasPrefix(word, ":") || !isAmount(amount) || i > 0 && slices.Contains(numbered, words[i-1]) {
			continue
		}
		words[i] = strings.Replace(word, amount, "#", 1)
	}
	return strings.Join(words, " ")
}

// isAmount reports whether a word is a number: 7, 1,204 or 1,204.5, but neither 10.0.0.1 nor web1.
func isAmount(word string) bool {
	return word != "" && strings.Trim(word, "0123456789,.") == "" && strings.Count(word, ".") <= 1
}
