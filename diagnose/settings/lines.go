package settings

import (
	"slices"

	"github.com/kasoku/kasoku"
)

// Statements returns the statements of advice whose risk is at most that, in an order
// in which they can be run.
func Statements(all []kasoku.Advice, most kasoku.Risk) []string {
	return adviceLines(all, most, func(a *kasoku.Advice) string { return a.SetGlobal })
}

// ConfLines returns the lines for the section [mysqld] of an option file, of advice
// whose risk is at most that. What SET GLOBAL takes without a restart is among them.
func ConfLines(all []kasoku.Advice, most kasoku.Risk) []string {
	return adviceLines(all, most, func(a *kasoku.Advice) string { return a.ConfLine })
}

func adviceLines(all []kasoku.Advice, most kasoku.Risk, line func(*kasoku.Advice) string) []string {
	var out []string
	for i := range all {
		if l := line(&all[i]); l != "" && Within(all[i].Risk, most) && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// Within reports whether a risk is at most another one.
func Within(risk, most kasoku.Risk) bool {
	return slices.Index(Risks(), risk) <= slices.Index(Risks(), most)
}

// Risks are the risks, the least first.
func Risks() []kasoku.Risk {
	return []kasoku.Risk{kasoku.RiskNone, kasoku.RiskAppRestart, kasoku.RiskRestart, kasoku.RiskDurability,
		kasoku.RiskSemantics}
}

// IsSize reports whether a variable that may be proposed is a number of bytes.
func IsSize(variable string) bool { return settings[variable].bytes }
