package scan

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/foreign"
)

// kthread marks a thread of the kernel: PF_KTHREAD of include/linux/sched.h.
const kthread = 0x00200000

// processes reads the table of processes.
func (t *taker) processes() error {
	buf := make([]byte, 64<<10)
	var pids []int
	if err := listDir(t.proc, buf, func(name string) bool {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
		return true
	}); err != nil {
		return err
	}
	slices.Sort(pids)
	if len(pids) > maxProcesses {
		t.unseen("processes beyond the first " + strconv.Itoa(maxProcesses))
		pids = pids[:maxProcesses]
	}
	for _, pid := range pids {
		if t.ctx.Err() != nil {
			break
		}
		if p, ok := t.process(pid, buf); ok {
			t.out.Processes = append(t.out.Processes, p)
		}
	}
	if t.hidden > 0 {
		t.unseen(strconv.Itoa(t.hidden) + " processes of other users: which sockets they hold may be seen by root alone")
	}
	t.describe()
	return nil
}

// process reads one process and what it holds; false when it has gone or is the kernel's.
func (t *taker) process(pid int, buf []byte) (Process, bool) {
	at := t.proc + "/" + strconv.Itoa(pid)
	stat, err := readSome(at+"/stat", buf)
	if err != nil {
		return Process{}, false
	}
	p, ok := parseStat(stat)
	if !ok {
		return Process{}, false
	}
	if exe, err := os.Readlink(at + "/exe"); err == nil {
		p.Exe = strings.TrimSuffix(exe, " (deleted)") // an update replaced it
	}
	p.UID = -1
	t.descriptors(at, &p, buf)
	return p, true
}

// describe reads the rest of the processes that hold sockets or logs, of those that run
// the same programs, and of those above them. Most processes of a host are none of these.
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
		if p := &t.out.Processes[i]; wanted[p.PID] && t.ctx.Err() == nil {
			t.details(p, buf)
		}
	}
}

// details reads what a process says of itself, and where it runs.
func (t *taker) details(p *Process, buf []byte) {
	number := strconv.Itoa(p.PID)
	at := t.proc + "/" + number
	if status, err := readSome(at+"/status", buf); err == nil {
		p.UID = parseUID(status)
	}
	if line, err := readSome(at+"/cmdline", buf); err == nil {
		p.Args = strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00")
	}
	if group, err := readSome(at+"/cgroup", buf); err == nil {
		p.Cgroup, p.Unit, p.Container = parseCgroup(group)
	}
	if dir, err := os.Readlink(at + "/cwd"); err == nil {
		p.Dir = dir
	}
	p.NetNS, p.MntNS = t.namespace(number, "net"), t.namespace(number, "mnt")
	p.PidNS = t.namespace(number, "pid")
	user := t.namespace(number, "user")
	p.Elsewhere = user != t.userNS && user != 0 && t.userNS != 0
}

// readSome reads the beginning of a file of procfs.
func readSome(path string, buf []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	n := 0
	for n < len(buf) {
		k, err := unix.Read(fd, buf[n:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		if k == 0 {
			break
		}
		n += k
	}
	return buf[:n], nil
}

// listDir calls each for the names of a directory of procfs, until it returns false.
func listDir(path string, buf []byte, each func(name string) bool) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var names []string
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil {
			return fmt.Errorf("list %s: %w", path, err)
		}
		if n == 0 {
			return nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		for _, name := range names {
			if !each(name) {
				return nil
			}
		}
	}
}

// parseStat reads /proc/PID/stat; false for a thread of the kernel, one that has ended
// and what cannot be read. The name is in parentheses and may hold any character.
func parseStat(text []byte) (p Process, ok bool) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 1 || end < open {
		return p, false
	}
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 20 {
		return p, false
	}
	pid, err1 := strconv.Atoi(strings.TrimSpace(string(text[:open])))
	parent, err2 := strconv.Atoi(fields[1])
	flags, err3 := strconv.ParseUint(fields[6], 10, 64)
	threads, err4 := strconv.Atoi(fields[17])
	start, err5 := strconv.ParseUint(fields[19], 10, 64)
	if errors.Join(err1, err2, err3, err4, err5) != nil || pid <= 0 || parent < 0 {
		return p, false
	}
	dead := fields[0] == "Z" || fields[0] == "X"
	p = Process{PID: pid, Parent: parent, Name: string(text[open+1 : end]), Threads: threads, Start: start}
	return p, flags&kthread == 0 && !dead
}

