package diagnose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/process"
)

// A Pressure is what processes of a host compete for.
type Pressure string

// The pressures.
const (
	OnCPU    Pressure = "CPU"
	OnMemory Pressure = "memory"
	OnDisk   Pressure = "disk"
)

// outside is what all programs that are neither the service, nor kasoku, nor the load are
// called in findings.
const outside = "Programs outside of the service"

// stateNeighbours adds to findings about a host's CPU, memory or disks how much of it programs
// outside of the service use. Nothing else does. It adds nothing where the members of the
// service are not known.
func stateNeighbours(c *Case, of []Pressure, found []kasoku.Finding) {
	for i := range found {
		f := &found[i]
		for _, p := range of {
			if e, sentence, ok := c.Hosts().beside(p, hostOf(c, f)); ok {
				f.Evidence = append(slices.Clone(f.Evidence), e)
				f.Cause += " " + sentence
			}
		}
	}
}

// hostOf returns the host that a finding is about: that of its first evidence that names one.
func hostOf(c *Case, f *kasoku.Finding) string {
	for _, e := range f.Evidence {
		for _, k := range e.Series {
			if (k.Source == Host || k.Source == Process) && k.Host != "" {
				return k.Host
			}
		}
	}
	for _, s := range c.FindAll(Process, process.CPUUser) {
		return s.Key.Host
	}
	return ""
}

// beside returns how much of a host's CPU, memory or disk traffic programs outside of the
// service use, as evidence and as a sentence; false where the members of the service are not
// known.
func (hs Hosts) beside(of Pressure, host string) (e kasoku.Evidence, sentence string, ok bool) {
	if !hs.c.Knows(host) {
		return e, "", false
	}
	e = kasoku.Evidence{Source: Process, Text: string(of) + " of programs outside of the service", Interval: hs.c.Focus.Interval}
	known := false
	switch of {
	case OnCPU:
		known = hs.besideCPU(host, &e)
	case OnMemory:
		known = hs.besideMemory(host, &e)
	case OnDisk:
		known = hs.besideDisk(host, &e)
	}
	if !known {
		e.Value = "unknown"
		return e, "How much of the " + string(of) + " programs outside of the service use was not recorded.", true
	}
	verb := map[Pressure]string{OnCPU: " use ", OnMemory: ", with the kernel, hold ", OnDisk: " read and write "}
	return e, outside + verb[of] + e.Value + " " + e.Note + ".", true
}

func (hs Hosts) besideCPU(host string, e *kasoku.Evidence) bool {
	used, ok := hs.c.NeighbourCores(host)
	_, cores, err := hs.BusyOn(host)
	e.Number, e.Value = used, unit.Sig3(used)
	e.Note = "of " + unit.Plain(cores) + " cores"
	return ok && err == nil
}

// besideMemory sets e to the memory in use less the resident memory of the service, kasoku and
// the load. A page that processes share is subtracted once for each of them, so the figure is
// a lower bound. It is false where memory or processes were not recorded.
func (hs Hosts) besideMemory(host string, e *kasoku.Evidence) bool {
	total, err := hs.c.Counters().Gauge(kasoku.Key{Host: host, Source: Host, Name: hostkeys.MemTotal})
	free, err2 := hs.c.Counters().Gauge(kasoku.Key{Host: host, Source: Host, Name: hostkeys.MemAvailable})
	programs, err3 := hs.c.Processes().Programs()
	if err != nil || err2 != nil || err3 != nil || total.Max <= 0 || total.Max > 1e18 || !(free.Min >= 0) {
		return false
	}
	used := total.Max - free.Min
	for _, p := range programs {
		if p.Host == host && p.Role != Neighbour && p.Role != Kernel {
			used -= p.RSS
		}
	}
	used = max(used, 0)
	e.Number, e.Value = used, unit.BytesIEC(uint64(used))
	e.Note = "of " + unit.BytesIEC(uint64(total.Max))
	return true
}

// besideDisk sets e to what neighbours read and wrote, of what all recorded processes did.
func (hs Hosts) besideDisk(host string, e *kasoku.Evidence) bool {
	used, all, known := hs.NeighbourBytes(host)
	e.Number, e.Value = used, unit.Bytes(uint64(max(used, 0)))
	e.Note = "of the " + unit.Bytes(uint64(max(all, 0))) + " a second that processes do on disks"
	return known
}

// NeighbourBytes returns how many bytes a second programs outside of the service read from
// disks and wrote to them under the focus's load, and how many all recorded processes did;
// false where that was not recorded, of a process of a member too: the processes that use
// most CPU are, and what the others do on disks would be the neighbours' share.
func (hs Hosts) NeighbourBytes(host string) (used, all float64, known bool) {
	programs, err := hs.c.Processes().Programs()
	if err != nil || !hs.c.Knows(host) || !hs.membersOnDisk(host) {
		return 0, 0, false
	}
	for _, p := range programs {
		if p.Host != host {
			continue
		}
		for _, k := range p.Keys {
			for _, k.Name = range [...]string{process.IOReadBytes, process.IOWriteBytes} {
				perSec, err := hs.c.Counters().UnderLoad(k)
				if err != nil {
					continue
				}
				known = true
				if all += perSec; p.Role == Neighbour {
					used += perSec
				}
			}
		}
	}
	return used, all, known
}

// membersOnDisk reports whether it was recorded of all processes of the service on a host what
// they read and write.
func (hs Hosts) membersOnDisk(host string) bool {
	recorded := map[string]bool{}
	for _, s := range hs.c.FindAll(Process, process.IOWriteBytes) {
		if pid, _, _ := strings.Cut(s.Key.Instance, " "); sameHost(s.Key.Host, host) {
			recorded[pid] = true
		}
	}
	for i := range hs.c.Service.Members {
		m := &hs.c.Service.Members[i]
		if m.Sure == kasoku.Low || !sameHost(m.Host, host) {
			continue
		}
		for _, p := range m.Processes {
			if p.Ended == 0 && !recorded[strconv.Itoa(p.PID)] {
				return false
			}
		}
	}
	return true
}
