package topology

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/mounts"
)

// A GoProgram is what the build information of a Go binary shows, and which pages about itself
// it serves.
type GoProgram struct {
	Module   string // github.com/isucon/shop
	Version  string // of Go: go1.26.0
	Revision string // of the checkout that it was built from; empty when not recorded
	Pprof    string // URL of its profiles; empty when it serves none
	Vars     string // URL of what package expvar publishes; empty without
}

// runtimes are programs that run applications.
var runtimes = []string{"node", "python", "ruby", "php-fpm", "php", "java", "perl", "deno", "bun", "gunicorn", "uwsgi",
	"puma", "unicorn", "uvicorn", "dotnet", "beam.smp"}

// exeName is the name of a program without its version: python of /usr/bin/python3.12.
func exeName(exe string) string { return strings.TrimRight(filepath.Base(exe), "0123456789.") }

// homes are where people put what they wrote themselves.
var homes = []string{"/home/", "/opt/", "/srv/", "/var/www/", "/usr/local/", "/root/", "/app/", "/tmp/"}

// applications are those among the services, with all that they are judged by.
type applications struct {
	view  *view
	ask   asker
	found *Found
	all   []*subject
	apps  []*subject
	links []connection
	owner map[int]*Service // by the pid of each process
}

// applications returns them as they are known by now.
func (l *looker) applications() *applications {
	p := &applications{view: l.view, ask: l.ask, found: l.found, all: l.subjects, apps: l.of(App), links: l.links,
		owner: map[int]*Service{}}
	for _, s := range l.subjects {
		for _, pid := range s.PIDs {
			p.owner[pid] = s.Service
		}
	}
	return p
}

// score scores what listens and is neither of the system nor a known server.
func (p *applications) score() {
	var wg sync.WaitGroup
	for _, s := range p.apps {
		p.view.readGo(s)
		p.findCheckout(s)
		p.scoreOne(s)
		ask := p.ask.of(s.Service)
		if s.Go == nil || ask.get == nil {
			continue
		}
		wg.Go(contain.Func(contain.Part{Kind: contain.Check, Name: "profiles of a program"},
			func() { s.Go.Pprof, s.Go.Vars = ask.pprof(s.Service), ask.vars(s.Service) }))
	}
	wg.Wait()
	for _, s := range p.apps {
		if s.Go != nil && s.Go.Pprof != "" {
			s.Score++
			s.Why = append(s.Why, "serves Go profiles")
		}
		if s.Score <= 0 {
			s.Kind = Other
		}
	}
}

// scoreOne says how likely a service is what people tune, and why.
func (p *applications) scoreOne(s *subject) {
	add := func(points int, format string, args ...any) {
		s.Score += points
		s.Why = append(s.Why, fmt.Sprintf(format, args...))
	}
	if at, ok := p.passedByNginx(s.Service); ok {
		add(4, "nginx passes requests on to %s", at)
	}
	if n, to := p.connections(s.Service); n > 0 {
		add(3, "%d connections to %s", n, to)
	}
	if s.Unit != "" && p.view.tree.exists("/etc/systemd/system/"+s.Unit) {
		add(2, "its unit %s is in /etc/systemd/system", s.Unit)
	}
	for _, path := range []string{s.Exe, s.Dir} {
		if i := slices.IndexFunc(homes, func(h string) bool { return strings.HasPrefix(path+"/", h) }); i >= 0 {
			add(2, "it lives in %s", homes[i])
			break
		}
	}
	if s.Repository != "" {
		add(1, "its files are in the git checkout %s", s.Repository)
	}
	base := exeName(s.Exe)
	if i := slices.IndexFunc(runtimes, func(r string) bool {
		return strings.HasPrefix(base, r) ||
			strings.HasPrefix(s.Name, r)
	}); i >= 0 {
		add(1, "%s runs it", runtimes[i])
	}
	if s.Go != nil {
		add(1, "a Go program, %s", s.Go.Module)
	}
	if s.Unit != "" && (p.view.tree.exists("/lib/systemd/system/"+s.Unit) ||
		p.view.tree.exists("/usr/lib/systemd/system/"+s.Unit)) {
		add(-3, "its unit %s came with the system", s.Unit)
	}
}

// passedByNginx reports whether an nginx passes requests on to the service.
func (p *applications) passedByNginx(s *Service) (at string, ok bool) {
	for _, web := range ofKind(p.all, Nginx) {
		if web.Nginx == nil {
			continue
		}
		for _, up := range web.Nginx.Upstreams {
			for _, listen := range s.Listen {
				if meets(up, listen) {
					return up, true
				}
			}
		}
	}
	return "", false
}

// meets reports whether an upstream of nginx is the listener.
func meets(upstream string, at Listener) bool {
	if at.Network == "unix" {
		return upstream == "unix:"+at.Address
	}
	i := strings.LastIndexByte(upstream, ':')
	if i < 0 || upstream[i+1:] != strconv.Itoa(at.Port) {
		return false
	}
	host := strings.Trim(upstream[:i], "[]")
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (addr.IsLoopback() || strings.HasPrefix(at.Address, upstream[:i]))
}