// parseUID reads the effective user of /proc/PID/status; -1 without one.
func parseUID(status []byte) int {
	for line := range bytes.Lines(status) {
		rest, ok := bytes.CutPrefix(line, []byte("Uid:"))
		if !ok {
			continue
		}
		if fields := strings.Fields(string(rest)); len(fields) == 4 {
			if n, err := strconv.Atoi(fields[1]); err == nil {
				return n
			}
		}
	}
	return -1
}

// parseCgroup returns the path of a control group, and the unit and the container that
// it shows: the last element that is a service of the system, an id of 64 hexadecimal
// digits.
func parseCgroup(text []byte) (path, unit, container string) {
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		if fields[0] == "0" || path == "" {
			path = fields[2]
		}
		for part := range strings.SplitSeq(fields[2], "/") {
			if strings.HasSuffix(part, ".service") && !strings.HasPrefix(part, "user@") {
				unit = part
			}
			id := strings.TrimSuffix(part, ".scope")
			id = id[strings.LastIndexByte(id, '-')+1:]
			if len(id) == 64 && strings.Trim(id, "0123456789abcdef") == "" {
				container = id[:12]
			}
		}
	}
	if container != "" {
		unit = "" // that of the container's runtime
	}
	return path, unit, container
}

// namespace returns the identity of a namespace of a process, 0 when it is hidden.
func (t *taker) namespace(pid, kind string) uint64 {
	to, err := os.Readlink(t.proc + "/" + pid + "/ns/" + kind)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(to, kind+":["), "]"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// descriptors takes note of the sockets that a process holds and the logs that it
// writes.
func (t *taker) descriptors(at string, p *Process, buf []byte) {
	var link [256]byte
	n := 0
	err := listDir(at+"/fd", buf, func(name string) bool {
		n++
		if t.files++; n > maxFiles || t.files > maxAllFiles {
			t.unseen("some descriptors of pid " + strconv.Itoa(p.PID) + ": there are too many")
			return false
		}
		k, err := unix.Readlink(at+"/fd/"+name, link[:])
		if err != nil {
			return true
		}
		to := string(link[:k])
		if inode, ok := socketInode(to); ok {
			t.holds[p.PID] = true
			if held := t.holders[inode]; len(held) == 0 || held[len(held)-1] != p.PID {
				t.holders[inode] = append(held, p.PID)
			}
			return true
		}
		if looksLikeLog(to) && len(p.Logs) < maxLogs && !slices.Contains(p.Logs, to) && writes(at+"/fdinfo/"+name) {
			t.holds[p.PID] = true
			p.Logs = append(p.Logs, to)
		}
		return true
	})
	if p.Hidden = errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM); p.Hidden {
		t.hidden++
	}
	slices.Sort(p.Logs)
}

// socketInode reads the target of a descriptor's link: socket:[1234].
func socketInode(link string) (uint32, bool) {
	rest, ok := strings.CutPrefix(link, "socket:[")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(rest, "]"), 10, 32)
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

// writes reports whether a descriptor is open for writing.
func writes(fdinfo string) bool {
	buf := make([]byte, 512)
	text, err := readSome(fdinfo, buf)
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
func (t *taker) believe() {
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
		if holds[p.PID] && t.ctx.Err() == nil {
			p.Doubt = doubtOf(p.PID)
		}
	}
}

// doubtOf says why a process is not believed, empty when it is.
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
