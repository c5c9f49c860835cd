// Package scan takes a snapshot of the processes of this host and of their sockets, in
// all network namespaces that its processes are in.
//
// The one idea: a snapshot is data. It holds what the kernel says (numbers, namespaces,
// programs, who holds which socket, which connection has which other end) apart from what
// a process says of itself (name, command line), and decides nothing; package members
// does. What could not be seen is part of it ([Snapshot.Unseen]).
//
// Sockets are asked of the kernel by netlink, in each namespace; where that is refused,
// they are read from procfs, and the other ends of Unix sockets are not known. No file of
// another user is opened. A snapshot is bounded: [Options].
//
// Start at [Take].
//
// Sources: proc_pid_stat(5), proc_pid_status(5), proc_pid_fd(5), proc_pid_fdinfo(5),
// sock_diag(7), the kernel's include/uapi/linux/inet_diag.h and unix_diag.h,
// network_namespaces(7).
package scan

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/mounts"
)

// A Snapshot is what ran at a moment.
type Snapshot struct {
	Host      string
	Self      int    // kasoku itself
	NetNS     uint64 // its namespaces
	MntNS     uint64
	Addresses []netip.Addr // of this host, in its network namespace
	Processes []Process    // by number
	Sockets   []Socket
	Unseen    []string // what could not be looked at, each once
	Cut       []string // of it, what was left out because there is too much
	Took      time.Duration
}

// A Process is one that is not the kernel's. Name, Args and Titles are what it may have
// set itself: claims.
type Process struct {
	PID, Parent int
	Start       uint64 // clock ticks since boot
	UID         int    // effective
	Name        string // comm
	Args        []string
	Exe         string // path of its program in its own file system; empty when hidden
	Dir         string // working directory; empty when hidden
	Doubt       string // why it is not believed to be what it says; empty when it is, or when it was not asked
	NetNS       uint64 // 0 when hidden
	MntNS       uint64
	PidNS       uint64
	Elsewhere   bool // in a network namespace that is not kasoku's, and not in its user namespace
	Cgroup      string
	Unit        string // of systemd
	Container   string // short id
	Threads     int
	Logs        []string // regular files of this host, named like logs, that it has open for writing
	Hidden      bool     // its descriptors may not be seen
}

// A State is that of a socket.
type State uint8

// The states that are kept.
const (
	Established State = 1
	Listening   State = 10
)

// A Socket is one end of a connection, or what listens.
type Socket struct {
	Network       string // tcp, unix
	NetNS         uint64
	State         State
	Local, Remote netip.AddrPort // of tcp; IPv4 in IPv6 is unmapped
	Both          bool           // a listener at [::] that takes IPv4 too, as far as can be seen
	Path          string         // of unix; with @ before it a name that is no file
	Inode, Peer   uint32         // 0 when unknown
	Idle          time.Duration  // since it last carried data; -1 when unknown
	Past          bool           // it was there when it was asked before, and is no more
	Owners        []int          // processes that hold it
}

// Options bound a snapshot. The zero value is this host with the default bounds.
type Options struct {
	Proc  string        // directory that stands for /proc
	Limit time.Duration // 0: 2 s
	// Doubted reports whether it matters that a program, by its path, is what it says; nil: of
	// all it does. Asking takes about a third of the time of a snapshot.
	Doubted func(exe string) bool
}

// Bounds of what is looked at. A server with more descriptors than maxFiles has its
// listeners among the first.
const (
	maxProcesses = 20_000
	maxFiles     = 20_000  // of a process
	maxAllFiles  = 400_000 // of all
	maxUserFiles = 100_000 // of all of one user other than root: whoever has an account can have millions
	maxSockets   = 200_000
	maxSpaces    = 256
	maxLogs      = 32  // of a process
	maxNamed     = 128 // of a process's files that are looked for by their names on this host
)

