package settings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/internal/procstat"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/topology"
)

// A host is where the server runs, as far as this one is it.
type host struct {
	root   string
	pid    int    // 0: the server is not here
	name   string // that the server says of its host
	disk   string // device of the data directory: "8:1"
	free   uint64 // bytes that are free there
	writes struct {
		mean time.Duration
		n    float64
	}
}

// The server's Uptime counts from a moment after its process began: recovery comes in
// between, and both clocks are cut to seconds.
const (
	startedBefore = 5 * time.Second
	startedAfter  = 15 * time.Minute
)

// findHost looks for the process of a server among those of this host: it is called
// as servers are, is as old as the server says, has the server's host name (of its
// container, perhaps), and its process id, data directory or port. A server that is
// not found runs elsewhere.
func findHost(root string, variables, status map[string]string) *host {
	h := &host{root: root, name: variables["hostname"]}
	up, ok := parseNumber(status[mysql.Uptime])
	if !ok {
		return h
	}
	var sole []int
	for _, pid := range h.processes() {
		switch strings.TrimSpace(h.read("/proc/%d/comm", pid)) {
		case "mysqld", "mariadbd", "mysqld-debug", "mysqld_safe.bin":
		default:
			continue
		}
		if !h.believed(pid) {
			continue
		}
		age, ok := h.age(pid)
		late := age - time.Duration(up)*time.Second
		if !ok || late < -startedBefore || late > startedAfter || !h.named(pid) {
			continue
		}
		if h.owns(pid, variables) {
			h.found(pid, variables["datadir"])
			return h
		}
		sole = append(sole, pid)
	}
	// Another user's process hides its directory and its descriptors.
	if len(sole) == 1 && os.Geteuid() != 0 && root == "" {
		h.found(sole[0], variables["datadir"])
	}
	return h
}

// mostRead is more than any file that is read here holds.
const mostRead = 1 << 20

// read returns the text of a file of the kernel's, empty when there is none.
func (h *host) read(format string, args ...any) string {
	return readAll(os.Open(h.root + fmt.Sprintf(format, args...)))
}

// readAll returns the text of a file that was opened. Paths that a server names may lead
// anywhere, so that only regular files are read, as those of /proc are.
func readAll(f *os.File, err error) string {
	if err != nil {
		return ""
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		_ = f.Close()
		return ""
	}
	b, err := io.ReadAll(io.LimitReader(f, mostRead))
	if errors.Join(err, f.Close()) != nil {
		return ""
	}
	return string(b)
}

// believed reports whether a process of this host may be the server that it calls
// itself. In a tree of a test all are.
func (h *host) believed(pid int) bool {
	if h.root != "" {
		return true
	}
	p, err := foreign.Hold(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Close() }() // only read
	return p.Believe(topology.DatabasePrograms) == nil
}

func (h *host) processes() []int {
	pids, _ := procstat.Processes(h.root + "/proc") // without procfs none is known
	return pids
}

// age is how long a process has run, on the clock that does not stop in a suspended
// host.
func (h *host) age(pid int) (time.Duration, bool) {
	_, st, err1 := procstat.Parse([]byte(h.read("/proc/%d/stat", pid)))
	now, _, _ := strings.Cut(h.read("/proc/uptime"), " ")
	up, err2 := strconv.ParseFloat(now, 64)
	began := float64(st.Start) / procstat.UserHz
	if err1 != nil || err2 != nil || math.Abs(up-began) > 1e10 {
		return 0, false
	}
	return time.Duration((up - began) * float64(time.Second)), true
}

// named reports whether the server's host name is this one's, or that of the
// process's container.
func (h *host) named(pid int) bool {
	if own := strings.TrimSpace(h.read("/proc/sys/kernel/hostname")); own == h.name {
		return true
	}
	return strings.TrimSpace(readAll(pathwalk.OpenIn(h.process(pid), "root", "/etc/hostname"))) == h.name
}

func (h *host) owns(pid int, variables map[string]string) bool {
	if file := variables["pid_file"]; filepath.IsAbs(file) &&
		strings.TrimSpace(readAll(pathwalk.OpenNamed(h.root+file))) == strconv.Itoa(pid) {
		return true
	}
	if dir, err := os.Readlink(h.root + fmt.Sprintf("/proc/%d/cwd", pid)); err == nil && variables["datadir"] != "" {
		return filepath.Clean(dir) == filepath.Clean(variables["datadir"])
	}
	args := strings.Split(h.read("/proc/%d/cmdline", pid), "\x00")
	for _, a := range args {
		if a == "--port="+variables["port"] || a == "--datadir="+variables["datadir"] {
			return true
		}
	}
	return false
}

func (h *host) found(pid int, dataDir string) {
	h.pid = pid
	if pathwalk.LookIn(h.process(pid), "root", dataDir, h.lookAtData) != nil {
		_ = pathwalk.Look(dataDir, h.lookAtData) // what cannot be seen is said of the disk
	}
}

func (h *host) process(pid int) string { return h.root + "/proc/" + strconv.Itoa(pid) }

// lookAtData finds out what the data directory lies on.
func (h *host) lookAtData(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	h.disk = fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) == nil && fs.Bsize > 0 {
		h.free = fs.Bavail * uint64(fs.Bsize)
	}
	return nil
}

