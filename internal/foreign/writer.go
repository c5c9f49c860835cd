package foreign

import (
	"golang.org/x/sys/unix"
)

// A Writer is who can have written a file beside root and the user of the process. What
// such a file names is read with its writer's rights: a process of root's reads files of
// many users, and no word of theirs is to have root's files read. nil is root, or the
// process itself.
type Writer struct {
	uid, gid int
}

// overflowUID is the user and the group that own no file (credentials(7), overflowuid).
const overflowUID = 65534

// WriterOf returns who can have written a file that was read for as. A file of root's
// stays the word of the one who named it.
func (p *Process) WriterOf(f File, as *Writer) *Writer {
	switch {
	case f.UID != 0 && f.UID != p.rights.uid:
		return &Writer{f.UID, overflowUID}
	case f.Mode&unix.S_IWOTH != 0:
		return &Writer{overflowUID, overflowUID}
	case f.Mode&unix.S_IWGRP != 0 && f.GID != 0 && f.GID != p.rights.gid:
		return &Writer{overflowUID, f.GID}
	}
	return as
}

// For returns the process as who may read what a writer may read and no more. It is to be
// used while p is not closed, and is not closed itself.
func (p *Process) For(w *Writer) *Process {
	if w == nil {
		return p
	}
	out := &Process{PID: p.PID, Name: p.Name, Args: p.Args, Exe: p.Exe, Unit: p.Unit, Here: p.Here,
		uids: p.uids, program: p.program, root: p.root, start: p.start}
	out.rights = rights{uid: w.uid, gid: w.gid}
	out.hung.Store(p.hung.Load())
	return out
}
