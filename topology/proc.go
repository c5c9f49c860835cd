package topology

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/foreign"
)

// A process is one directory of /proc.
type process struct {
	pid, parent, uid int
	name             string // comm: at most 15 bytes
	args             []string
	exe, dir         string
	unit, container  string
	netns            string // identity of its network namespace; empty when unreadable
	fds              map[int]string
	hidden           bool // its open files may not be read
}

// processes reads the table of processes, kernel threads left out.
func (v *view) processes() ([]*process, error) {
	names, err := v.tree.names("/proc", -1)
	if err != nil {
		return nil, err
	}
	var out []*process
	hidden := 0
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || v.ctx.Err() != nil {
			continue
		}
		p, ok := v.process(pid)
		if !ok {
			continue
		}
		if p.hidden {
			hidden++
		}
		out = append(out, p)
	}
	if hidden > 0 {
		v.note(strconv.Itoa(hidden)+" processes of other users",
			"which files and sockets they have open may be read by root alone",
			"run it once with sudo to see more")
	}
	slices.SortFunc(out, func(a, b *process) int { return cmp.Compare(a.pid, b.pid) })
	return out, nil
}

// process reads one process; false when it has gone or is the kernel's.
func (v *view) process(pid int) (*process, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	args, err := foreign.Arguments(v.tree.at("/proc"), pid)
	if err != nil || len(args) == 1 && args[0] == "" {
		return nil, false
	}
	status, err := v.tree.read(dir + "/status")
	if err != nil {
		return nil, false
	}
	p := &process{pid: pid, args: args}
	p.name, p.parent, p.uid = parseStatus(status)
	if group, err := v.tree.read(dir + "/cgroup"); err == nil {
		p.unit, p.container = parseCgroup(group)
	}
	if p.exe, err = v.tree.link(dir + "/exe"); err == nil {
		p.exe = strings.TrimSuffix(p.exe, " (deleted)") // an update replaced it
	}
	if p.dir, err = v.tree.link(dir + "/cwd"); err != nil {
		p.dir = ""
	}
	if p.netns, err = v.tree.link(dir + "/ns/net"); err != nil {
		p.netns = ""
	}
	p.fds, p.hidden = v.openFiles(dir + "/fd")
	return p, true
}

// maxFiles bounds how many open files of a process are looked at. Those that it
// listens with are opened early.
const maxFiles = 4096

func (v *view) openFiles(dir string) (fds map[int]string, hidden bool) {
	names, err := v.tree.names(dir, maxFiles)
	if err != nil {
		return nil, denied(err)
	}
	fds = map[int]string{}
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if to, err := v.tree.link(dir + "/" + name); err == nil {
			fds[fd] = to
		}
	}
	return fds, false
}

// parseStatus reads name, parent and effective user of /proc/PID/status; -1 for
// a number that is not there.
//
// Source: proc_pid_status(5): Uid is real, effective, saved, file system.
func parseStatus(status []byte) (name string, parent, uid int) {
	parent, uid = -1, -1
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields := strings.Fields(value)
		switch {
		case key == "Name":
			name = strings.TrimSpace(value)
		case key == "PPid" && len(fields) == 1:
			parent = number(fields[0])
		case key == "Uid" && len(fields) == 4:
			uid = number(fields[1])
		}
	}
	return name, parent, uid
}

func number(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return -1
}

// parseCgroup returns the systemd unit and the container of /proc/PID/cgroup, as
// far as its paths show: the last element that is a service, and an id of 64
// hexadecimal digits, of which the first 12 are kept as docker does.
func parseCgroup(text []byte) (unit, container string) {
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for part := range strings.SplitSeq(fields[2], "/") {
			if strings.HasSuffix(part, ".service") && !strings.HasPrefix(part, "user@") {
				unit = part
			}
			if id, ok := containerID(part); ok {
				container = id
			}
		}
	}
	if container != "" {
		unit = "" // that of the container's runtime
	}
	return unit, container
}

// containerID finds an id in docker-ID.scope, cri-containerd-ID.scope,
// libpod-ID.scope or ID alone.
func containerID(part string) (string, bool) {
	part = strings.TrimSuffix(part, ".scope")
	part = part[strings.LastIndexByte(part, '-')+1:]
	if len(part) != 64 || strings.Trim(part, "0123456789abcdef") != "" {
		return "", false
	}
	return part[:12], true
}