// Take takes a snapshot. It fails when there is no /proc. What cannot be seen, and what
// was left out for want of time, is in Unseen.
func Take(ctx context.Context, o Options) (*Snapshot, error) {
	begin := time.Now()
	if o.Proc == "" {
		o.Proc = "/proc"
	}
	limit := o.Limit
	if limit == 0 {
		limit = 2 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	t := &taker{ctx: ctx, proc: o.Proc, holders: map[uint32][]int{}, holds: map[int]bool{}, mounts: map[uint64]*mounts.Table{},
		filesOf: map[int]int{}, out: &Snapshot{Self: os.Getpid()}}
	t.out.Host, _ = os.Hostname() // without it the host has no name
	t.spaces()
	if err := t.processes(); err != nil {
		return nil, fmt.Errorf("look at processes: %w", err)
	}
	t.addresses()
	t.out.Sockets = make([]Socket, 0, len(t.holders)+len(t.holders)/8) // about as many
	t.sockets()
	t.own()
	t.believe(o.Doubted)
	if ctx.Err() != nil {
		t.cut("a part of the host: the look took more than " + limit.String())
	}
	t.out.Took = time.Since(begin)
	return t.out, nil
}

// A taker is one snapshot being taken.
type taker struct {
	ctx     context.Context
	proc    string
	userNS  uint64
	out     *Snapshot
	holders map[uint32][]int         // inode to processes
	holds   map[int]bool             // processes that hold a socket or a log
	mounts  map[uint64]*mounts.Table // by mount namespace; nil: they cannot be read
	table   []byte                   // what readTable read
	files   int
	filesOf map[int]int // by user
	hidden  int
}

// spaces reads kasoku's own namespaces.
func (t *taker) spaces() {
	dir, err := openDir(unix.AT_FDCWD, t.proc+"/self")
	if err != nil {
		return // they are not known
	}
	defer func() { _ = unix.Close(dir) }()
	buf := make([]byte, 128)
	t.out.NetNS, t.out.MntNS = namespace(dir, "net", buf), namespace(dir, "mnt", buf)
	t.userNS = namespace(dir, "user", buf)
}

// cut keeps what was left out for a bound.
func (t *taker) cut(text string) {
	t.unseen(text)
	if len(t.out.Cut) < mostCut && !slices.Contains(t.out.Cut, text) {
		t.out.Cut = append(t.out.Cut, text)
	}
}

// mostCut is how much of what was left out is named.
const mostCut = 3

// mostUnseen bounds what is said of what was not seen: it may be said of each process of one who
// starts thousands.
const mostUnseen = 32

func (t *taker) unseen(text string) {
	if len(t.out.Unseen) >= mostUnseen {
		text = "and more"
	}
	if !slices.Contains(t.out.Unseen, text) {
		t.out.Unseen = append(t.out.Unseen, text)
	}
}

// own gives the sockets the processes that hold them.
func (t *taker) own() {
	for i := range t.out.Sockets {
		s := &t.out.Sockets[i]
		s.Owners = t.holders[s.Inode]
	}
	t.out.Sockets = ordered(t.out.Sockets, func(a, b *Socket) int {
		return cmp.Or(cmp.Compare(b.State, a.State), cmp.Compare(a.NetNS, b.NetNS), a.Local.Compare(b.Local),
			a.Remote.Compare(b.Remote), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Inode, b.Inode))
	})
}

// ordered returns sockets in an order, those that are alike in the one they had. Their places are
// sorted, as each is large.
func ordered(all []Socket, compare func(a, b *Socket) int) []Socket {
	places := make([]int32, len(all))
	for i := range places {
		places[i] = int32(i)
	}
	slices.SortFunc(places, func(a, b int32) int {
		return cmp.Or(compare(&all[a], &all[b]), cmp.Compare(a, b))
	})
	out := make([]Socket, len(all))
	for i, from := range places {
		out[i] = all[from]
	}
	return out
}

// Again adds to a snapshot the sockets that some processes hold now: those of a moment too, as
// of a program that connects anew for each request, are there where it is asked often enough.
// What else runs, and who listens, is as it was before. It costs a small part of [Take].
func Again(ctx context.Context, before *Snapshot, pids []int) *Snapshot {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, againLimit)
	defer cancel()
	out := *before
	out.Processes, out.Sockets = slices.Clone(before.Processes), nil
	t := &taker{ctx: ctx, proc: "/proc", holders: map[uint32][]int{}, holds: map[int]bool{},
		mounts: map[uint64]*mounts.Table{}, filesOf: map[int]int{}, out: &out}
	t.spaces()
	for _, k := range before.Sockets {
		if len(k.Owners) > 0 {
			t.holders[k.Inode] = slices.Clip(k.Owners) // before's own
		}
	}
	spaces := t.look(pids)
	for inode, all := range t.holders {
		if n := len(all); n > 1 && slices.Contains(pids, all[n-1]) { // else none was added
			t.holders[inode] = distinct(all)
		}
	}
	for ns, pid := range spaces {
		if n := len(out.Sockets); !t.space(ns, pid) { // half of them would have the others gone
			out.Sockets = out.Sockets[:n]
			delete(spaces, ns)
		}
	}
	now := map[uint32]bool{}
	for i := range out.Sockets {
		now[out.Sockets[i].Inode] = true
	}
	for _, k := range before.Sockets {
		_, asked := spaces[k.NetNS]
		switch {
		case asked && now[k.Inode] && k.Inode != 0:
		case asked && k.State == Established && len(out.Sockets) < maxSockets:
			k.Past = true
			out.Sockets = append(out.Sockets, k)
		case !asked:
			out.Sockets = append(out.Sockets, k)
		}
	}
	t.own()
	out.Took = time.Since(begin)
	return &out
}

// distinct returns processes each once, in their order.
func distinct(pids []int) (out []int) {
	seen := make(map[int]bool, len(pids))
	for _, pid := range pids {
		if !seen[pid] {
			seen[pid] = true
			out = append(out, pid)
		}
	}
	return out
}

// look reads some processes again, and returns the network namespaces that they are in, each
// with one that is.
func (t *taker) look(pids []int) map[uint64]int {
	buf := make([]byte, 64<<10)
	spaces := map[uint64]int{}
	for _, pid := range pids {
		p, ok := t.process(pid, buf, true)
		if !ok || t.ctx.Err() != nil {
			continue
		}
		all := &t.out.Processes
		at, there := slices.BinarySearchFunc(*all, pid, func(p Process, pid int) int { return p.PID - pid })
		if there {
			p.Doubt = (*all)[at].Doubt
			(*all)[at] = p
		} else {
			*all = slices.Insert(*all, at, p)
		}
		if p.NetNS != 0 {
			spaces[p.NetNS] = pid
		}
	}
	return spaces
}

// againLimit bounds [Again].
const againLimit = 500 * time.Millisecond