// connections counts the connections of a service to a database or a cache, by
// the port that they go to.
func (p *applications) connections(s *Service) (n int, to string) {
	names := map[uint16]string{3306: "the port of MySQL", 5432: "the port of PostgreSQL", 6379: "the port of Redis"}
	for _, db := range p.all {
		if k := db.Kind; k != MySQL && k != Postgres && k != Redis && k != Memcached {
			continue
		}
		for _, at := range db.Listen {
			if at.Port != 0 {
				names[uint16(at.Port)] = db.Name
			}
		}
	}
	for _, c := range p.links {
		name, ok := names[c.remote.Port()]
		if ok && p.owner[c.pid] == s {
			n++
			to = name
		}
	}
	return n, to
}

// nameClients names the applications that are connected to each database.
func (p *applications) nameClients() {
	apps := slices.Clone(p.apps)
	slices.SortStableFunc(apps, func(a, b *subject) int { return b.Score - a.Score })
	for _, db := range ofKind(p.all, MySQL) {
		for _, s := range apps {
			if slices.ContainsFunc(p.links, func(c connection) bool {
				return p.owner[c.pid] == s.Service && c.leadsTo(db.Service)
			}) {
				db.MySQL.Clients = append(db.MySQL.Clients, s.Name)
			}
		}
	}
}

// leadsTo reports whether a connection goes to a database on this host.
func (c connection) leadsTo(db *Service) bool {
	to := c.remote.Addr()
	if !to.IsLoopback() && to != c.local.Addr() { // a host's own address is both ends
		return false
	}
	for _, at := range db.Listen {
		listens, err := netip.ParseAddrPort(at.Address)
		if err == nil && !at.Private && listens.Port() == c.remote.Port() &&
			(listens.Addr().IsUnspecified() || listens.Addr().Unmap() == to) {
			return true
		}
	}
	return len(db.Listen) == 0 && db.Container == "" && db.MySQL.Port == int(c.remote.Port())
}

// readGo reads the build information of a service's program: the one that runs, also
// when its file was replaced.
func (v *view) readGo(s *subject) {
	var info *debug.BuildInfo
	var err error
	switch {
	case s.held != nil:
		info, err = foreign.ReadExe(v.ctx, s.held, mostProgram, func(r io.ReaderAt, size int64) (*debug.BuildInfo,
			error) {
			return buildinfo.Read(io.NewSectionReader(r, 0, size))
		})
	case !v.tree.real() && s.Exe != "":
		info, err = buildinfo.ReadFile(v.tree.at(s.Exe))
	default:
		return
	}
	if err != nil {
		return
	}
	s.Go = &GoProgram{Module: cmp.Or(info.Main.Path, info.Path), Version: info.GoVersion}
	for _, set := range info.Settings {
		if set.Key == "vcs.revision" {
			s.Go.Revision = set.Value
		}
	}
}

// findLogs finds the files that applications write their output to. Those of a program
// elsewhere, as in a container, have the names of this host, and are left out without one.
func (p *applications) findLogs() {
	for _, s := range p.apps {
		seen, hidden := map[string]bool{}, 0
		var here map[string]string
		if s.elsewhere() {
			here = mounts.OpenFiles(s.PID)
		}
		for _, fd := range slices.Sorted(maps.Keys(s.fds)) {
			path := s.fds[fd]
			regular := strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "/dev/") &&
				!strings.HasSuffix(path, " (deleted)")
			if !regular || fd > 2 && filepath.Ext(path) != ".log" || fd == 0 || seen[path] || noLog(path) ||
				isJournal(path, s.fds) {
				continue
			}
			seen[path] = true
			if s.elsewhere() {
				if path = here[path]; path == "" {
					hidden++
					continue
				}
			}
			how := "it is open there"
			if fd <= 2 {
				how = "its output goes there"
			}
			kind := AppLog
			if strings.Contains(filepath.Base(path), "access") {
				kind = AccessLog
			}
			p.found.Logs = append(p.found.Logs, Log{Kind: kind, Path: path, Service: s.Label(), How: how})
		}
		if hidden > 0 {
			p.view.note("log of "+s.Label(), "it sees another file system than this host's",
				"app in [logs] of kasoku.toml names it by its path on this host")
		}
		if len(seen) == 0 && s.Unit != "" && p.found.Systemd {
			p.view.note("log of "+s.Label(), "its output goes to the journal",
				"journalctl -u "+s.Unit+" shows it; StandardOutput=append:/var/log/"+
					strings.TrimSuffix(s.Unit, ".service")+".log in the unit makes it a file")
		}
	}
}

// noLog reports whether a file is no log, though a program's output may go there.
func noLog(path string) bool {
	switch filepath.Ext(path) {
	case ".pid", ".lock", ".sock", ".db", ".sqlite", ".sqlite3", ".state":
		return true
	}
	return false
}

// isJournal reports whether a .log file is the journal of a LevelDB or RocksDB: the process has
// its manifest open in the same directory.
//
// Source: LevelDB, doc/impl.md, "Files".
func isJournal(path string, fds map[int]string) bool {
	dir, name := filepath.Split(path)
	if strings.Trim(strings.TrimSuffix(name, ".log"), "0123456789") != "" {
		return false
	}
	for _, other := range fds {
		if in, base := filepath.Split(other); in == dir && strings.HasPrefix(base, "MANIFEST-") {
			return true
		}
	}
	return false
}
