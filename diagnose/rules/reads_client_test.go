package rules

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/observe/expvar"
)

// clientReads describes what the rules about clients read; false for other rules.
func clientReads(id string) (extract.Keys, bool) {
	if !strings.HasPrefix(id, "CLI-") {
		return extract.Keys{}, false
	}
	names := []string{expvar.Sent, expvar.PermitWait}
	switch id {
	case "CLI-09":
		names = append(names, expvar.Gained)
	case "CLI-12":
		names = append(names, expvar.QuestionsHash, expvar.AnswersHash)
	default:
		names = append(names, expvar.InFlight, expvar.InFlightTime, expvar.Refused, expvar.Permits, expvar.PermitsMost,
			expvar.PermitsAsked, expvar.PermitsFailed, expvar.ServiceTime, expvar.UseWait, expvar.UsesMost)
	}
	if slices.Contains([]string{"CLI-05", "CLI-13"}, id) {
		names = append(names, expvar.Answers, expvar.AnswerTime, expvar.Size, expvar.Gained)
	}
	var k extract.Keys
	for _, name := range names {
		k.Series = append(k.Series, kasoku.Key{Source: evidence.SourceExpvar, Name: name})
	}
	return k, true
}
