package cgroup

import (
	"bytes"
	"errors"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// A group is one directory of a hierarchy.
type group struct {
	h        *hierarchy
	dir      string // without Options.Root
	parent   *group // nil at the mount
	instance string
	leaf     bool   // a watched process is, or was, in it
	used     uint64 // last tick at which one was in it or below
	next     uint64 // tick at which its limits are read again
	slow     uint64 // tick at which its costly files are read again
	opened   bool
	gone     bool       // it was removed
	parts    []openPart // that are there
	limits   []limit    // in force
}

// An openPart is a file of a group that is read at each tick. It is shorter than a
// page, so that one call of pread(2) gives all of it.
type openPart struct {
	*part
	fd int
}

// A limit is a gauge that is set.
type limit struct {
	series, unit string
	value        float64
}

// top reports whether the group is the one at the mount.
func (g *group) top() bool { return g.parent == nil }

// group returns the group of a path and, at the first call, makes it and its
// ancestors known. It returns nil when it is not below the mount, or when there
// are too many.
func (s *Source) group(h *hierarchy, path []byte) *group {
	dir, ok := h.appendDir(s.path[:0], path)
	s.path = dir[:0]
	if !ok {
		return nil
	}
	if g := s.groups[string(dir)]; g != nil {
		return g
	}
	return s.add(h, string(dir))
}

func (s *Source) add(h *hierarchy, dir string) *group {
	if g := s.groups[dir]; g != nil {
		return g
	}
	if len(s.groups) >= maxGroups {
		return nil
	}
	g := &group{h: h, dir: dir, used: s.tick}
	if dir != h.mount {
		g.parent = s.add(h, path.Dir(dir))
		if g.parent == nil {
			return nil
		}
	}
	s.name(g)
	s.groups[dir] = g
	s.order = append(s.order, g)
	return g
}

// name gives a group its instance.
func (s *Source) name(g *group) {
	below := strings.TrimPrefix(g.dir, g.h.mount)
	g.instance = procfile.Printable([]byte(shortIDs(path.Base(below))))
	if below == "" {
		g.instance = "/"
	}
	if s.names[g.h.mount+"\n"+g.instance] != nil {
		g.instance = procfile.Printable([]byte(below))
	}
	s.names[g.h.mount+"\n"+g.instance] = g
}

// drop forgets a group and closes its files.
func (s *Source) drop(g *group) {
	g.close()
	delete(s.groups, g.dir)
	if key := g.h.mount + "\n" + g.instance; s.names[key] == g {
		delete(s.names, key)
	}
	for _, m := range s.members {
		for _, own := range m.groups {
			if own == g {
				m.next = 0 // it may have been made anew
			}
		}
	}
}

func (g *group) close() {
	for _, p := range g.parts {
		procfile.CloseFD(p.fd)
	}
	g.parts, g.opened = nil, false
}

// open opens those files of a group that are there.
func (s *Source) open(g *group) {
	g.opened = true
	for i := range parts {
		p := &parts[i]
		if p.slow || p.v2 != g.h.v2 || !g.h.has(p.controller) {
			continue
		}
		fd, err := procfile.OpenFD(s.o.Root+g.dir+"/"+p.file, unix.O_RDONLY)
		if err != nil {
			s.warn(err)
			continue
		}
		g.parts = append(g.parts, openPart{p, fd})
	}
}

// emit appends the samples of a group.
func (s *Source) emit(g *group, f *kasoku.Frame) {
	if !g.opened {
		s.open(g)
	}
	for i := range g.parts {
		p := &g.parts[i]
		n, err := procfile.Pread(p.fd, s.buf[:cap(s.buf)], 0)
		if errors.Is(err, unix.ENODEV) {
			g.gone = true
			g.close()
			return
		}
		if err != nil {
			s.warn(err)
			continue
		}
		p.collect(s.buf[:n], g.instance, f)
	}
	if s.tick >= g.slow {
		g.slow = s.tick + slowTicks
		s.emitSlow(g, f)
	}
	for _, l := range g.limits {
		f.Gauge(l.series, g.instance, l.unit, l.value)
	}
}

// emitSlow appends what the costly files say. They are opened each time.
func (s *Source) emitSlow(g *group, f *kasoku.Frame) {
	for i := range parts {
		p := &parts[i]
		if !p.slow || p.v2 != g.h.v2 || !g.h.has(p.controller) {
			continue
		}
		text, err := s.read(s.o.Root + g.dir + "/" + p.file)
		if err != nil {
			s.warn(err)
			continue
		}
		p.collect(text, g.instance, f)
	}
}

// shortIDs cuts the ids of containers, 64 hexadecimal digits, to the 12 that
// people know them by.
func shortIDs(name string) string {
	const least, keep = 32, 12
	var b strings.Builder
	for i := 0; i < len(name); {
		n := 0
		for i+n < len(name) && isHex(name[i+n]) {
			n++
		}
		switch {
		case n == 0:
			b.WriteByte(name[i])
			i++
			continue
		case n >= least:
			b.WriteString(name[i : i+keep])
		default:
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	return b.String()
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// readLimits reads the limits of a group that are set.
func (s *Source) readLimits(g *group) {
	g.limits = g.limits[:0]
	for _, l := range limitFiles {
		if l.v2 != g.h.v2 || !g.h.has(l.controller) {
			continue
		}
		text, err := s.read(s.o.Root + g.dir + "/" + l.file)
		if err != nil {
			s.warn(err)
			continue
		}
		if v, ok := l.parse(bytes.TrimSpace(text)); ok {
			if l.per != "" {
				period, err := s.read(s.o.Root + g.dir + "/" + l.per)
				n, ok := parseLimit(bytes.TrimSpace(period))
				if err != nil || !ok || n == 0 {
					continue
				}
				v /= n
			}
			g.limits = append(g.limits, limit{l.series, l.unit, v})
		}
	}
}
