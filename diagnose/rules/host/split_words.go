package host

import (
	"fmt"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/split"
	"github.com/kasoku/kasoku/internal/unit"
)

// splitWords says what a member on one more host of the same size would give, a copy of it there or all of it, as
// the command split does. It is empty where the run lacks what that takes.
func splitWords(c *diagnose.Case, member string, copies bool) string {
	p, x, err := split.Move(c, member, copies)
	if err != nil {
		return ""
	}
	of := "the throughput"
	if p.Service.Load.Open {
		of = "the rate that the hosts can take"
	}
	limit := x.Limit
	if x.At >= 0 {
		limit = "the " + limit
	}
	text := fmt.Sprintf(" `kasoku split` predicts ×%s (%s to %s) %s; the limit is then %s.", unit.Sig3(x.Gain.Mid),
		unit.Sig3(x.Gain.Low), unit.Sig3(x.Gain.High), of, limit)
	if x.Fits == split.FitNo {
		text += " The memory of such a host is too little for it."
	}
	return text + " With --edits it prints what to change, and the way back."
}
