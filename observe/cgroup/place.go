package cgroup

import (
	"strings"

	"github.com/kasoku/kasoku/observe/procfile"
)

// Place describes where a process belongs by the text of its /proc/PID/cgroup: the systemd
// unit, and the container with its id cut to 12 digits. Either is empty when it is in
// none that is known.
//
// The path of the hierarchy that systemd keeps is asked first, then that of version
// 2, then any other: a container's runtime puts it into all of them.
//
//	0::/system.slice/nginx.service                          → nginx.service
//	0::/system.slice/docker-4f2c….scope                     → container docker-4f2c91e0a1b2
//	4:memory:/docker/4f2c…                                  → container 4f2c91e0a1b2
//	0::/kubepods.slice/…/cri-containerd-4f2c….scope         → container cri-containerd-4f2c91e0a1b2
//	0::/lxc.payload.web                                     → container web
//
// Sources: cgroups(7); systemd's docs/CGROUP_DELEGATION.md.
func Place(text []byte) (unit, container string) {
	const ranks = 3
	var paths [ranks]string
	for len(text) > 0 {
		line, rest, _ := procfile.Line(text)
		text = rest
		_, after, ok := strings.Cut(string(line), ":")
		controllers, path, ok2 := strings.Cut(after, ":")
		if !ok || !ok2 {
			continue
		}
		rank := 2
		switch controllers {
		case "name=systemd":
			rank = 0
		case "":
			rank = 1
		}
		if len(path) > len(paths[rank]) {
			paths[rank] = path
		}
	}
	for _, path := range paths {
		u, c := placeOf(path)
		if unit == "" {
			unit = u
		}
		if container == "" {
			container = c
		}
	}
	return procfile.Printable([]byte(unit)), procfile.Printable([]byte(container))
}

// placeOf looks at the parts of one path; the last one that names either counts.
func placeOf(path string) (unit, container string) {
	before := ""
	for part := range strings.SplitSeq(path, "/") {
		switch c := containerOf(part, before); {
		case c != "":
			container, unit = c, ""
		case strings.HasSuffix(part, ".service"), strings.HasSuffix(part, ".socket"), strings.HasSuffix(part, ".mount"):
			unit = part
		case strings.HasSuffix(part, ".scope") && !strings.HasSuffix(unit, ".service"):
			unit = part
		}
		before = part
	}
	return unit, container
}

// containerOf returns the name of the container that a part of a path is for.
func containerOf(part, before string) string {
	name := strings.TrimSuffix(part, ".scope")
	if name, ok := strings.CutPrefix(name, "lxc.payload."); ok {
		return name
	}
	if before == "lxc" {
		return name
	}
	if name, ok := strings.CutPrefix(name, "machine-"); ok && part != name {
		return name
	}
	if short := shortIDs(name); short != name && !strings.HasSuffix(part, ".service") &&
		!strings.HasSuffix(part, ".slice") {
		return short
	}
	return ""
}
