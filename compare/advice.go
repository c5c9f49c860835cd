package compare

import (
	"strings"

	"github.com/kasoku/kasoku"
)

// An AdviceChange is what became of what was advised on a setting. Its State is Gone,
// Left or New.
type AdviceChange struct {
	Both[kasoku.Advice]
	State    FindingState
	InForce  string // value of the variable in after; empty when it is not recorded
	Measured bool   // the figure is another one
}

// diffAdvice matches advice by check and variable. It gives nothing when either run
// has none: one that no check looked at has none either.
func diffAdvice(before, after *kasoku.Recording) []AdviceChange {
	host := hostOf(before, after)
	type key struct{ host, id, variable, title string }
	var out []AdviceChange
	for _, p := range match(before.Advice, after.Advice, func(a *kasoku.Advice) key {
		k := key{host(a.Host), a.ID, a.Variable, ""}
		if a.Variable == "" { // it may speak of several things: "Tables are MyISAM: a, b"
			k.title, _, _ = strings.Cut(a.Title, ":")
		}
		return k
	}) {
		c := AdviceChange{Both: p, State: Left}
		switch {
		case p.After == nil:
			c.State = Gone
		case p.Before == nil:
			c.State = New
		default:
			c.Measured = p.Before.Measured != p.After.Measured
		}
		if v := p.Either().Variable; v != "" {
			c.InForce, _ = after.Setting("mysql", v)
		}
		out = append(out, c)
	}
	return out
}
