package topology

import (
	"bytes"
	"cmp"
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/foreign"
)

// A GoProgram is what a Go binary says about itself.
type GoProgram struct {
	Module   string // github.com/isucon/shop
	Version  string // of Go: go1.26.0
	Revision string // of the checkout that it was built from; empty when not recorded
	Pprof    string // URL of its profiles; empty when it serves none
	Vars     string // URL of what package expvar publishes; empty without
}

// runtimes are programs that run applications.
var runtimes = []string{"node", "python", "ruby", "php-fpm", "java", "perl", "deno", "bun", "gunicorn", "uwsgi",
	"puma", "unicorn", "uvicorn", "dotnet", "beam.smp"}

// homes are where people put what they wrote themselves.
var homes = []string{"/home/", "/opt/", "/srv/", "/var/www/", "/usr/local/", "/root/", "/app/", "/tmp/"}

// applications scores what listens and is neither of the system nor a known server.
func (l *looker) applications() {
	apps := l.found.Of(App)
	all := l.serviceOf()
	var wg sync.WaitGroup
	for _, s := range apps {
		l.readGo(s)
		l.score(s, all)
		if s.Go == nil || l.get == nil {
			continue
		}
		wg.Go(contain.Func(contain.Part{Kind: contain.Check, Name: "profiles of a program"},
			func() { s.Go.Pprof, s.Go.Vars = l.pprof(l.ctx, s), l.vars(l.ctx, s) }))
	}
	wg.Wait()
	for _, s := range apps {
		if s.Go != nil && s.Go.Pprof != "" {
			s.Score++
			s.Why = append(s.Why, "serves Go profiles")
		}
		if s.Score <= 0 {
			s.Kind = Other
		}
	}
}

// serviceOf finds the service that a process belongs to.
func (l *looker) serviceOf() map[int]*Service {
	out := map[int]*Service{}
	for i := range l.found.Services {
		for _, pid := range l.found.Services[i].PIDs {
			out[pid] = &l.found.Services[i]
		}
	}
	return out
}

// score says how likely a service is what people tune, and why.
func (l *looker) score(s *Service, all map[int]*Service) {
	add := func(points int, format string, args ...any) {
		s.Score += points
		s.Why = append(s.Why, fmt.Sprintf(format, args...))
	}
	if at, ok := l.behindNginx(s); ok {
		add(4, "nginx passes requests on to %s", at)
	}
	if n, to := l.connections(s, all); n > 0 {
		add(3, "%d connections to %s", n, to)
	}
	if s.Unit != "" && l.tree.exists("/etc/systemd/system/"+s.Unit) {
		add(2, "its unit %s is in /etc/systemd/system", s.Unit)
	}
	for _, path := range []string{s.Exe, s.Dir} {
		if i := slices.IndexFunc(homes, func(h string) bool { return strings.HasPrefix(path+"/", h) }); i >= 0 {
			add(2, "it lives in %s", homes[i])
			break
		}
	}
	if s.Repository != "" {
		add(1, "its directory is in the git checkout %s", s.Repository)
	}
	base := strings.TrimRight(filepath.Base(s.Exe), "0123456789.")
	if i := slices.IndexFunc(runtimes, func(r string) bool {
		return strings.HasPrefix(base, r) ||
			strings.HasPrefix(s.Name, r)
	}); i >= 0 {
		add(1, "%s runs it", runtimes[i])
	}
	if s.Go != nil {
		add(1, "a Go program, %s", s.Go.Module)
	}
	if s.Unit != "" && (l.tree.exists("/lib/systemd/system/"+s.Unit) ||
		l.tree.exists("/usr/lib/systemd/system/"+s.Unit)) {
		add(-3, "its unit %s came with the system", s.Unit)
	}
}

// behindNginx reports whether an nginx passes requests on to the service.
func (l *looker) behindNginx(s *Service) (at string, ok bool) {
	for _, web := range l.found.Of(Nginx) {
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
func (l *looker) connections(s *Service, all map[int]*Service) (n int, to string) {
	names := map[uint16]string{3306: "the port of MySQL", 5432: "the port of PostgreSQL", 6379: "the port of Redis"}
	for i := range l.found.Services {
		db := &l.found.Services[i]
		if k := db.Kind; k != MySQL && k != Postgres && k != Redis && k != Memcached {
			continue
		}
		for _, at := range db.Listen {
			if at.Port != 0 {
				names[uint16(at.Port)] = db.Name
			}
		}
	}
	for _, c := range l.links {
		name, ok := names[c.remote.Port()]
		if ok && all[c.pid] == s {
			n++
			to = name
		}
	}
	return n, to
}

// clients names the applications that are connected to each database.
func (l *looker) clients() {
	all := l.serviceOf()
	apps := l.found.Of(App)
	slices.SortStableFunc(apps, func(a, b *Service) int { return b.Score - a.Score })
	for _, db := range l.found.Of(MySQL) {
		for _, s := range apps {
			if slices.ContainsFunc(l.links, func(c connection) bool { return all[c.pid] == s && c.leadsTo(db) }) {
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
func (l *looker) readGo(s *Service) {
	var info *debug.BuildInfo
	var err error
	switch {
	case s.held != nil:
		info, err = foreign.ReadExe(l.ctx, s.held, mostProgram, func(r io.ReaderAt, size int64) (*debug.BuildInfo,
			error) {
			return buildinfo.Read(io.NewSectionReader(r, 0, size))
		})
	case !l.tree.real() && s.Exe != "":
		info, err = buildinfo.ReadFile(l.tree.at(s.Exe))
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

// pprof asks a Go program for its profiles.
func (l *looker) pprof(ctx context.Context, s *Service) string {
	return l.serves(ctx, s, "/debug/pprof/", "goroutine")
}

// vars asks a Go program for what package expvar publishes: at least the program's
// command line and memory.
func (l *looker) vars(ctx context.Context, s *Service) string {
	return l.serves(ctx, s, "/debug/vars", `"cmdline"`)
}

// serves asks the loopback ports of a program for a page with a word in it. Ports
// that are open to other hosts are left alone.
func (l *looker) serves(ctx context.Context, s *Service, path, word string) string {
	for _, at := range s.Listen {
		if at.Port == 0 || at.Private || !at.Loopback {
			continue
		}
		url := "http://" + at.Address + path
		status, body, err := l.get(ctx, url)
		if err == nil && status == http.StatusOK && bytes.Contains(body, []byte(word)) {
			return url
		}
	}
	return ""
}

// appLogs finds the files that applications write their output to.
func (l *looker) appLogs() {
	for _, s := range l.found.Of(App) {
		seen := map[string]bool{}
		for _, fd := range slices.Sorted(maps.Keys(s.fds)) {
			path := s.fds[fd]
			regular := strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "/dev/") &&
				!strings.HasSuffix(path, " (deleted)")
			if !regular || fd > 2 && filepath.Ext(path) != ".log" || fd == 0 || seen[path] {
				continue
			}
			seen[path] = true
			how := "it is open there"
			if fd <= 2 {
				how = "its output goes there"
			}
			kind := AppLog
			if strings.Contains(filepath.Base(path), "access") {
				kind = AccessLog
			}
			l.found.Logs = append(l.found.Logs, Log{Kind: kind, Path: path, Service: s.Label(), How: how})
		}
		if len(seen) == 0 && s.Unit != "" && l.found.Systemd {
			l.note("log of "+s.Label(), "its output goes to the journal",
				"journalctl -u "+s.Unit+" shows it; StandardOutput=append:/var/log/"+
					strings.TrimSuffix(s.Unit, ".service")+".log in the unit makes it a file")
		}
	}
}
