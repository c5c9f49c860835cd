// Package sockets is the source "sockets": the queues in front of what listens, and
// the ports that connections take, asked of the kernel by netlink.
//
// The one idea: a queue belongs to a listener, and the host's sums do not say to
// which. At each tick the kernel is asked for what listens, which is short; for all
// connections, which are many, only as often as a thousandth of one core allows.
//
// Who owns a listener is looked up when it is first seen, in the descriptors of all
// processes. Of processes of other users, unless as root, it is not known; a warning
// says so.
//
// # Series
//
// The instance of a listener is its address and owner, "0.0.0.0:80 nginx", or
// "/run/mysqld.sock mariadbd". Of several sockets with one address, as with
// SO_REUSEPORT, the fullest one counts.
//
//	accept.queue     gauge, connections that wait to be accepted
//	accept.limit     gauge, how many may: the backlog that listen(2) got
//	accept.sockets   gauge, sockets with that address
//	accept.drops     counter, connections refused because the queue was full; of TCP
//
// Where a service is measured, only its listeners are recorded.
//
// The instance of connections is a port with its side: "to 3306" are connections that
// were made to it from here, "at 80" those that were taken on it.
//
//	tcp.established, tcp.time_wait, tcp.close_wait, tcp.syn_sent   gauges
//	ports.range                                                    gauge, ports for connections to one address
//
// # What is not done
//
// Only the network namespace of kasoku is seen. Where netlink is refused,
// /proc/net/tcp is read, which knows neither limits nor drops nor sockets with a
// path.
//
// Sources: sock_diag(7); include/uapi/linux/inet_diag.h, unix_diag.h; ip(7) and the
// kernel's Documentation/networking/ip-sysctl.rst.
package sockets

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// Name is the name of the source.
const Name = "sockets"

const (
	// maxListeners and maxPorts bound what has series, unless the options say otherwise.
	maxListeners, maxPorts = 64, 32
	// maxWatched bounds the listeners that are looked at where only some are recorded.
	maxWatched = 4096
	// fewest connections give a port a series: one that a single client opened
	// shows nothing.
	fewest = 4
	// tableEvery is how often all connections are asked for, at most.
	tableEvery = 5 * time.Second
	// tableShare: asking for them may take 1/tableShare of the time.
	tableShare = 1000
	// tableLatest is how often they are asked for, at least.
	tableLatest = time.Minute
	// rangeTicks is how often the range of ports is read.
	rangeTicks = 30
)

// Options configure where to look. The zero value looks at this machine.
type Options struct {
	Proc      string // mount point of procfs, default /proc
	NoNetlink bool   // read files only

	MaxListeners int // recorded, in the order of the kernel, TCP first; 0: 64
	// Wanted reports whether a listener is recorded: network is tcp or unix, address as
	// in an instance, without the owner. It is called at each tick for each listener.
	// Nil: all are recorded.
	Wanted   func(network, address string) bool
	MaxPorts int // that have series of their connections; 0: 32
}

// scope is what has series.
type scope struct {
	listeners, ports int                                // at most
	wanted           func(network, address string) bool // which listeners; nil: all
}

// A Source asks for sockets. It is not safe for concurrent use.
type Source struct {
	proc     string
	most     scope
	diag     *diag // nil when files are read
	now      func() time.Time
	buf      []byte
	tick     uint64
	tcp      map[address]*listener
	paths    map[string]*listener // of sockets with a path
	order    []*listener
	held     map[uint32]int // how many of order each user made
	full     bool           // there are more listeners
	ports    map[port]*connections
	counted  []*connections // in the order of discovery
	next     time.Time      // when all connections are asked for again
	owners   owners
	onTCP    func(*socket) // of this source, made once: methods as values are memory
	onUnix   func(*socket)
	onCount  func(*socket)
	warnings []kasoku.Warning
	warned   map[string]bool
}

// A hinted error says what to do about it.
type hinted struct {
	error
	hint string
}

func (h hinted) Hint() string  { return h.hint }
func (h hinted) Unwrap() error { return h.error }

// New opens the netlink socket. A kernel that refuses it is no error: then files
// are read, and a warning says so.
func New(o Options) *Source {
	if o.Proc == "" {
		o.Proc = "/proc"
	}
	if o.MaxListeners == 0 {
		o.MaxListeners = maxListeners
		if o.Wanted != nil {
			o.MaxListeners = maxWatched
		}
	}
	if o.MaxPorts == 0 {
		o.MaxPorts = maxPorts
	}
	s := &Source{
		proc: o.Proc, most: scope{o.MaxListeners, o.MaxPorts, o.Wanted}, now: time.Now, buf: make([]byte, bufBytes),
		warned: map[string]bool{}, held: map[uint32]int{},
		tcp: map[address]*listener{}, paths: map[string]*listener{}, ports: map[port]*connections{},
	}
	s.owners.proc = o.Proc
	s.onTCP, s.onUnix, s.onCount = s.listens, s.listensAt, s.connection
	if !o.NoNetlink {
		var err error
		if s.diag, err = openDiag(); err != nil {
			s.withoutNetlink(err)
		}
	}
	return s
}

