package sockets

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/observe/procfile"
)

// owners finds the processes that hold sockets.
type owners struct {
	proc    string
	link    [64]byte
	pids    []uint64
	fds     []uint64
	refused bool // descriptors of some process may not be listed
}

// unowned returns how many of the listeners that are there have no owner.
func (s *Source) unowned() int {
	n := 0
	for _, l := range s.order {
		if !l.owned && l.tick == s.tick {
			n++
		}
	}
	return n
}

// findOwners looks for the owners of new listeners, once for each: a socket is in the
// descriptors of a process before it listens, and a search takes two system calls for each
// descriptor of each process.
func (s *Source) findOwners() {
	var wanted map[uint32]*listener
	for _, l := range s.order {
		if l.owned || l.tick != s.tick || l.looked {
			continue
		}
		if wanted == nil {
			wanted = map[uint32]*listener{}
		}
		l.looked = true
		wanted[l.inode] = l
	}
	if wanted != nil {
		s.owners.find(wanted)
	}
}

// find gives the listeners the names of their owners. The youngest processes are
// looked through first: what listens since a moment ago is likely theirs, and the
// first process, which hands sockets down, comes last. Workers that share a socket
// have their master's name.
func (o *owners) find(wanted map[uint32]*listener) {
	dir, err := procfile.OpenDir(o.proc)
	if err != nil {
		return // without procfs nothing has an owner
	}
	o.pids, _ = dir.AppendNumbers(o.pids[:0]) // what cannot be listed has no owner
	_ = dir.Close()                           // opened for reading
	for i := len(o.pids) - 1; i >= 0 && len(wanted) > 0; i-- {
		o.look(o.pids[i], wanted)
	}
}

// look looks through the descriptors of one process, and takes what it finds off
// the list.
func (o *owners) look(pid uint64, wanted map[uint32]*listener) {
	base := o.proc + "/" + strconv.FormatUint(pid, 10)
	dir, err := procfile.OpenDir(base + "/fd")
	if err != nil {
		o.refused = o.refused || errors.Is(err, fs.ErrPermission)
		return
	}
	o.fds, err = dir.AppendNumbers(o.fds[:0])
	_ = dir.Close() // opened for reading
	if err != nil {
		return // it has gone
	}
	for _, fd := range o.fds {
		n, err := unix.Readlink(base+"/fd/"+strconv.FormatUint(fd, 10), o.link[:])
		if err != nil {
			continue
		}
		inode, ok := socketInode(o.link[:n])
		l := wanted[inode]
		if !ok || l == nil {
			continue
		}
		delete(wanted, inode)
		l.owned = true
		l.instance = l.address
		if comm, err := os.ReadFile(base + "/comm"); err == nil {
			l.instance += " " + procfile.Printable(bytes.TrimSpace(comm))
		}
	}
}

// socketInode reads the target of a descriptor's link: socket:[1234].
func socketInode(link []byte) (uint32, bool) {
	rest, ok := bytes.CutPrefix(link, []byte("socket:["))
	if !ok || len(rest) == 0 || rest[len(rest)-1] != ']' {
		return 0, false
	}
	n, ok := procfile.Uint(rest[:len(rest)-1])
	return uint32(n), ok && n > 0 && n < 1<<32
}
