package scan

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/mounts"
	"github.com/kasoku/kasoku/internal/procstat"
)

// processes reads the table of processes.
func (t *taker) processes() error {
	buf := make([]byte, 64<<10)
	var pids []int
	all, err := unix.Open(t.proc, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", t.proc, err)
	}
	defer func() { _ = unix.Close(all) }() // only listed
	if err := eachName(all, buf, func(name string) error {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
		return nil
	}); err != nil {
		return fmt.Errorf("%s: %w", t.proc, err)
	}
	slices.Sort(pids)
	if len(pids) > maxProcesses {
		t.cut("processes beyond the first " + strconv.Itoa(maxProcesses))
		pids = pids[:maxProcesses]
	}
	for _, pid := range pids {
		if t.ctx.Err() != nil {
			break
		}
		if p, ok := t.process(pid, buf, false); ok {
			t.out.Processes = append(t.out.Processes, p)
		}
	}
	if t.hidden > 0 {
		t.unseen(strconv.Itoa(t.hidden) + " processes of other users: which sockets they hold may be seen by root alone")
	}
	t.describe()
	return nil
}

// process reads one process and what it holds; false when it has gone or is the kernel's. Its
// details are read where it holds something, else where all are asked for.
func (t *taker) process(pid int, buf []byte, all bool) (Process, bool) {
	dir, err := openDir(unix.AT_FDCWD, t.proc+"/"+strconv.Itoa(pid))
	if err != nil {
		return Process{}, false
	}
	defer func() { _ = unix.Close(dir) }()
	stat, err := readShort(dir, "stat", buf)
	if err != nil {
		return Process{}, false
	}
	p, ok := parseStat(stat)
	if !ok {
		return Process{}, false
	}
	if exe, err := readLink(dir, "exe", buf); err == nil {
		p.Exe = strings.TrimSuffix(string(exe), " (deleted)") // an update replaced it
	}
	p.UID = -1
	t.descriptors(dir, &p, buf)
	if all || t.holds[pid] || p.Hidden {
		t.details(dir, &p, buf)
	}
	return p, true
}

// describe reads the rest of the processes that run the same programs as those that hold sockets
// or logs, and of those above them. Most processes of a host are none of these.
func (t *taker) describe() {
	byPID := map[int]*Process{}
	exes := map[string]bool{}
	for i := range t.out.Processes {
		p := &t.out.Processes[i]
		byPID[p.PID] = p
		if t.holds[p.PID] {
			exes[p.Exe] = true
		}
	}
	wanted := map[int]bool{}
	for i := range t.out.Processes {
		p := &t.out.Processes[i]
		if !exes[p.Exe] && !p.Hidden {
			continue
		}
		for n := 0; p != nil && !wanted[p.PID] && n < 64; n++ {
			wanted[p.PID] = true
			p = byPID[p.Parent]
		}
	}
	buf := make([]byte, 64<<10)
	for i := range t.out.Processes {
		p := &t.out.Processes[i]
		if !wanted[p.PID] || t.holds[p.PID] || p.Hidden || t.ctx.Err() != nil {
			continue
		}
		if dir, err := openDir(unix.AT_FDCWD, t.proc+"/"+strconv.Itoa(p.PID)); err == nil { // else it has gone
			t.details(dir, p, buf)
			_ = unix.Close(dir) // only read
		}
	}
}

// details reads what a process says of itself, and where it runs.
func (t *taker) details(dir int, p *Process, buf []byte) {
	p.UID = effectiveUser(dir)
	p.Args, _ = foreign.ArgumentsIn(dir, buf) // hidden: not known
	if group, err := readShort(dir, "cgroup", buf); err == nil {
		p.Cgroup, p.Unit, p.Container = parseCgroup(group)
	}
	if cwd, err := readLink(dir, "cwd", buf); err == nil {
		p.Dir = string(cwd)
	}
	p.NetNS, p.MntNS = namespace(dir, "net", buf), namespace(dir, "mnt", buf)
	p.PidNS = namespace(dir, "pid", buf)
	if p.NetNS != t.out.NetNS { // else its addresses are this host's, whoever it thinks that it is
		user := namespace(dir, "user", buf)
		p.Elsewhere = user != t.userNS && user != 0 && t.userNS != 0
	}
}