// withoutNetlink goes on with files.
func (s *Source) withoutNetlink(err error) {
	if s.diag != nil {
		s.diag.close()
		s.diag = nil
	}
	s.warn("limits of queues are missing: "+err.Error(),
		"the kernel's sock_diag is needed (modules tcp_diag and unix_diag); a sandbox may refuse it")
}

// Name returns "sockets".
func (s *Source) Name() string { return Name }

// Collect asks for what listens and, when it is time, for all connections. It fails
// when neither netlink nor files answer.
func (s *Source) Collect(_ context.Context, f *kasoku.Frame) error {
	s.tick++
	if s.diag != nil {
		if err := s.ask(); err != nil {
			s.withoutNetlink(err)
		}
	}
	if s.diag == nil {
		if err := s.readListening(); err != nil {
			return hinted{err, "needs /proc/net/tcp, or netlink"}
		}
	}
	s.findOwners()
	for _, l := range s.order {
		if l.tick == s.tick && (s.most.wanted == nil || s.most.wanted(l.network, l.address)) {
			l.emit(f)
		}
	}
	if s.tick%rangeTicks == 1 {
		s.readRange(f)
	}
	if now := s.now(); !now.Before(s.next) {
		took, err := s.count(f)
		if err != nil {
			s.warn("connections by port are missing: "+err.Error(), "see sock_diag(7)")
		}
		s.next = now.Add(min(max(tableEvery, tableShare*took), tableLatest))
	}
	return nil
}

// ask asks for what listens: TCP, then sockets with a path. The kernel may lack the
// second, which only costs those.
func (s *Source) ask() error {
	if err := s.diag.tcp(listening, s.buf, s.onTCP); err != nil {
		return err
	}
	if s.diag.noUnix {
		return nil
	}
	if err := s.diag.unix(s.buf, s.onUnix); err != nil {
		s.diag.noUnix = true
		s.warn("queues of Unix sockets are missing: "+err.Error(), "the kernel's module unix_diag is needed")
	}
	return nil
}

// readListening reads what listens from files.
func (s *Source) readListening() error {
	err := s.readTable("net/tcp", listening, s.onTCP)
	err6 := s.readTable("net/tcp6", listening, s.onTCP)
	if err != nil && err6 != nil {
		return err
	}
	return nil
}

// readTable reads one file of sockets.
func (s *Source) readTable(path string, states uint32, each func(*socket)) error {
	file, err := procfile.Open(s.proc + "/" + path)
	if err != nil {
		return err
	}
	text, err := file.Append(s.buf[:0])
	if err == nil {
		s.buf = text[:cap(text)]
		err = parseTable(text, states, each)
	}
	return errors.Join(err, file.Close())
}

// readRange appends how many ports there are for connections that are made.
func (s *Source) readRange(f *kasoku.Frame) {
	file, err := procfile.Open(s.proc + "/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return // a sandbox need not have it
	}
	// Not into s.buf: the kernel refuses to read a sysctl into 4 MiB or more (ENOMEM,
	// proc_sys_call_handler), which the table of 27,000 connections takes.
	var buf [64]byte
	text, err := file.Append(buf[:0])
	line, _, _ := procfile.Line(text)
	var n [2]uint64
	if err == nil && procfile.Uints(n[:], line) == 2 && n[1] >= n[0] {
		f.Gauge(PortsRange, "", "count", float64(n[1]-n[0]+1))
	}
	_ = file.Close() // opened for reading
}

func (s *Source) warn(text, hint string) {
	if s.warned[text] {
		return
	}
	s.warned[text] = true
	s.warnings = append(s.warnings, kasoku.Warning{Code: "sockets-partial",
		Text: "some series of sockets are missing: " + text, Hint: hint})
}

// Warnings returns what could not be read. It must not be called while Collect
// runs.
func (s *Source) Warnings() []kasoku.Warning {
	out := s.warnings
	if n := s.unowned(); n > 0 && s.owners.refused {
		out = append(out[:len(out):len(out)], kasoku.Warning{
			Code: "sockets-partial",
			Text: fmt.Sprintf("whose listeners they are is not known of %d", n),
			Hint: "run as root, or as the user of the servers",
		})
	}
	return out
}

// Close closes the netlink socket.
func (s *Source) Close() error {
	if s.diag != nil {
		s.diag.close()
		s.diag = nil
	}
	return nil
}
