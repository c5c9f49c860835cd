package recording

import (
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/machine"
	"github.com/kasoku/kasoku/report/recorded"
)

// serviceFacts draw what was measured: the way of a request, what others on the host used
// meanwhile, and what could not be seen.
func (r summary) serviceFacts() []report.Fact {
	return machine.ServiceFacts(r.Service, r.neighbours(), r.held()...)
}

// held says which members may use fewer cores than their host has: "puma is held to core 3 of
// 8 cores".
func (r summary) held() (out []string) {
	if !r.Service.Known() {
		return nil
	}
	hosts := diagnose.NewCase(r.Recording, nil).Hosts()
	for i := range r.Service.Members {
		m := &r.Service.Members[i]
		if a, err := hosts.Allowed(m); err == nil && a.Held() {
			out = append(out, m.Program+" is held to "+a.By())
		}
	}
	return out
}

// leastDisk is how many bytes a second processes read from disks and write to them at least
// where the neighbours' share is worth a word.
const leastDisk = 1 << 20

// neighbours says what programs outside of the service used: "1.20 of 2 cores, 40 % of the
// bytes on disks", not of what a disk can do. It is empty when that is not known.
func (r summary) neighbours() string {
	if !r.Service.Known() {
		return ""
	}
	c := diagnose.NewCase(r.Recording, nil)
	var parts []string
	for _, h := range r.Run.Hosts {
		text := neighboursOn(c, h)
		if text == "" {
			continue
		}
		if len(r.Run.Hosts) > 1 {
			text += " of " + h.Name
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// neighboursOn says what programs outside of the service used on one host; empty when that is not known.
func neighboursOn(c *diagnose.Case, h kasoku.Host) string {
	cores, ok := c.NeighbourCores(h.Name)
	if !ok {
		return ""
	}
	text := machine.Neighbours(cores, h.Cores)
	if used, all, ok := c.Hosts().NeighbourBytes(h.Name); ok && all >= leastDisk {
		text += ", " + unit.Percent(used/all) + " of the bytes on disks"
	}
	return text
}

// serviceSection draws the service.
func serviceSection(r recorded.View) report.Section {
	return machine.PictureSection(r, func(host string) string {
		for _, h := range r.Run.Hosts {
			if h.Name == host || len(r.Run.Hosts) == 1 {
				return neighboursOn(diagnose.NewCase(r.Recording, nil), h)
			}
		}
		return ""
	})
}
