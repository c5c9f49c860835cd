package stacks

import (
	"cmp"
	"context"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/topology/scan"
)

// The bounds of looking for the other ends of descriptors.
const (
	mostEnds   = 8192
	scanWithin = time.Second
)

// An endKey is a descriptor of a process.
type endKey struct {
	pid int
	fd  int32
}

// ends finds out what descriptors lead to.
type ends struct {
	links     map[endKey]string // as /proc/PID/fd has them: socket:[4711]
	sockets   map[uint32]*scan.Socket
	listeners map[string][]int // processes by "tcp 3306", "unix /run/x.sock"
	names     map[int]string   // of processes
}

func newEnds() *ends {
	return &ends{links: map[endKey]string{}, sockets: map[uint32]*scan.Socket{}, listeners: map[string][]int{}, names: map[int]string{}}
}

// look notes what a descriptor leads to now.
func (e *ends) look(pid int, fd int32) {
	key := endKey{pid, fd}
	if _, ok := e.links[key]; ok || fd < 0 || len(e.links) >= mostEnds {
		return
	}
	link, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.Itoa(int(fd)))
	if err != nil {
		link = "" // it is closed by now
	}
	e.links[key] = link
}

// snapshot notes which connections there are. It takes some tens of milliseconds.
func (e *ends) snapshot(ctx context.Context) {
	s, err := scan.Take(ctx, scan.Options{Limit: scanWithin, Doubted: func(string) bool { return false }})
	if err != nil {
		return
	}
	for i := range s.Sockets {
		c := &s.Sockets[i]
		if c.Inode != 0 {
			e.sockets[c.Inode] = c
		}
		if c.State == scan.Listening {
			e.listeners[doorOf(c)] = c.Owners
		}
	}
	for i := range s.Processes {
		e.names[s.Processes[i].PID] = printable(cmp.Or(path.Base(s.Processes[i].Exe), s.Processes[i].Name))
	}
}

// doorOf names where a socket listens.
func doorOf(s *scan.Socket) string {
	if s.Network == "unix" {
		return "unix " + s.Path
	}
	return "tcp " + strconv.Itoa(int(s.Local.Port()))
}

// on returns what a descriptor leads to, in words: "mariadbd :3306", "clients of :8080", the
// name of a file; empty when it is not known.
func (e *ends) on(pid int, fd int32, reason Reason) string {
	link := e.links[endKey{pid, fd}]
	number, isSocket := strings.CutPrefix(link, "socket:[")
	switch {
	case isSocket && (reason == Socket || reason == Accept):
		inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 32)
		if s := e.sockets[uint32(inode)]; err == nil && s != nil {
			return e.peer(s)
		}
	case strings.HasPrefix(link, "/") && (reason == Disk || reason == FileLock):
		return printable(path.Base(link))
	}
	return ""
}

// peer names the other end of a socket.
func (e *ends) peer(s *scan.Socket) string {
	if s.State == scan.Listening {
		return strings.TrimPrefix(shortDoor(s), " ")
	}
	if s.Network == "unix" {
		other := e.sockets[s.Peer]
		switch {
		case other == nil || s.Peer == 0:
			return ""
		case s.Path != "":
			return "clients of unix:" + printable(s.Path)
		}
		return strings.TrimSpace(e.owner(other.Owners) + " unix:" + printable(other.Path))
	}
	local, remote := "tcp "+strconv.Itoa(int(s.Local.Port())), "tcp "+strconv.Itoa(int(s.Remote.Port()))
	if _, ok := e.listeners[local]; ok && s.Local.Port() < s.Remote.Port() {
		return "clients of :" + strconv.Itoa(int(s.Local.Port()))
	}
	if owners, ok := e.listeners[remote]; ok && (s.Remote.Addr().IsLoopback() || s.Remote.Addr() == s.Local.Addr()) {
		return strings.TrimSpace(e.owner(owners) + " :" + strconv.Itoa(int(s.Remote.Port())))
	}
	if _, ok := e.listeners[local]; ok {
		return "clients of :" + strconv.Itoa(int(s.Local.Port()))
	}
	return s.Remote.String()
}

func shortDoor(s *scan.Socket) string {
	if s.Network == "unix" {
		return "unix:" + printable(s.Path)
	}
	return ":" + strconv.Itoa(int(s.Local.Port()))
}

// owner returns the name of the first process of a list that has one.
func (e *ends) owner(pids []int) string {
	for _, pid := range pids {
		if name := e.names[pid]; name != "" {
			return name
		}
	}
	return ""
}