// openDir opens a directory for what is read below it: the kernel goes the way of a path
// once, and a number that another process gets does not lead to that one.
func openDir(at int, path string) (fd int, err error) {
	return unix.Openat(at, path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}

// readShort reads a file of procfs that the kernel gives whole in one call, or its beginning.
func readShort(dir int, name string, buf []byte) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	defer func() { _ = unix.Close(fd) }()
	for {
		n, err := unix.Read(fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		return buf[:n], nil
	}
}

// readLink reads a link of procfs, which may be a path of up to a page.
func readLink(dir int, name string, buf []byte) ([]byte, error) {
	n, err := unix.Readlinkat(dir, name, buf[:min(len(buf), unix.PathMax)])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return buf[:n], nil
}

// mostTable bounds a table of sockets that is read: some 100,000 of them.
const mostTable = 16 << 20

// readTable reads a file of procfs that may be long, or its beginning. It is valid until the
// next is read: a host may have hundreds of namespaces.
func (t *taker) readTable(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	t.table = t.table[:0]
	for len(t.table) < mostTable {
		t.table = slices.Grow(t.table, 64<<10)
		n, err := unix.Read(fd, t.table[len(t.table):cap(t.table)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		if n == 0 {
			break
		}
		t.table = t.table[:len(t.table)+n]
	}
	return t.table, nil
}

// eachName calls each for the names of an open directory of procfs, until it fails.
func eachName(dir int, buf []byte, each func(name string) error) error {
	var names []string
	for {
		n, err := unix.ReadDirent(dir, buf)
		if err != nil {
			return fmt.Errorf("list: %w", err)
		}
		if n == 0 {
			return nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		for _, name := range names {
			if err := each(name); err != nil {
				return err
			}
		}
	}
}

// parseStat reads /proc/PID/stat; false for a thread of the kernel, one that has ended
// and what cannot be read. The name is in parentheses and may hold any character.
func parseStat(text []byte) (p Process, ok bool) {
	name, st, err := procstat.Parse(text)
	if err != nil {
		return p, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:bytes.IndexByte(text, '(')])))
	if err != nil || pid <= 0 || st.Parent > math.MaxInt32 || st.Threads > math.MaxInt32 {
		return p, false
	}
	p = Process{PID: pid, Parent: int(st.Parent), Name: string(name), Threads: int(st.Threads), Start: st.Start}
	return p, !st.Kernel() && !st.Zombie()
}

// effectiveUser returns the effective user of a process by its directory, whose owner it is
// whether or not the process may be traced; -1 when it has gone.
//
// Kernel: task_dump_owner in fs/proc/base.c. Its file status has more, for ten times the
// time.
func effectiveUser(dir int) int {
	var st unix.Stat_t
	if unix.Fstat(dir, &st) != nil {
		return -1
	}
	return int(st.Uid)
}

// namespace returns the identity of a namespace of a process, 0 when it is hidden.
func namespace(dir int, kind string, buf []byte) uint64 {
	to, err := readLink(dir, "ns/"+kind, buf)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(string(to), kind+":["), "]"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// descriptors takes note of the sockets that a process holds and the logs that it
// writes.
//
// Most processes have their descriptors one after another, and the kernel says how many: those
// are asked for by number, as a list of them costs as much as what they lead to. What is above
// them is listed, so that none is left out that stays open meanwhile.
//
// Kernel: proc_fd_getattr and proc_readfd_common in fs/proc/fd.c: a directory's size is the count
// of descriptors since Linux 6.2, 0 before; at 2 in its list stands descriptor 0.
func (t *taker) descriptors(process int, p *Process, buf []byte) {
	d := descriptors{t: t, process: process, p: p, user: effectiveUser(process)}
	err := d.read(buf)
	if p.Hidden = errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM); p.Hidden {
		t.hidden++
	}
	slices.Sort(p.Logs)
}

// descriptors are those of a process being read.
type descriptors struct {
	t       *taker
	process int // its directory
	p       *Process
	user    int
	n       int // looked at
	named   int // like logs
	link    [256]byte
}

func (d *descriptors) read(buf []byte) error {
	dir, err := unix.Openat(d.process, "fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open fd: %w", err)
	}
	defer func() { _ = unix.Close(dir) }()
	const missed = 8 // so many numbers that are none cost less than a list
	next := 0
	var st unix.Stat_t
	if d.t.proc == "/proc" && unix.Fstat(dir, &st) == nil {
		for free := 0; int64(next-free) < st.Size && free < missed; next++ {
			err := d.look(dir, strconv.Itoa(next))
			switch {
			case errors.Is(err, unix.ENOENT):
				free++
			case err != nil:
				return err
			}
		}
	}
	if next > 0 {
		if _, err := unix.Seek(dir, int64(next)+2, unix.SEEK_SET); err != nil {
			return fmt.Errorf("list fd: %w", err)
		}
	}
	return eachName(dir, buf, func(name string) error {
		if number, err := strconv.Atoi(name); err != nil || number < next {
			return nil
		}
		if err := d.look(dir, name); errors.Is(err, errEnough) {
			return err
		}
		return nil // it may have been closed
	})
}

// errEnough ends the reading of descriptors.
var errEnough = errors.New("enough descriptors")

