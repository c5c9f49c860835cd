// Package procstat reads /proc/PID/stat, the line in which the kernel says most of what
// it counts of one process.
//
// The one idea: field 2 is the name of the program in parentheses and may hold anything,
// spaces and parentheses too, so the fields are counted from its last parenthesis. That is
// known here alone. Parse allocates nothing, as each tick parses the lines of all
// processes.
//
// Times are in units of 1/UserHz s. Not done here: the files of a process are not kept
// open; observe/process does that.
//
// Source: proc_pid_stat(5); the kernel's Documentation/filesystems/proc.rst, table 1-4.
package procstat

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"syscall"
)

// UserHz is the number of clock ticks per second in /proc. It is part of the kernel's
// interface, 100 on every architecture that Go runs on, and not its timer frequency; see
// sysconf(3), _SC_CLK_TCK.
const UserHz = 100

// kthreadFlag marks a thread of the kernel in the flags: PF_KTHREAD of
// include/linux/sched.h.
const kthreadFlag = 0x00200000

// A Stat is what is taken of the line. The times are of the whole process, with its
// threads that have ended, without its children.
type Stat struct {
	State   byte // field 3: R S D Z T …
	Group   int  // field 5; -1 of a process that is just being released
	Parent  uint64
	Flags   uint64 // field 9
	Faults  uint64 // field 12: page faults that had to wait for a disk
	User    uint64 // field 14, 1/100 s
	System  uint64 // field 15, 1/100 s
	Threads uint64 // field 20
	Start   uint64 // field 22, 1/100 s since boot; with the number it names a process
	Size    uint64 // field 23: address space, bytes
	RSS     uint64 // field 24, pages; lags by up to some dozen pages per CPU

	ChildUser, ChildSystem uint64 // fields 16 and 17, 1/100 s: of children that have ended and were waited for
}

// CPU returns the CPU time in ticks.
func (st *Stat) CPU() uint64 { return st.User + st.System }

// Children returns the CPU time of children in ticks.
func (st *Stat) Children() uint64 { return st.ChildUser + st.ChildSystem }

// Kernel reports whether it is a thread of the kernel.
func (st *Stat) Kernel() bool { return st.Flags&kthreadFlag != 0 }

// Zombie reports whether the first thread has ended; others may still run.
func (st *Stat) Zombie() bool { return st.State == 'Z' || st.State == 'X' }

// Dead reports whether the process has ended and only waits for its parent.
func (st *Stat) Dead() bool { return st.Zombie() && st.Threads <= 1 }

// Processes returns the numbers of the processes that a proc file system ("/proc") lists,
// in ascending order. The error is one of package fs.
func Processes(proc string) ([]int, error) {
	dir, err := os.Open(proc)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids, err
}

// Read reads the line of a process of this host. The error is one of package fs when
// there is none.
func Read(pid int) (Stat, error) {
	var buf [1024]byte // twice as much as the longest line
	line, err := ReadFile("/proc/"+strconv.Itoa(pid)+"/stat", buf[:0])
	if err != nil {
		return Stat{}, err
	}
	_, st, err := Parse(line)
	return st, err
}

// ReadFile appends a file of procfs to buf. It takes half the system calls of os.ReadFile, which
// asks for a size twice, and such a file has none. A call gives as much as fits into the room, or
// into a page: one that gives less than half of that gave the rest.
func ReadFile(path string, buf []byte) ([]byte, error) {
	fd, err := open(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }() // only read
	const page = 4096
	for {
		buf = slices.Grow(buf, 512)
		n, err := syscall.Read(fd, buf[len(buf):cap(buf)])
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		room := cap(buf) - len(buf)
		buf = buf[:len(buf)+n]
		if n == 0 || n < min(room, page)/2 {
			return buf, nil
		}
	}
}

func open(path string) (fd int, err error) {
	for {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if !errors.Is(err, syscall.EINTR) {
			return fd, err
		}
	}
}

// Parse reads one line. The name points into it; it may hold spaces and parentheses.
//
//	1204 (userapi) S 1 1204 1204 0 -1 4194560 …
func Parse(line []byte) (name []byte, st Stat, err error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return nil, Stat{}, fmt.Errorf("no name in %q", line)
	}
	name = line[open+1 : end]
	word, rest := cutWord(line[end+1:])
	if len(word) != 1 {
		return nil, Stat{}, fmt.Errorf("bad state %q", word)
	}
	st.State = word[0]
	fields := [...]struct {
		skip int // words between the one before and this one
		to   *uint64
	}{
		{0, &st.Parent},      // 4
		{4, &st.Flags},       // 9
		{2, &st.Faults},      // 12
		{1, &st.User},        // 14
		{0, &st.System},      // 15
		{0, &st.ChildUser},   // 16
		{0, &st.ChildSystem}, // 17
		{2, &st.Threads},     // 20
		{1, &st.Start},       // 22
		{0, &st.Size},        // 23
		{0, &st.RSS},         // 24
	}
	for i, f := range fields {
		if i == 1 {
			group, _ := cutWord(rest) // 5
			st.Group = parseInt(group)
		}
		for range f.skip {
			_, rest = cutWord(rest)
		}
		word, rest = cutWord(rest)
		n, ok := parseUint(word)
		if !ok && (f.to == &st.ChildUser || f.to == &st.ChildSystem) {
			continue // the kernel declares them signed
		}
		if !ok {
			return nil, Stat{}, fmt.Errorf("bad number %q in %q", word, line)
		}
		*f.to = n
	}
	return name, st, nil
}

// Field returns a field by its number in proc_pid_stat(5), 3 or more, as a word; ok is
// false when the line has not so many.
func Field(line []byte, number int) (word []byte, ok bool) {
	const first = 3
	rest := line[bytes.LastIndexByte(line, ')')+1:]
	for range number - first + 1 {
		word, rest = cutWord(rest)
	}
	return word, len(word) > 0
}

// cutWord cuts the first word off a line; words are separated by blanks.
func cutWord(line []byte) (word, rest []byte) {
	i := 0
	for i < len(line) && isBlank(line[i]) {
		i++
	}
	line = line[i:]
	for i = 0; i < len(line) && !isBlank(line[i]); i++ {
	}
	return line[:i], line[i:]
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

func parseUint(word []byte) (n uint64, ok bool) {
	if len(word) == 0 {
		return 0, false
	}
	for _, c := range word {
		d := uint64(c - '0')
		if c < '0' || c > '9' || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// parseInt reads the number of a process or a group; -1 for anything else.
func parseInt(word []byte) int {
	n, ok := parseUint(word)
	if !ok || n > math.MaxInt32 {
		return -1
	}
	return int(n)
}
