package recording

import (
	"strings"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// serviceFacts draw what was measured: the way of a request, what others on the host used
// meanwhile, and what could not be seen.
func (r summary) serviceFacts() []report.Fact {
	var out []report.Fact
	if r.Service == nil {
		return nil
	}
	if picture := r.Service.Picture(); picture != "" {
		if beside := r.neighbours(); beside != "" {
			picture += "; neighbours: " + beside
		}
		out = append(out, report.Fact{Label: "Service", Value: picture})
	}
	for i, u := range r.Service.Unknown {
		if i == mostUnseen {
			break
		}
		text := u.What + ": " + u.Why
		if u.Show != "" {
			text += "; " + u.Show
		}
		out = append(out, report.Fact{Label: "Not seen", Sign: "!", Tone: report.Mark, Value: text})
	}
	return out
}

// mostUnseen bounds what is said of what could not be seen.
const mostUnseen = 4

// neighbours says what programs outside of the service used: "1.2 of 2 cores". It is empty
// when that is not known.
func (r summary) neighbours() string {
	c := diagnose.NewCase(r.Recording, nil)
	var parts []string
	for _, h := range r.Run.Hosts {
		cores, ok := c.NeighbourCores(h.Name)
		if !ok {
			continue
		}
		text := unit.Sig3(cores) + " of " + unit.Counted(h.Cores, "core", "cores")
		if len(r.Run.Hosts) > 1 {
			text += " of " + h.Name
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