// look looks at one descriptor.
func (d *descriptors) look(dir int, name string) error {
	t, p := d.t, d.p
	k, err := unix.Readlinkat(dir, name, d.link[:])
	if err != nil {
		return err
	}
	d.n++
	if d.n%1024 == 0 && t.ctx.Err() != nil {
		return errEnough
	}
	t.files++
	t.filesOf[d.user]++
	if d.n > maxFiles || t.files > maxAllFiles || d.user != 0 && t.filesOf[d.user] > maxUserFiles {
		t.cut("some descriptors of pid " + strconv.Itoa(p.PID) + ": there are too many")
		return errEnough
	}
	if inode, ok := socketInode(d.link[:k]); ok {
		t.holds[p.PID] = true
		if held := t.holders[inode]; len(held) == 0 || held[len(held)-1] != p.PID {
			t.holders[inode] = append(held, p.PID)
		}
		return nil
	}
	to := string(d.link[:k])
	if !looksLikeLog(to) || len(p.Logs) >= maxLogs || slices.Contains(p.Logs, to) || !writes(d.process, name) {
		return nil
	}
	if d.named++; d.named > maxNamed {
		t.cut("some logs of pid " + strconv.Itoa(p.PID) + ": it has too many files open that are named like logs")
		return nil
	}
	if to = t.nameHere(d.process, p.PID, d.user, dir, name, to); to != "" && !slices.Contains(p.Logs, to) {
		t.holds[p.PID] = true
		p.Logs = append(p.Logs, to)
	}
	return nil
}

// nameHere returns the name on this host of a file that a process has open, empty where it has
// none: a unit with PrivateTmp= writes to the host's /var/log, a container to its own or to a
// directory of the host's that is bound into it. A file that does not answer has none.
func (t *taker) nameHere(process, pid, user, dir int, descriptor, name string) string {
	var buf [64]byte
	here := t.mountsOf(t.out.MntNS, "self")
	there := here
	if space := namespace(process, "mnt", buf[:]); space != t.out.MntNS {
		there = t.mountsOf(space, strconv.Itoa(pid))
	}
	found, err := foreign.Patiently(user, func() (string, error) {
		return mounts.NameHere(here, there, dir, descriptor, name), nil
	})
	if errors.Is(err, foreign.ErrHung) {
		t.cut("logs of uid " + strconv.Itoa(user) + ": a file did not answer")
	}
	return found
}

// mountsOf returns the mounts of a namespace that a process is in; nil where they cannot be
// read, or the namespace is not known.
func (t *taker) mountsOf(space uint64, process string) *mounts.Table {
	table, ok := t.mounts[space]
	if !ok && space != 0 {
		table, _ = mounts.Read(t.proc + "/" + process)
		t.mounts[space] = table
	}
	return table
}

// socketInode reads the target of a descriptor's link: socket:[1234].
func socketInode(link []byte) (uint32, bool) {
	const before, after = "socket:[", 1
	if len(link) <= len(before)+after || string(link[:len(before)]) != before {
		return 0, false
	}
	n, err := strconv.ParseUint(string(link[len(before):len(link)-after]), 10, 32)
	return uint32(n), err == nil && n > 0
}

// looksLikeLog reports whether an open file may be a log.
func looksLikeLog(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/memfd:") ||
		strings.HasSuffix(path, " (deleted)") {
		return false
	}
	return filepath.Ext(path) == ".log" || strings.Contains(path, "/log/") || strings.Contains(path, "/logs/") ||
		strings.HasSuffix(path, "access_log") || strings.HasSuffix(path, "error_log")
}

// writes reports whether a descriptor of a process is open for writing.
func writes(process int, descriptor string) bool {
	var buf [512]byte
	text, err := readShort(process, "fdinfo/"+descriptor, buf[:])
	if err != nil {
		return false
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("flags:")); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(string(rest)), 8, 64)
			return err == nil && n&3 != 0 // O_WRONLY or O_RDWR
		}
	}
	return false
}

// believe asks of the processes that hold sockets whether they are what they say.
func (t *taker) believe(matters func(exe string) bool) {
	if t.proc != "/proc" {
		return
	}
	holds := map[int]bool{}
	for i := range t.out.Sockets {
		for _, pid := range t.out.Sockets[i].Owners {
			holds[pid] = true
		}
	}
	for i := range t.out.Processes {
		p := &t.out.Processes[i]
		if holds[p.PID] && t.ctx.Err() == nil && (matters == nil || matters(p.Exe)) {
			p.Doubt = doubtOf(p.PID)
		}
	}
}

// doubtOf describes why a process is not believed, empty when it is.
func doubtOf(pid int) string {
	p, err := foreign.Hold(pid)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = p.Close() }()
	var doubt *foreign.Doubt
	if err := p.Believe(nil); errors.As(err, &doubt) {
		return doubt.Why
	}
	return ""
}
