package machine

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// Service draws what is measured in one line, what members are held to fewer cores than their
// host has, and what others on the host used; empty when nothing is known of the service.
func Service(s *kasoku.Service, neighbours string, held ...string) string {
	picture := s.Picture()
	if picture == "" {
		return ""
	}
	for _, h := range held {
		picture += "; " + h
	}
	if neighbours != "" {
		picture += "; neighbours: " + neighbours
	}
	return picture
}

// Neighbours says what programs outside of the service used: "1.2 of 2 cores".
func Neighbours(used float64, cores int) string {
	return unit.Sig3(used) + " of " + unit.Counted(cores, "core", "cores")
}

// Unseen says what is not known of a service, and what would show it.
func Unseen(u kasoku.Unseen) string {
	text := u.What + ": " + u.Why
	if u.Show != "" {
		text += "; " + u.Show
	}
	return text
}

// mostUnseen bounds what is said of what could not be seen.
const mostUnseen = 4

// ServiceFacts are the lines of a document about the service.
func ServiceFacts(s *kasoku.Service, neighbours string, held ...string) []report.Fact {
	if s == nil {
		return nil
	}
	var out []report.Fact
	if line := Service(s, neighbours, held...); line != "" {
		out = append(out, report.Fact{Label: report.FactService, Value: line})
	}
	for i, u := range s.Unknown {
		if i == mostUnseen {
			break
		}
		out = append(out, report.Fact{Label: report.FactUnseen, Sign: "!", Tone: report.Mark, Value: Unseen(u)})
	}
	return out
}