// describe adds what this host says to the input, and what it does not.
func (h *host) describe(in *Input) {
	if h.pid == 0 {
		why := "the server runs on another host"
		if h.name != "" {
			why += ", " + h.name
		}
		in.miss(why, "run kasoku advise there, or give --ram", PartMemory)
		in.miss(why, "run kasoku advise there", PartOthers, PartSystem, PartCores, PartDisk, PartDiskTime)
		return
	}
	h.memory(&in.Memory)
	if in.Memory.RAM == 0 {
		in.miss("/proc/meminfo cannot be read", "give --ram", PartMemory)
	}
	in.System.Cores = h.cores()
	if in.System.Cores == 0 {
		in.miss("/proc/cpuinfo cannot be read", "", PartCores)
	}
	in.System.Settings = map[string]string{}
	for _, s := range [...]string{"vm.swappiness", "fs.aio-max-nr"} {
		if v := strings.TrimSpace(h.read("/proc/sys/%s", strings.ReplaceAll(s, ".", "/"))); v != "" {
			in.System.Settings[s] = v
		}
	}
	in.System.FreeBytes = h.free
	if turns, why := h.rotational(); why != "" {
		in.miss(why, "", PartDisk)
	} else {
		in.System.Rotational = &turns
	}
	in.System.WriteTime, in.System.Writes = h.writes.mean, h.writes.n
	if in.System.Writes == 0 {
		in.miss("writes are timed over a load", "kasoku advise --for 60s while it runs", PartDiskTime)
	}
}

func (h *host) cores() int { return strings.Count("\n"+h.read("/proc/cpuinfo"), "\nprocessor\t") }

// memory is what the server may take: the limit of the control group that leaves it least, else
// all of the host's.
func (h *host) memory(m *Memory) {
	m.RAM, m.From, m.Others, m.Seen = h.total(), "memory of the host", h.others(""), true
	src := cgroup.New(cgroup.Options{Proc: h.root + "/proc", Root: h.root,
		PIDs: func(dst []int) []int { return append(dst, h.pid) }})
	defer func() { _ = src.Close() }() // it was only read
	var f kasoku.Frame
	if err := src.Collect(context.Background(), &f); err == nil {
		within := h.others(h.read("/proc/%d/cgroup", h.pid))
		for _, s := range f.Samples {
			if s.Name == cgroup.MemoryMax && s.Value > 0 {
				m.limit(uint64(min(s.Value, 1<<62)), within, s.Instance)
			}
		}
	}
}

func (h *host) total() uint64 {
	for line := range strings.Lines(h.read("/proc/meminfo")) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemTotal:" {
			kib, _ := strconv.ParseUint(f[1], 10, 50)
			return kib << 10
		}
	}
	return 0
}

// others adds up what other processes hold for themselves, kasoku's own left out: of
// the host, or of one control group. Pages of files and shared ones do not count.
//
// Source: proc_pid_statm(5).
func (h *host) others(group string) uint64 {
	var sum uint64
	page := uint64(os.Getpagesize())
	for _, pid := range h.processes() {
		if pid == h.pid || pid == os.Getpid() {
			continue
		}
		f := strings.Fields(h.read("/proc/%d/statm", pid))
		if len(f) < 3 || group != "" && h.read("/proc/%d/cgroup", pid) != group {
			continue
		}
		resident, _ := strconv.ParseUint(f[1], 10, 40)
		shared, _ := strconv.ParseUint(f[2], 10, 40)
		if resident > shared {
			sum += (resident - shared) * page
		}
	}
	return sum
}

// rotational reports whether the data directory's disk turns; why says why that is not
// known. A virtual disk says that it does, whatever lies below it.
func (h *host) rotational() (turns bool, why string) {
	if h.disk == "" {
		return false, "the data directory cannot be seen"
	}
	link, err := filepath.EvalSymlinks(h.root + "/sys/dev/block/" + h.disk)
	if err != nil {
		return false, "the data directory is on no disk of its own"
	}
	if _, err := os.Stat(link + "/partition"); err == nil {
		link = filepath.Dir(link)
	}
	text, err := os.ReadFile(link + "/queue/rotational")
	if err != nil {
		return false, "the disk does not report"
	}
	turns = strings.TrimSpace(string(text)) == "1"
	if device := filepath.Base(link); turns && (strings.HasPrefix(device, "vd") || strings.HasPrefix(device, "xvd")) {
		return false, device + " is virtual, and does not report"
	}
	return turns, ""
}

// diskTimes reads how many writes the disk has done, and how long they took together.
// Kernel: Documentation/admin-guide/iostats.rst, fields 5 and 8.
func (h *host) diskTimes() (t [2]float64) {
	for line := range strings.Lines(h.read("/proc/diskstats")) {
		f := strings.Fields(line)
		if h.disk == "" || len(f) < 11 || f[0]+":"+f[1] != h.disk {
			continue
		}
		t[0], _ = strconv.ParseFloat(f[7], 64)
		t[1], _ = strconv.ParseFloat(f[10], 64)
	}
	return t
}

// wrote notes the mean time of the writes since an earlier reading.
func (h *host) wrote(before [2]float64) {
	now := h.diskTimes()
	if n := now[0] - before[0]; n > 0 {
		h.writes.n = n
		h.writes.mean = time.Duration(max(now[1]-before[1], 0) / n * float64(time.Millisecond))
	}
}
