package mask

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/sockets"
)

// Neighbour is what a process outside of the service is called, and what it runs, where the members
// are known: runs are made to be mailed, and what else a host runs is others' affair.
const Neighbour = "neighbour"

// Names are the names of processes that stay.
type Names struct {
	service  *kasoku.Service
	pids     []int
	meant    func(name string) bool // it means something to rules
	programs map[string]bool        // by their files
	comms    map[string]bool        // by the names that the kernel has
	ports    map[string]bool        // of connections
}

// OwnNames returns the names that stay of a service: of its members, of some processes, of the words of
// a command, and those that mean something to rules. It is nil where no member is known.
func OwnNames(s *kasoku.Service, pids []int, command []string, meant func(name string) bool) *Names {
	if s == nil || !slices.ContainsFunc(s.Members, func(m kasoku.Member) bool { return m.Sure != kasoku.Low }) {
		return nil
	}
	n := &Names{service: s, pids: append(slices.Clone(pids), os.Getpid()), meant: meant, programs: map[string]bool{},
		comms: map[string]bool{}, ports: map[string]bool{}}
	for _, words := range command {
		for _, word := range strings.Fields(words) {
			name := filepath.Base(word)
			n.comms[name[:min(len(name), commLength)]] = true
		}
	}
	for i := range s.Members {
		m := &s.Members[i]
		n.programs[m.Program] = true
		for _, p := range m.Processes {
			if exe, err := os.Readlink("/proc/" + strconv.Itoa(p.PID) + "/exe"); err == nil { // else it has gone
				n.programs[strings.TrimSuffix(filepath.Base(exe), " (deleted)")] = true
			}
		}
	}
	return n
}

// commLength is how much of a program's name the kernel keeps: include/linux/sched.h, TASK_COMM_LEN.
const commLength = 15

// KeepPort keeps the port of an address of TCP, such as the database's.
func (n *Names) KeepPort(network, address string) {
	if _, port, err := net.SplitHostPort(address); err == nil && network == "tcp" {
		n.ports[port] = true
	}
}

// KeepPrograms keeps also what else runs under the name of a member's process: for who looks on, and
// does not see each worker that begins.
func (n *Names) KeepPrograms() {
	for i := range n.service.Members {
		for _, p := range n.service.Members[i].Processes {
			if comm, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/comm"); err == nil {
				n.comms[strings.TrimSpace(string(comm))] = true
			}
		}
	}
}

// Instance returns what an instance of a series of processes is called.
func (n *Names) Instance(series, instance string) string {
	switch kind, _, _ := strings.Cut(series, "."); kind {
	case "exe":
		if n.programs[instance] || n.keeps(instance) {
			return instance
		}
		return Neighbour
	case "unit", "container":
		if n.ownsGroup(instance) {
			return instance
		}
		return Neighbour
	}
	number, name, ok := strings.Cut(instance, " ")
	text, _, _ := strings.Cut(number, "/") // of a thread PID/TID
	pid, err := strconv.Atoi(text)
	if !ok || err != nil || slices.Contains(n.pids, pid) || n.keeps(name) ||
		slices.ContainsFunc(n.service.Members, func(m kasoku.Member) bool { return m.Has(pid) }) {
		return instance
	}
	return number + " " + Neighbour
}

// keeps reports whether a name is the command's, or means something to rules.
func (n *Names) keeps(name string) bool {
	return name == "" || name == "kernel" || n.comms[name] || n.meant(name)
}

// ownsGroup reports whether a unit, a container or a control group is a member's, or above it.
func (n *Names) ownsGroup(name string) bool {
	return slices.ContainsFunc(n.service.Members, func(m kasoku.Member) bool { return m.Unit == name || m.InGroup(name) || m.Within(name) })
}

// Others are called the ports of connections that are of no member, as far as is known.
const Others = "others"

// Socket returns what an instance of a series of sockets is called: a listener, or the connections of a port.
func (n *Names) Socket(_, instance string) string {
	word, port, _ := strings.Cut(instance, " ")
	if instance == "" || n.listensAt(word, port) {
		return instance
	}
	if word == "at" || word == "to" {
		return word + " " + Others
	}
	return Neighbour
}

// listensAt reports whether a member listens at an address, or for "at" and "to" at a port, or calls
// another there.
func (n *Names) listensAt(address, port string) bool {
	if (address == "at" || address == "to") && n.ports[port] {
		return true
	}
	at := func(l kasoku.Listener) bool {
		if address != "at" && address != "to" {
			return l.Address == address
		}
		return l.Network == "tcp" && strings.HasSuffix(l.Address, ":"+port)
	}
	return slices.ContainsFunc(n.service.Members, func(m kasoku.Member) bool { return slices.ContainsFunc(m.Listeners, at) }) ||
		slices.ContainsFunc(n.service.Edges, func(e kasoku.Edge) bool { return at(e.At) })
}

// Sink returns a sink that hands on to another what is sampled: without sums, control groups and
// sockets of neighbours, their processes without names. Without names that stay it is the other one.
func (n *Names) Sink(to observe.Sink) observe.Sink {
	if n == nil {
		return to
	}
	return &nameless{Sink: to, names: n}
}

// A nameless sink hands on what is sampled.
type nameless struct {
	observe.Sink
	names *Names
}

// Frame hands on a frame.
func (s *nameless) Frame(f *kasoku.Frame) error {
	switch f.Source {
	case process.Name:
		f.Samples = slices.DeleteFunc(f.Samples, func(x kasoku.Sample) bool { return s.names.Instance(x.Name, x.Instance) == Neighbour })
		for i := range f.Samples {
			f.Samples[i].Instance = s.names.Instance(f.Samples[i].Name, f.Samples[i].Instance)
		}
	case sockets.Name:
		f.Samples = slices.DeleteFunc(f.Samples, func(x kasoku.Sample) bool { return s.names.Socket(x.Name, x.Instance) != x.Instance })
	case cgroup.Name:
		f.Samples = slices.DeleteFunc(f.Samples, func(x kasoku.Sample) bool { return !s.names.ownsGroup(x.Instance) })
	}
	return s.Sink.Frame(f)
}

// Missing hands on that a source gives nothing, to who asks.
func (s *nameless) Missing(g kasoku.Gap) {
	if to, ok := s.Sink.(interface{ Missing(kasoku.Gap) }); ok {
		to.Missing(g)
	}
}
