package split

import (
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
)

// A Service is what a run shows of a service, as far as a layout of its members asks for it.
type Service struct {
	Hosts   []Host   // that have members now
	Members []Member // those of the service first, most CPU first; then what else uses its hosts' CPU for each request
	Edges   []Edge
	Load    Load

	Interval kasoku.Interval // of the run, in which all was measured
	Seconds  int             // whole ones of it
	Score    float64         // of the benchmark; 0 without one
	Levels   bool            // the benchmark adds clients as the score rises

	Endpoints []Endpoint
	Blind     []string // what was not measured, and what follows of that

	samples []sample // a second each
}

// A Host is a machine, or what its control group leaves of one.
type Host struct {
	Name    string
	Cores   float64 // that the service may use
	Used    float64 // of Cores, by programs outside of the service and by kasoku: they stay
	Quota   bool    // Cores is the quota of the control group in which all of its members are
	Memory  uint64  // bytes; 0: not known
	Taken   uint64  // of Memory, by what is no member
	Present bool    // it has members in the run; else it is one that would be added
}

// Free is what the service may have of the host's cores.
func (h *Host) Free() float64 { return max(h.Cores-h.Used, 0.01) }

// A Member is a program of the service, or what else a request costs.
type Member struct {
	ID    string
	Name  string // for people
	Role  kasoku.MemberRole
	Host  int     // index into Hosts
	CPU   float64 // seconds for each request
	Cores float64 // in use
	RSS   uint64  // bytes; 0: not known
	Cap   float64 // cores that it may use wherever it runs; 0: those of its host
	Fixed string  // why it stays where it is; empty: it may be moved
	Of    *kasoku.Member
}

// Copies reports whether the member could run on several hosts that share its requests out.
func (m *Member) Copies() bool { return m.Fixed == "" && m.Role == kasoku.RoleApplication }

// An Edge is what a member asks of another one.
type Edge struct {
	From, To int     // indices into Members
	Trips    float64 // round trips for each request; negative: not known
	Of       *kasoku.Edge
}

// A Load is what came, and how it would answer a service that is faster.
type Load struct {
	PerSec  float64       // requests that came
	Time    time.Duration // of a request, on average; 0: not known
	P50     time.Duration
	Open    bool    // it comes at a rate, whatever the service does
	Clients float64 // of a closed load; 0: not known
	Given   bool    // Clients was said, else it is what was in flight on average
	From    string  // what counted requests: access log, load
}

// An Endpoint is a route with its part of what was measured.
type Endpoint struct {
	Name       string
	Requests   uint64
	Time       time.Duration // of a request, on average
	Statements float64       // for each request; negative: not known
}

// A sample is what one second showed.
type sample struct {
	requests float64
	cores    []float64 // by member
}

// cpu returns the CPU that a request needs of each member in some of the seconds, and how many requests
// came in one.
func (s *Service) cpu(of []sample) (demands []float64, perSec float64) {
	demands = make([]float64, len(s.Members))
	for _, x := range of {
		perSec += x.requests
		for i, c := range x.cores {
			demands[i] += c
		}
	}
	for i := range demands {
		demands[i] /= max(perSec, math.SmallestNonzeroFloat64)
	}
	return demands, perSec / float64(max(len(of), 1))
}

// Movable returns the members that may be moved, by index.
func (s *Service) Movable() (out []int) {
	for i := range s.Members {
		if s.Members[i].Fixed == "" {
			out = append(out, i)
		}
	}
	return out
}

// member returns the index of the member with an id, -1 without one.
func (s *Service) member(id string) int {
	return slices.IndexFunc(s.Members, func(m Member) bool { return m.ID == id })
}
