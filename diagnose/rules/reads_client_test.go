package rules

import (
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
	var k extract.Keys
	for _, name := range []string{expvar.InFlightTime, expvar.Sent, expvar.Refused, expvar.Permits, expvar.PermitsMost,
		expvar.PermitsAsked, expvar.PermitsFailed, expvar.PermitWait, expvar.ServiceTime} {
		k.Series = append(k.Series, kasoku.Key{Source: evidence.SourceExpvar, Name: name})
	}
	return k, true
}
