package cgroup

import (
	"bytes"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/observe/procfile"
)

// A hierarchy is one mounted tree of groups. Version 2 has one with all
// controllers; version 1 has one for each controller, or for a few together.
type hierarchy struct {
	mount       string
	root        string // the group that is mounted there, "/" for the top
	v2          bool
	controllers []string // that are read here: pids, cpu, cpuacct, memory, blkio, io; pressure, which needs none
}

// holds reports whether a line of /proc/PID/cgroup with these controllers,
// separated by commas, is of this hierarchy. Version 2's has none.
func (h *hierarchy) holds(controllers []byte) bool {
	if h.v2 || len(controllers) == 0 {
		return h.v2 && len(controllers) == 0
	}
	for len(controllers) > 0 {
		var one []byte
		one, controllers, _ = bytes.Cut(controllers, []byte{','})
		if h.has(string(one)) {
			return true
		}
	}
	return false
}

// has reports whether the hierarchy knows what a controller knows.
func (h *hierarchy) has(controller string) bool { return slices.Contains(h.controllers, controller) }

// parseMounts finds the hierarchies with a controller that is read here in
// /proc/self/mountinfo. A line that does not fit its form is left out.
//
//	32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
//
// Of a hierarchy that is mounted twice the first mount counts. Beside version 1,
// version 2 has the controllers that version 1 left: a hierarchy without any still
// counts CPU time, which would be reported twice.
//
// Source: proc_pid_mountinfo(5).
func parseMounts(text []byte) []hierarchy {
	var out []hierarchy
	seen := map[string]bool{}
	v1 := map[string]bool{}
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			return leave(out, v1)
		}
		text = rest
		before, after, ok := strings.Cut(string(line), " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 6 || len(kind) < 3 {
			continue
		}
		h := hierarchy{root: unescape(fields[3]), mount: unescape(fields[4]), v2: kind[0] == "cgroup2"}
		if kind[0] == "cgroup" {
			for _, c := range strings.Split(kind[2], ",") {
				switch c {
				case "pids", "cpu", "cpuacct", "memory", "blkio":
					h.controllers = append(h.controllers, c)
					v1[c] = true
				}
			}
		}
		id := kind[0] + strings.Join(h.controllers, ",")
		if (h.v2 || len(h.controllers) > 0) && !seen[id] {
			seen[id] = true
			out = append(out, h)
		}
	}
}

// leave gives version 2 the controllers that version 1 does not have.
func leave(all []hierarchy, v1 map[string]bool) []hierarchy {
	out := all[:0]
	for _, h := range all {
		if h.v2 {
			for _, c := range []string{"pids", "cpu", "memory"} {
				if !v1[c] && !(c == "cpu" && v1["cpuacct"]) {
					h.controllers = append(h.controllers, c)
				}
			}
			if !v1["blkio"] {
				h.controllers = append(h.controllers, "io")
			}
			h.controllers = append(h.controllers, "pressure")
		}
		if len(h.controllers) > 0 {
			out = append(out, h)
		}
	}
	return out
}

// unescape puts space, tab, newline and backslash back, which the kernel writes
// as \ and three octal digits.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// eachMembership calls do for every line of /proc/PID/cgroup. The arguments are
// parts of the text. A path outside of this process's own view begins with /..
// and is left out, and so is that of a group that was removed.
//
//	8:pids:/system.slice/nginx.service
//	0::/system.slice/nginx.service
//
// Source: cgroups(7), /proc/pid/cgroup.
func eachMembership(text []byte, do func(controllers, path []byte)) {
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			return
		}
		text = rest
		_, line, ok = bytes.Cut(line, []byte{':'})
		controllers, path, ok2 := bytes.Cut(line, []byte{':'})
		if !ok || !ok2 || len(path) == 0 || path[0] != '/' || bytes.HasPrefix(path, []byte("/..")) ||
			bytes.HasSuffix(path, []byte(" (deleted)")) {
			continue
		}
		do(controllers, path)
	}
}

// appendDir appends the directory of a group: below the mount, without the part
// of the path that the mount stands for. ok is false when the group is not below
// the mount.
func (h *hierarchy) appendDir(dst, path []byte) (dir []byte, ok bool) {
	if h.root != "/" {
		rest, found := bytes.CutPrefix(path, []byte(h.root))
		if !found || len(rest) > 0 && rest[0] != '/' {
			return dst, false
		}
		path = rest
	}
	dst = append(dst, h.mount...)
	return append(dst, bytes.TrimRight(path, "/")...), true
}
