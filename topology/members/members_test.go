package members

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology/scan"
)

// An arrangement is a made-up host, one line a fact:
//
//	proc PID PARENT EXE [key=value …] [-- ARGS]   keys: ns mnt pidns unit container uid doubt log name elsewhere hidden dir
//	listen PIDS ADDRESS|PATH [ns=N]
//	conn PIDS LOCAL > PIDS REMOTE [ns=N] [to=N] [idle=60s] [n=3]   both ends; PIDS may be - for hidden
//	unix PIDS > PIDS PATH
//	target|user|dsn ADDRESS|PATH, pid N, unit NAME, log PATH, load PID, idle DURATION, addr IP, host NAME (of the targets before)
//	web PID PORTS|ADDRESSES NAMES UPSTREAMS [default] [both]   of a server block, comma lists, - for none
type arrangement struct {
	t     testing.TB
	snap  scan.Snapshot
	q     Question
	inode uint32
}

// standing is what runs on every made-up host: neighbours of all kinds.
const standing = `
proc 1 0 /usr/lib/systemd/systemd
proc 2 1 /usr/sbin/sshd
proc 3 1 /usr/bin/dbus-daemon
proc 4 1 /usr/bin/mackerel-agent
proc 900 1 /usr/local/bin/kasoku
proc 901 1 /usr/sbin/nginx -- nginx: master process /usr/sbin/nginx -c /srv/b/nginx.conf
proc 902 901 /usr/sbin/nginx -- nginx: worker process
proc 903 1 /usr/sbin/mariadbd -- --port=3399
proc 904 1 /usr/sbin/mysqld
proc 905 1 /usr/bin/redis-server
proc 906 1 /srv/b/shop
proc 907 1 /usr/bin/bash
proc 908 907 /usr/bin/make
listen 1,2 0.0.0.0:22
listen 3 /run/dbus/system_bus_socket
listen 901,902 0.0.0.0:8999
listen 903 127.0.0.1:3399
listen 903 /run/b/mysqld.sock
listen 904 127.0.0.1:3398
listen 905 127.0.0.1:6399
listen 906 127.0.0.1:9099
conn 902 127.0.0.1:50001 > 906 127.0.0.1:9099
conn 906 127.0.0.1:50002 > 903 127.0.0.1:3399 n=10
conn 906 127.0.0.1:50022 > 905 127.0.0.1:6399
conn 4 127.0.0.1:50042 > 903 127.0.0.1:3399
`

func arrange(t testing.TB, text string) *arrangement {
	t.Helper()
	a := &arrangement{t: t, snap: scan.Snapshot{Host: "h", Self: 900, NetNS: 1, MntNS: 1}, q: Question{Webs: map[int]Web{}}, inode: 100}
	for line := range strings.Lines(standing + text) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		a.line(f)
	}
	return a
}

func (a *arrangement) line(f []string) {
	switch f[0] {
	case "proc":
		a.proc(f[1:])
	case "listen":
		k := a.socket(f[2], scan.Listening, f[1])
		a.keys(f[3:], &k)
		k.Both = k.Network == "tcp" && k.Local.Addr() == netip.IPv6Unspecified()
		a.snap.Sockets = append(a.snap.Sockets, k)
	case "conn":
		a.conn(f[1:])
	case "unix":
		client := scan.Socket{Network: "unix", NetNS: 1, State: scan.Established, Owners: pids(f[1]), Idle: -1}
		server := client
		server.Owners, server.Path = pids(f[3]), f[4]
		a.inode += 2
		client.Inode, client.Peer, server.Inode, server.Peer = a.inode, a.inode+1, a.inode+1, a.inode
		a.snap.Sockets = append(a.snap.Sockets, client, server)
	case "target":
		a.q.Targets = append(a.q.Targets, placeOf(f[1]))
	case "user":
		a.q.User = append(a.q.User, placeOf(f[1]))
	case "dsn":
		a.q.Databases = append(a.q.Databases, placeOf(f[1]))
	case "pid":
		a.q.PIDs = append(a.q.PIDs, atoi(f[1]))
	case "own":
		a.q.Own = append(a.q.Own, atoi(f[1]))
	case "load":
		a.q.Load = append(a.q.Load, atoi(f[1]))
	case "unit":
		a.q.Units = append(a.q.Units, f[1])
	case "log":
		a.q.Logs = append(a.q.Logs, f[1])
	case "host":
		for i := range a.q.Targets {
			a.q.Targets[i].Host = f[1]
		}
	case "addr":
		a.snap.Addresses = append(a.snap.Addresses, netip.MustParseAddr(f[1]))
	case "idle":
		a.q.Idle, _ = time.ParseDuration(f[1])
	case "web":
		a.web(f[1:])
	default:
		a.t.Fatalf("bad line %q", f)
	}
}

func (a *arrangement) proc(f []string) {
	p := scan.Process{PID: atoi(f[0]), Parent: atoi(f[1]), Exe: f[2], NetNS: 1, MntNS: 1, PidNS: 1, Start: uint64(atoi(f[0])), Dir: "/"}
	p.Name = f[2][strings.LastIndexByte(f[2], '/')+1:]
	if f[2] == "-" {
		p.Exe = ""
	}
	rest := f[3:]
	p.Args = []string{f[2]}
	if i := slices.Index(rest, "--"); i >= 0 {
		p.Args = rest[i+1:]
		if len(p.Args) > 1 && (strings.HasPrefix(p.Args[0], "nginx:") || p.Args[0] == "PM2") {
			p.Args = []string{strings.Join(p.Args, " ")}
		}
		rest = rest[:i]
	}
	for _, kv := range rest {
		k, v, _ := strings.Cut(kv, "=")
		switch k {
		case "ns":
			p.NetNS = uint64(atoi(v))
		case "mnt":
			p.MntNS = uint64(atoi(v))
		case "pidns":
			p.PidNS = uint64(atoi(v))
		case "unit":
			p.Unit = v
		case "container":
			p.Container, p.NetNS, p.MntNS, p.PidNS = v, uint64(v[0]), uint64(v[0]), uint64(v[0])
		case "uid":
			p.UID = atoi(v)
		case "doubt":
			p.Doubt = v
		case "log":
			p.Logs = append(p.Logs, v)
		case "name":
			p.Name = v
		case "dir":
			p.Dir = v
		case "elsewhere":
			p.Elsewhere = true
		case "hidden":
			p.Hidden, p.Exe = true, ""
		default:
			a.t.Fatalf("bad key %q", kv)
		}
	}
	a.snap.Processes = append(a.snap.Processes, p)
}

func (a *arrangement) socket(at string, state scan.State, owners string) scan.Socket {
	a.inode++
	k := scan.Socket{Network: "unix", NetNS: 1, State: state, Path: at, Inode: a.inode, Owners: pids(owners), Idle: -1}
	if !strings.HasPrefix(at, "/") && !strings.HasPrefix(at, "@") {
		k.Network, k.Path, k.Local = "tcp", "", netip.MustParseAddrPort(at)
	}
	return k
}

func (a *arrangement) conn(f []string) {
	n := 1
	for _, kv := range f[5:] {
		if v, ok := strings.CutPrefix(kv, "n="); ok {
			n = atoi(v)
		}
	}
	for i := range n {
		c := a.socket(f[1], scan.Established, f[0])
		c.Local = netip.AddrPortFrom(c.Local.Addr(), c.Local.Port()+uint16(i))
		c.Remote = netip.MustParseAddrPort(f[4])
		s := a.socket(f[4], scan.Established, f[3])
		s.Remote = c.Local
		a.keys(f[5:], &c)
		a.keys(f[5:], &s)
		for _, kv := range f[5:] {
			if v, ok := strings.CutPrefix(kv, "to="); ok {
				s.NetNS = uint64(atoi(v))
			}
		}
		a.snap.Sockets = append(a.snap.Sockets, c)
		if f[3] != "far" {
			a.snap.Sockets = append(a.snap.Sockets, s)
		}
	}
}

func (a *arrangement) keys(kvs []string, k *scan.Socket) {
	for _, kv := range kvs {
		key, v, _ := strings.Cut(kv, "=")
		switch key {
		case "ns":
			k.NetNS = uint64(atoi(v))
		case "idle":
			k.Idle, _ = time.ParseDuration(v)
		}
	}
}

func (a *arrangement) web(f []string) {
	b := Block{}
	for _, p := range list(f[1]) {
		if !strings.Contains(p, ":") {
			p = "0.0.0.0:" + p
		}
		b.Listens = append(b.Listens, Listen{At: netip.MustParseAddrPort(p), Default: slices.Contains(f[4:], "default"), Both: slices.Contains(f[4:], "both")})
	}
	b.Names = list(f[2])
	for _, up := range list(f[3]) {
		if up == "$" {
			b.Variable = true
			continue
		}
		b.Upstreams = append(b.Upstreams, placeOf(up))
	}
	w := a.q.Webs[atoi(f[0])]
	b.At = kasoku.ConfigBlock{File: "sites", Line: 1 + len(w.Blocks)}
	w.Blocks = append(w.Blocks, b)
	a.q.Webs[atoi(f[0])] = w
}

func list(s string) []string {
	if s == "-" {
		return nil
	}
	return strings.Split(s, ",")
}

func placeOf(at string) Place {
	if strings.HasPrefix(at, "/") {
		return Place{Network: "unix", Address: at}
	}
	return Place{Network: "tcp", Address: at}
}

func pids(s string) []int {
	if s == "-" || s == "far" {
		return nil
	}
	var out []int
	for _, p := range strings.Split(s, ",") {
		out = append(out, atoi(p))
	}
	return out
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// short prints members as "web 10, application 20?": role, leader, ? for a guess.
func short(s kasoku.Service) string {
	var out []string
	for _, m := range s.Members {
		word := strings.Fields(string(m.Role) + " ")[0]
		text := word + " " + strconv.Itoa(m.Processes[0].PID)
		if m.Sure == kasoku.Low {
			text += "?"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// check decides an arrangement and compares members, and a part of what is unknown.
func check(t *testing.T, name, text, want, unknown string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		a := arrange(t, text)
		r := Decide(&a.snap, a.q)
		got := short(r.Service)
		if got != want {
			t.Errorf("members %q, want %q\nunknown %v\nedges %+v", got, want, r.Service.Unknown, r.Service.Edges)
		}
		if said := fmt.Sprint(r.Service.Unknown); !strings.Contains(said, unknown) || unknown == "" && len(r.Service.Unknown) > 0 {
			t.Errorf("unknown %s, want %q", said, unknown)
		}
		for _, m := range r.Service.Members {
			if len(m.Found) == 0 || m.Sure == "" || m.ID == "" || !slices.ContainsFunc(m.Processes, func(p kasoku.MemberProcess) bool { return p.Leader }) {
				t.Errorf("member without evidence or leader: %+v", m)
			}
			for _, p := range m.Processes {
				if p.PID >= 900 {
					t.Errorf("a neighbour is a member: %+v", m)
				}
			}
		}
		for _, e := range r.Service.Edges {
			if e.From != "" && r.Service.Member(e.From) == nil || e.To != "" && r.Service.Member(e.To) == nil || len(e.Found) == 0 {
				t.Errorf("edge %+v leads from or to no member", e)
			}
		}
	})
}

// apps are applications by language: the lines of one that listens at @ and its workers,
// and who holds a connection.
var apps = map[string]struct{ procs, listen, worker string }{
	"go":      {"proc 20 1 /home/isucon/webapp/go/isucondition", "20", "20"},
	"rust":    {"proc 20 1 /home/isucon/webapp/rust/target/release/app", "20", "20"},
	"java":    {"proc 20 1 /usr/lib/jvm/java-17/bin/java -- java -jar /srv/app.jar", "20", "20"},
	"node":    {"proc 20 1 /usr/bin/node -- node app.js\nproc 21 20 /usr/bin/node -- /usr/bin/node app.js\nproc 22 20 /usr/bin/node -- /usr/bin/node app.js", "20", "21,22"},
	"puma":    {"proc 20 1 /usr/bin/ruby3.1 -- puma 5.6.5 (tcp://127.0.0.1:8080) [app]\nproc 21 20 /usr/bin/ruby3.1 -- puma: cluster worker 0: 20 [app]\nproc 22 20 /usr/bin/ruby3.1 -- puma: cluster worker 1: 20 [app]", "20,21,22", "21"},
	"php-fpm": {"proc 20 1 /usr/sbin/php-fpm8.2 -- php-fpm: master process\nproc 21 20 /usr/sbin/php-fpm8.2 -- php-fpm: pool www\nproc 22 20 /usr/sbin/php-fpm8.2 -- php-fpm: pool www", "20,21,22", "22"},
	"gunicorn": {"proc 20 1 /usr/bin/python3.11 -- /usr/bin/python3 /usr/bin/gunicorn app:app\nproc 21 20 /usr/bin/python3.11 -- /usr/bin/python3 /usr/bin/gunicorn app:app",
		"20,21", "21"},
}

// TestDecide_Arrangements: 56 ordinary services, each beside the neighbours: seven
// languages, web server to application by TCP and Unix socket, the database by TCP, by
// Unix socket, in a container, with a connection that is not seen.
func TestDecide_Arrangements(t *testing.T) {
	for name, app := range apps {
		for _, front := range []string{"tcp", "unix"} {
			for _, db := range []string{"tcp", "unix", "container", "dsn"} {
				text := "proc 10 1 /usr/sbin/nginx\nproc 11 10 /usr/sbin/nginx\nlisten 10,11 0.0.0.0:80\ntarget 127.0.0.1:80\n" + app.procs + "\n"
				if front == "tcp" {
					text += "listen " + app.listen + " 127.0.0.1:8080\nweb 10 80 - 127.0.0.1:8080\nconn 11 127.0.0.1:41000 > " + app.worker + " 127.0.0.1:8080 n=4\n"
				} else {
					text += "listen " + app.listen + " /run/app.sock\nweb 10 80 - /run/app.sock\nunix 11 > " + app.worker + " /run/app.sock\n"
				}
				switch db {
				case "tcp":
					text += "proc 30 1 /usr/sbin/mariadbd\nlisten 30 127.0.0.1:3306\nconn " + app.worker + " 127.0.0.1:42000 > 30 127.0.0.1:3306 n=3\n"
				case "unix":
					text += "proc 30 1 /usr/sbin/mariadbd\nlisten 30 /run/mysqld/mysqld.sock\nunix " + app.worker + " > 30 /run/mysqld/mysqld.sock\n"
				case "container":
					text += "proc 30 1 /usr/sbin/mysqld container=dadadadadada\nlisten 30 0.0.0.0:3306 ns=100\n" +
						"conn " + app.worker + " 172.17.0.1:42000 > 30 172.17.0.2:3306 to=100\n"
				case "dsn":
					text += "proc 30 1 /usr/sbin/mariadbd\nlisten 30 127.0.0.1:3306\ndsn 127.0.0.1:3306\n"
				}
				check(t, name+"/"+front+"/"+db, text, "web 10, application 20, database 30", "")
			}
		}
	}
}

func TestDecide_Special(t *testing.T) {
	const nginx = "proc 10 1 /usr/sbin/nginx\nproc 11 10 /usr/sbin/nginx\nlisten 10,11 0.0.0.0:80\ntarget 127.0.0.1:80\n"
	const app = "proc 20 1 /srv/a/app\nlisten 20 127.0.0.1:8080\n"
	const db = "proc 30 1 /usr/sbin/mariadbd\nlisten 30 127.0.0.1:3306\nconn 20 127.0.0.1:42000 > 30 127.0.0.1:3306 n=3\n"
	f := func(name, text, want, unknown string) { t.Helper(); check(t, name, text, want, unknown) }

	f("app alone", app+"target 127.0.0.1:8080\n"+db, "application 20, database 30", "")
	f("app by localhost", app+"target localhost:8080\n", "application 20", "")
	f("app on ::", "proc 20 1 /srv/a/app\nlisten 20 [::]:8080\ntarget 127.0.0.1:8080\n", "application 20", "")
	f("app at the host's address", "addr 10.0.0.7\nproc 20 1 /srv/a/app\nlisten 20 0.0.0.0:8080\ntarget 10.0.0.7:8080\n", "application 20", "")
	f("exact goes before any", app+"proc 910 1 /srv/b/app\nlisten 910 0.0.0.0:8080\ntarget 127.0.0.1:8080\n", "application 20", "")
	f("nothing listens", "target 127.0.0.1:7777\n", "", "nothing listens there now")
	f("on another host", "target 10.9.9.9:80\n", "", "not on this host")
	f("nothing named", "", "", "what the load is sent to")
	f("two sites of one nginx, by name", nginx+app+"proc 910 1 /srv/b/app\nlisten 910 127.0.0.1:8081\nconn 11 127.0.0.1:41000 > 20 127.0.0.1:8080\nconn 11 127.0.0.1:41100 > 910 127.0.0.1:8081\n"+
		"web 10 80 a.example 127.0.0.1:8080\nweb 10 80 b.example 127.0.0.1:8081\nhost a.example\n"+db, "web 10, application 20, database 30", "")
	f("two sites of one nginx, the default", nginx+app+"proc 910 1 /srv/b/app\nlisten 910 127.0.0.1:8081\nconn 11 127.0.0.1:41000 > 20 127.0.0.1:8080\nconn 11 127.0.0.1:41100 > 910 127.0.0.1:8081\n"+
		"web 10 80 b.example 127.0.0.1:8081\nweb 10 80 a.example 127.0.0.1:8080 default\nhost 127.0.0.1\n", "web 10, application 20", "")
	f("two sites by port", nginx+app+"proc 910 1 /srv/b/app\nlisten 910 127.0.0.1:8081\nlisten 10,11 0.0.0.0:81\nconn 11 127.0.0.1:41100 > 910 127.0.0.1:8081\n"+
		"web 10 81 - 127.0.0.1:8081\nweb 10 80 - 127.0.0.1:8080\n", "web 10, application 20", "")
	f("wildcard name", nginx+app+"web 10 80 *.example.org 127.0.0.1:8080\nweb 10 80 other 127.0.0.1:9099\nhost www.example.org\n", "web 10, application 20", "")
	f("configuration alone", nginx+app+"web 10 80 - 127.0.0.1:8080\n", "web 10, application 20", "")
	f("configuration alone, then a database", nginx+app+"web 10 80 - 127.0.0.1:8080\n"+db, "web 10, application 20, database 30", "")
	f("no configuration, one callee", nginx+app+"conn 11 127.0.0.1:41000 > 20 127.0.0.1:8080\n", "web 10, application 20", "")
	f("upstream is down", nginx+"web 10 80 - 127.0.0.1:8080\n", "web 10", "nothing listens")
	f("upstream elsewhere", nginx+"web 10 80 - 10.1.1.1:8080\n", "web 10", "another host")
	f("upstream by variable, one callee", nginx+app+"web 10 80 - $\nconn 11 127.0.0.1:41000 > 20 127.0.0.1:8080\n", "web 10, application 20", "")
	f("static files alone", nginx+app+"web 10 80 - -\n", "web 10", "")
	f("upstream of two copies", nginx+app+"proc 21 1 /srv/a/app\nlisten 21 127.0.0.1:8081\nweb 10 80 - 127.0.0.1:8080,127.0.0.1:8081\n", "web 10, application 20, application 21", "")
	f("two services by path", nginx+app+"proc 21 1 /srv/a/search\nlisten 21 127.0.0.1:8081\nweb 10 80 - 127.0.0.1:8080,127.0.0.1:8081\n", "web 10, application 20, application 21", "")
	f("nginx, Varnish, app", nginx+app+"proc 15 1 /usr/sbin/varnishd\nproc 16 15 /usr/sbin/varnishd name=cache-main\nlisten 15,16 127.0.0.1:6081\nweb 10 80 - 127.0.0.1:6081\nconn 11 127.0.0.1:41000 > 16 127.0.0.1:6081\nconn 16 127.0.0.1:43000 > 20 127.0.0.1:8080\n",
		"web 10, cache 15, application 20", "")
	f("two nginx in a row", nginx+"proc 12 1 /usr/sbin/nginx\nproc 13 12 /usr/sbin/nginx\nlisten 12,13 127.0.0.1:81\n"+app+"web 10 80 - 127.0.0.1:81\nweb 12 81 - 127.0.0.1:8080\n", "web 10, web 12, application 20", "")
	for _, exe := range []string{"apache2", "haproxy", "envoy", "caddy", "h2o", "traefik", "lighttpd"} {
		f(exe, "proc 10 1 /usr/sbin/"+exe+"\nlisten 10 0.0.0.0:80\ntarget 127.0.0.1:80\n"+app+"conn 10 127.0.0.1:41000 > 20 127.0.0.1:8080\n"+db, "web 10, application 20, database 30", "")
	}
	f("mod_php", "proc 10 1 /usr/sbin/apache2\nproc 11 10 /usr/sbin/apache2\nlisten 10,11 [::]:80\ntarget 127.0.0.1:80\nproc 30 1 /usr/sbin/mariadbd\nlisten 30 /run/mysqld/mysqld.sock\nunix 11 > 30 /run/mysqld/mysqld.sock\n", "application 10, database 30", "")
	f("HAProxy to copies", "proc 10 1 /usr/sbin/haproxy\nlisten 10 0.0.0.0:80\ntarget 127.0.0.1:80\n"+app+"proc 21 1 /srv/a/app\nlisten 21 127.0.0.1:8081\nconn 10 127.0.0.1:41000 > 20 127.0.0.1:8080\nconn 10 127.0.0.1:41001 > 21 127.0.0.1:8081\n", "web 10, application 20, application 21", "")
	f("memcached and Redis", app+"target 127.0.0.1:8080\nproc 40 1 /usr/bin/memcached\nlisten 40 127.0.0.1:11211\nproc 41 1 /usr/bin/redis-server\nlisten 41 127.0.0.1:6379\nconn 20 127.0.0.1:43000 > 40 127.0.0.1:11211\nconn 20 127.0.0.1:43100 > 41 127.0.0.1:6379\n", "application 20, key-value 40, key-value 41", "")
	f("pooler", app+"target 127.0.0.1:8080\nproc 25 1 /usr/bin/proxysql\nlisten 25 127.0.0.1:6033\nproc 30 1 /usr/sbin/mysqld\nlisten 30 127.0.0.1:3306\nconn 20 127.0.0.1:42000 > 25 127.0.0.1:6033\nconn 25 127.0.0.1:43000 > 30 127.0.0.1:3306\n", "application 20, pooler 25, database 30", "")
	f("pooler of two databases", app+"target 127.0.0.1:8080\nproc 25 1 /usr/bin/proxysql\nlisten 25 127.0.0.1:6033\nproc 30 1 /usr/sbin/mysqld\nlisten 30 127.0.0.1:3306\nproc 31 1 /opt/other/mysqld\nlisten 31 127.0.0.1:3307\nconn 20 127.0.0.1:42000 > 25 127.0.0.1:6033\nconn 25 127.0.0.1:43000 > 30 127.0.0.1:3306\nconn 25 127.0.0.1:43100 > 31 127.0.0.1:3307\n",
		"application 20, pooler 25", "which program answers for proxysql")
	f("pooler, the DSN says which", app+"target 127.0.0.1:8080\nproc 25 1 /usr/bin/proxysql\nlisten 25 127.0.0.1:6033\nproc 30 1 /usr/sbin/mysqld\nlisten 30 127.0.0.1:3306\nconn 20 127.0.0.1:42000 > 25 127.0.0.1:6033\ndsn 127.0.0.1:3306\n", "application 20, pooler 25, database 30", "")
	f("two databases of one app", app+"target 127.0.0.1:8080\n"+db+"proc 31 1 /usr/bin/postgres\nlisten 31 127.0.0.1:5432\nconn 20 127.0.0.1:44000 > 31 127.0.0.1:5432\n", "application 20, database 30, database 31", "")
	f("two databases, the DSN is one", app+"target 127.0.0.1:8080\ndsn 127.0.0.1:3306\n"+db+"proc 31 1 /usr/sbin/mysqld\nlisten 31 127.0.0.1:3307\nconn 20 127.0.0.1:44000 > 31 127.0.0.1:3307\n", "application 20, database 30, database 31", "")
	f("the DSN is another", app+"target 127.0.0.1:8080\ndsn 127.0.0.1:3307\n"+db+"proc 31 1 /usr/sbin/mysqld\nlisten 31 127.0.0.1:3307\n", "application 20, database 30?, database 31", "whether mariadbd")
	f("two applications share a database", app+"target 127.0.0.1:8080\n"+db+"proc 910 1 /srv/b/app\nlisten 910 127.0.0.1:8081\nconn 910 127.0.0.1:45000 > 30 127.0.0.1:3306\n", "application 20, database 30", "")
	f("an agent watches the database", app+"target 127.0.0.1:8080\n"+db+"proc 910 1 /usr/bin/mysqld_exporter\nlisten 910 0.0.0.0:9104\nconn 910 127.0.0.1:45000 > 30 127.0.0.1:3306\n", "application 20, database 30", "")
	f("the app reports to an agent", app+"target 127.0.0.1:8080\nproc 910 1 /opt/datadog-agent/bin/trace-agent\nlisten 910 127.0.0.1:8126\nconn 20 127.0.0.1:45000 > 910 127.0.0.1:8126\n", "application 20", "")
	f("the app logs to dbus and journald", app+"target 127.0.0.1:8080\nunix 20 > 3 /run/dbus/system_bus_socket\n", "application 20", "")
	f("a replica is not followed", app+"target 127.0.0.1:8080\n"+db+"proc 910 1 /usr/sbin/mysqld\nlisten 910 127.0.0.1:3310\nconn 30 127.0.0.1:46000 > 910 127.0.0.1:3310\n", "application 20, database 30", "")
	f("database elsewhere", app+"target 127.0.0.1:8080\nconn 20 10.0.0.1:42000 > far 10.0.0.2:3306\n", "application 20", "10.0.0.2:3306")
	f("sleeping connections", "idle 30s\n"+app+"target 127.0.0.1:8080\nproc 31 1 /usr/sbin/mysqld\nlisten 31 127.0.0.1:3307\nconn 20 127.0.0.1:44000 > 31 127.0.0.1:3307 idle=300s\n"+db, "application 20, database 30, database 31?", "")
	f("reuseport workers", "proc 20 1 /usr/bin/python3.11 -- python3 srv.py\nproc 21 20 /usr/bin/python3.11 -- worker-1\nproc 22 20 /usr/bin/python3.11 -- worker-2\nlisten 20 0.0.0.0:8080\nlisten 21 0.0.0.0:8080\nlisten 22 0.0.0.0:8080\ntarget 127.0.0.1:8080\n", "application 20", "")
	f("socket activation, taken", "proc 20 1 /srv/a/app\nlisten 1,20 0.0.0.0:8080\ntarget 127.0.0.1:8080\n", "application 20", "")
	f("socket activation, one a connection", "proc 20 1 /srv/a/app\nlisten 1 0.0.0.0:8080\nconn 899 127.0.0.1:41000 > 20 127.0.0.1:8080\ntarget 127.0.0.1:8080\n", "application 20", "")
	f("socket activation, not taken", "listen 1 0.0.0.0:8080\ntarget 127.0.0.1:8080\n", "", "no program of a service took it")
	f("supervisor", "proc 18 1 /usr/bin/python3.11 -- /usr/bin/python3 /usr/bin/supervisord\nproc 20 18 /usr/bin/python3.11 -- /usr/bin/python3 /usr/bin/gunicorn app:app\nproc 21 20 /usr/bin/python3.11 -- /usr/bin/python3 /usr/bin/gunicorn app:app\nlisten 20,21 127.0.0.1:8080\ntarget 127.0.0.1:8080\n", "application 20", "")
	f("docker-proxy", "proc 19 1 /usr/bin/docker-proxy\nlisten 19 0.0.0.0:8080\nproc 20 1 /app/server container=dadadadadada\nlisten 20 [::]:80 ns=100\nconn 19 172.17.0.1:47000 > 20 172.17.0.2:80 to=100\ntarget 127.0.0.1:8080\n", "forwarder 19, application 20", "")
	f("compose", "proc 10 1 /usr/sbin/nginx container=aaaaaaaaaaaa\nproc 11 10 /usr/sbin/nginx container=aaaaaaaaaaaa\nlisten 10,11 0.0.0.0:80 ns=97\nproc 19 1 /usr/bin/docker-proxy\nlisten 19 0.0.0.0:80\nconn 19 172.18.0.1:47000 > 11 172.18.0.2:80 to=97\n"+
		"proc 20 1 /app/server container=bbbbbbbbbbbb\nlisten 20 [::]:8080 ns=98\nconn 11 172.18.0.2:48000 > 20 172.18.0.3:8080 ns=97 to=98\nproc 30 1 /usr/sbin/mysqld container=cccccccccccc\nlisten 30 [::]:3306 ns=99\nconn 20 172.18.0.3:49000 > 30 172.18.0.4:3306 ns=98 to=99\ntarget 127.0.0.1:80\n",
		"forwarder 19, web 10, application 20, database 30", "")
	f("a container calls the host's database", "proc 20 1 /app/server container=bbbbbbbbbbbb\nlisten 20 [::]:8080 ns=98\nproc 19 1 /usr/bin/docker-proxy\nlisten 19 0.0.0.0:8080\nconn 19 172.17.0.1:47000 > 20 172.17.0.2:8080 to=98\nproc 30 1 /usr/sbin/mysqld\nlisten 30 0.0.0.0:3306\nconn 20 172.17.0.2:49000 > 30 172.17.0.1:3306 ns=98 to=1\ntarget 127.0.0.1:8080\naddr 172.17.0.1\n", "forwarder 19, application 20, database 30", "")
	f("a namespace by hand", "proc 20 1 /srv/a/app ns=7\nlisten 20 10.0.0.2:8080 ns=7\nconn 899 10.0.0.1:47000 > 20 10.0.0.2:8080 to=7\ntarget 10.0.0.2:8080\n", "application 20", "")
	f("by port", app+"user 127.0.0.1:8080\n", "application 20", "")
	f("by pid", app+"pid 20\n"+db, "application 20, database 30", "")
	f("by unit", "proc 20 1 /srv/a/app unit=app.service\nproc 21 1 /usr/bin/bash unit=app.service\nunit app.service\n", "application 20", "")
	f("by unit that is down", "unit app.service\n", "", "no process of it runs")
	f("by pid that is gone", "pid 4242\n", "", "no such process")
	f("by log", "proc 10 1 /usr/sbin/nginx log=/var/log/nginx/access.log\nproc 11 10 /usr/sbin/nginx log=/var/log/nginx/access.log\nlisten 10,11 0.0.0.0:80\nweb 10 80 - 127.0.0.1:8080\n"+app+"log /var/log/nginx/access.log\n", "web 10, application 20", "")
	f("by DSN alone", "proc 30 1 /usr/sbin/mariadbd\nlisten 30 127.0.0.1:3306\ndsn 127.0.0.1:3306\n", "database 30", "")
	f("by the socket of the DSN", "proc 30 1 /usr/sbin/mariadbd\nlisten 30 /run/mysqld/mysqld.sock\ndsn /var/run/mysqld/mysqld.sock\n", "database 30", "")
	f("by the load's own connections", nginx[:strings.Index(nginx, "target")]+"proc 50 1 /usr/bin/wrk\nload 50\nconn 50 127.0.0.1:60000 > 11 127.0.0.1:80 n=8\nweb 10 80 - 127.0.0.1:8080\n"+app, "web 10, application 20", "")
	f("sysbench", "proc 50 1 /usr/bin/sysbench\nload 50\nproc 30 1 /usr/sbin/mariadbd\nlisten 30 127.0.0.1:3306\nconn 50 127.0.0.1:60000 > 30 127.0.0.1:3306\n", "database 30", "")
	f("redis forks to save", app+"target 127.0.0.1:8080\nproc 41 1 /usr/bin/redis-server\nproc 42 41 /usr/bin/redis-server\nlisten 41,42 127.0.0.1:6379\nconn 20 127.0.0.1:43100 > 41,42 127.0.0.1:6379\n", "application 20, key-value 41", "")
	f("hidden owner", "listen - 0.0.0.0:8080\ntarget 127.0.0.1:8080\n", "", "CAP_SYS_PTRACE")
	f("a container has the address, its end not seen", app+"target 127.0.0.1:8080\nproc 30 1 /usr/sbin/mariadbd container=dadadadadada\n"+
		"listen 30 10.2.0.2:3306 ns=100\nconn 20 10.2.0.1:42000 > far 10.2.0.2:3306\n", "application 20", "or in a container of this one")
	f("hidden database", app+"target 127.0.0.1:8080\nlisten - 127.0.0.1:3306\nconn 20 127.0.0.1:42000 > - 127.0.0.1:3306\n", "application 20", "CAP_SYS_PTRACE")
	f("kasoku's own connections", app+"target 127.0.0.1:8080\nconn 900 127.0.0.1:42900 > 20 127.0.0.1:8080\n"+db+"conn 900 127.0.0.1:42990 > 30 127.0.0.1:3306\n", "application 20, database 30", "")
	f("the app calls its own nginx", nginx+app+"web 10 80 - 127.0.0.1:8080\nconn 20 127.0.0.1:47700 > 11 127.0.0.1:80\n", "web 10, application 20", "")
	f("microservices", app+"target 127.0.0.1:8080\nproc 21 1 /srv/a/auth\nlisten 21 127.0.0.1:8081\nconn 20 127.0.0.1:47000 > 21 127.0.0.1:8081\nproc 31 1 /usr/sbin/mysqld\nlisten 31 127.0.0.1:3307\nconn 21 127.0.0.1:48000 > 31 127.0.0.1:3307\n", "application 20, application 21, database 31", "")
	f("mysqld_safe", app+"target 127.0.0.1:8080\nproc 29 1 /usr/bin/dash -- /bin/sh /usr/bin/mysqld_safe\nproc 30 29 /usr/sbin/mysqld\nlisten 30 127.0.0.1:3306\nconn 20 127.0.0.1:42000 > 30 127.0.0.1:3306\n", "application 20, database 30", "")
	f("the app is the first process of kasoku's container", "proc 20 0 /usr/bin/node -- node app.js\nlisten 20 0.0.0.0:8080\ntarget 127.0.0.1:8080\n", "application 20", "")
	f("uvicorn spawns", "proc 20 1 /usr/bin/python3.11 -- python3 /usr/bin/uvicorn app:app --workers 2\nproc 21 20 /usr/bin/python3.11 -- /usr/bin/python3 -c from_multiprocessing\nlisten 20,21 127.0.0.1:8080\ntarget 127.0.0.1:8080\n", "application 20", "")
}

// TestDecide_Hostile: who lies, hides, stands in the way or is merely there becomes no
// member, and is never trusted for what it says.
// TestDecide_Idle: what alone an nginx is connected to, whose configuration is not read, may be of another
// site while no load comes in.
func TestDecide_Idle(t *testing.T) {
	const seen = "proc 10 1 /usr/sbin/nginx\nlisten 10 0.0.0.0:80\ntarget 127.0.0.1:80\nproc 20 1 /srv/a/app\n" +
		"listen 20 127.0.0.1:8080\nconn 10 127.0.0.1:41000 > 20 127.0.0.1:8080\n"
	for text, want := range map[string]kasoku.Level{
		seen: kasoku.Medium, seen + "web 10 80 - 127.0.0.1:8080\n": kasoku.High,
		seen + "proc 50 1 /usr/bin/wrk\nload 50\nconn 50 127.0.0.1:40000 > 10 127.0.0.1:80\n": kasoku.High,
	} {
		a := arrange(t, text)
		r := Decide(&a.snap, a.q)
		if app := r.Service.Of(kasoku.RoleApplication); len(app) != 1 || app[0].Sure != want ||
			strings.Contains(fmt.Sprint(app[0].Found), "another site") != (want == kasoku.Medium) {
			t.Errorf("%s: %+v", text, app)
		}
	}
}

func TestDecide_Hostile(t *testing.T) {
	const app = "proc 20 1 /srv/a/app\nlisten 20 127.0.0.1:8080\ntarget 127.0.0.1:8080\n"
	const db = "proc 30 1 /usr/sbin/mariadbd\nlisten 30 127.0.0.1:3306\nconn 20 127.0.0.1:42000 > 30 127.0.0.1:3306 n=3\n"
	const ok = "application 20, database 30"
	f := func(name, text, want, unknown string) { t.Helper(); check(t, name, text, want, unknown) }

	f("a name", app+db+"proc 910 1 /home/eve/x name=mariadbd uid=61001\n", ok, "")
	f("a title", app+db+"proc 910 1 /home/eve/x uid=61001 -- nginx: master process /usr/sbin/nginx\n", ok, "")
	f("a program named mysqld", app+db+"proc 910 1 /home/eve/mysqld uid=61001 doubt=eve\nlisten 910 127.0.0.1:3307\n", ok, "")
	f("connects to the service", app+db+"proc 910 1 /home/eve/x\nconn 910 127.0.0.1:61000 > 20 127.0.0.1:8080 n=50\n", ok, "")
	f("connects to the database", app+db+"proc 910 1 /home/eve/x\nlisten 910 127.0.0.1:9999\nconn 910 127.0.0.1:61000 > 30 127.0.0.1:3306 n=50\n", ok, "")
	f("an ncat shell", app+db+"proc 910 1 /usr/bin/ncat\nproc 911 910 /usr/bin/bash\nlisten 910 127.0.0.1:4444\nconn 910,911 127.0.0.1:61000 > 20 127.0.0.1:8080\n", ok, "")
	f("a shell that the app started holds its sockets", app+db+"proc 911 20 /usr/bin/bash\nlisten 20,911 127.0.0.1:8088\n", ok, "")
	f("a child holds the listener", "proc 20 1 /srv/a/app\nproc 911 20 /usr/bin/bash\nproc 912 911 /home/x/test\nlisten 20,911,912 127.0.0.1:8080\ntarget 127.0.0.1:8080\n"+db, ok, "")
	f("a child holds connections", app+"proc 911 20 /usr/bin/convert\nproc 30 1 /usr/sbin/mariadbd\nlisten 30 127.0.0.1:3306\nconn 20,911 127.0.0.1:42000 > 30 127.0.0.1:3306\n", ok, "")
	f("the same title as the worker", "proc 20 1 /usr/bin/python3.11 -- /usr/bin/python3 /usr/bin/gunicorn app:app\nlisten 20 127.0.0.1:8080\ntarget 127.0.0.1:8080\nproc 910 1 /usr/bin/python3.11 uid=61001 -- /usr/bin/python3 /usr/bin/gunicorn app:app\nlisten 910 127.0.0.1:8090\n", "application 20", "")
	f("supervised beside it", "proc 910 1 /usr/bin/python3.11 -- python3 /usr/bin/supervisord\nproc 20 910 /usr/bin/python3.11 -- python3 a.py\nproc 911 910 /usr/bin/python3.11 -- python3 b.py\nlisten 20 127.0.0.1:8080\nlisten 911 127.0.0.1:8081\ntarget 127.0.0.1:8080\n", "application 20", "")
	f("shells of a build", app+db+"proc 910 1 /usr/bin/bash\nproc 911 910 /usr/bin/bash\nproc 912 910 /usr/bin/bash\n", ok, "")
	f("a socket of the same path in a container", "proc 10 1 /usr/sbin/nginx\nlisten 10 0.0.0.0:80\ntarget 127.0.0.1:80\nweb 10 80 - /run/app.sock\nproc 20 1 /srv/a/app\nlisten 20 /run/app.sock\nproc 910 1 /app container=eeeeeeeeeeee\nlisten 910 /run/app.sock ns=101\n", "web 10, application 20", "")
	f("an address of the same name in a user's namespace", app+"conn 20 10.0.0.1:42000 > far 10.0.0.2:3306\nproc 910 1 /home/eve/mysqld ns=8 elsewhere= uid=61001\nlisten 910 10.0.0.2:3306 ns=8\nconn 911 10.0.0.9:1 > 910 10.0.0.2:3306 ns=8\n", "application 20", "10.0.0.2:3306")
	f("the very connection in a user's namespace", app+"conn 20 10.0.0.1:42000 > 910 10.0.0.2:3306 to=8\nproc 910 1 /home/eve/mysqld ns=8 elsewhere= uid=61001\nlisten 910 10.0.0.2:3306 ns=8\n", "application 20", "10.0.0.2:3306")
	f("two namespaces with one address", app+"conn 20 10.0.0.1:42000 > 910 10.0.0.2:3306 to=8\nconn 899 10.0.0.1:42000 > 911 10.0.0.2:3306 ns=9 to=9\nproc 910 1 /usr/sbin/mysqld container=aaaaaaaaaaaa\nproc 911 1 /usr/sbin/mysqld container=bbbbbbbbbbbb\n", "application 20", "10.0.0.2:3306")
	f("the port in another namespace", app+db+"proc 910 1 /usr/sbin/mysqld container=eeeeeeeeeeee\nlisten 910 127.0.0.1:3306 ns=101\n", ok, "")
	f("the target's port in another namespace", app+db+"proc 910 1 /srv/x container=eeeeeeeeeeee\nlisten 910 127.0.0.1:8080 ns=101\n", ok, "")
	f("another family", "proc 20 1 /srv/a/app\nlisten 20 127.0.0.1:8080\nproc 910 1 /home/eve/x\nlisten 910 [::1]:8080\ntarget 127.0.0.1:8080\n", "application 20", "")
	f("a log that others write", app+"proc 910 1 /usr/sbin/nginx log=/var/log/a.log\nlisten 910 0.0.0.0:81\nlog /var/log/a.log\n", "application 20", "")
	f("a log that two write", "proc 10 1 /usr/sbin/nginx log=/var/log/a.log\nlisten 10 0.0.0.0:80\nproc 11 1 /usr/sbin/nginx log=/var/log/a.log\nlisten 11 0.0.0.0:81\nlog /var/log/a.log\n", "", "which server writes /var/log/a.log")
	f("a liar writes the log", "proc 910 1 /home/eve/nginx log=/var/log/a.log doubt=eve\nlog /var/log/a.log\n", "", "what the load")
	f("nginx of two projects, no configuration", "proc 10 1 /usr/sbin/nginx\nlisten 10 0.0.0.0:80\ntarget 127.0.0.1:80\nproc 20 1 /srv/a/app\nlisten 20 127.0.0.1:8080\nproc 910 1 /srv/b/app\nlisten 910 127.0.0.1:8081\nconn 10 127.0.0.1:41000 > 20 127.0.0.1:8080\nconn 10 127.0.0.1:41001 > 910 127.0.0.1:8081\n", "web 10", "which program answers for nginx")
	f("HAProxy of two projects", "proc 10 1 /usr/sbin/haproxy\nlisten 10 0.0.0.0:80\ntarget 127.0.0.1:80\nproc 20 1 /srv/a/app\nlisten 20 127.0.0.1:8080\nproc 910 1 /srv/b/app\nlisten 910 127.0.0.1:8081\nconn 10 127.0.0.1:41000 > 20 127.0.0.1:8080\nconn 10 127.0.0.1:41001 > 910 127.0.0.1:8081\n", "web 10", "which program answers for haproxy")
	f("one program, two directories", "proc 10 1 /usr/sbin/haproxy\nlisten 10 0.0.0.0:80\ntarget 127.0.0.1:80\nproc 20 1 /usr/bin/ruby dir=/srv/a -- puma\nlisten 20 127.0.0.1:8080\nproc 910 1 /usr/bin/ruby dir=/srv/b -- puma\nlisten 910 127.0.0.1:8081\nconn 10 127.0.0.1:41000 > 20 127.0.0.1:8080\nconn 10 127.0.0.1:41001 > 910 127.0.0.1:8081\n", "web 10", "which program")
	f("the benchmark prepares the database", "proc 10 1 /usr/sbin/nginx\nlisten 10 0.0.0.0:80\nweb 10 80 - -\nproc 910 1 /usr/bin/mysqld\nlisten 910 127.0.0.1:3320\nproc 50 1 /home/isucon/bench\nload 50\nconn 50 127.0.0.1:60000 > 10 127.0.0.1:80\nconn 50 127.0.0.1:60001 > 910 127.0.0.1:3320\n", "web 10", "")
	f("the app calls the benchmark back", app+"proc 50 1 /home/isucon/bench\nload 50\nlisten 50 127.0.0.1:5555\nconn 20 127.0.0.1:60000 > 50 127.0.0.1:5555\n", "application 20", "")
	f("the benchmark's child", app+"proc 50 1 /home/isucon/bench\nproc 51 50 /home/isucon/payment\nload 50\nlisten 51 127.0.0.1:5555\nconn 20 127.0.0.1:60000 > 51 127.0.0.1:5555\n", "application 20", "")
	f("a ring of parents", app+db+"proc 910 911 /srv/x\nproc 911 910 /srv/x\n", ok, "")
	f("its own parent", app+db+"proc 910 910 /srv/x\nlisten 910 127.0.0.1:9000\n", ok, "")
	f("an abstract name", app+db+"proc 910 1 /home/eve/x\nlisten 910 @/run/mysqld/mysqld.sock\n", ok, "")
	f("a path that another user took", "proc 20 1 /srv/a/app\nlisten 20 127.0.0.1:8080\ntarget 127.0.0.1:8080\nproc 910 1 /home/eve/mysqld doubt=eve uid=61001\nlisten 910 /tmp/mysql.sock\n", "application 20", "")
	f("a bad address", "target nonsense\n", "", "nonsense")
	f("no port", "target 127.0.0.1\n", "", "127.0.0.1")
	f("reads the database's name", app+db+"proc 910 1 /usr/sbin/mariadbd\n", ok, "")
	f("a thousand neighbours at the database", app+db+crowd(1000), ok, "")
	f("sshd forwards a port", app+db+"conn 2 127.0.0.1:62000 > 20 127.0.0.1:8080\n", ok, "")
	f("socat listens and goes nowhere", app+"proc 910 1 /usr/bin/socat\nlisten 910 127.0.0.1:3307\nconn 20 127.0.0.1:45000 > 910 127.0.0.1:3307\n", "application 20", "")
	f("another project calls this one", app+db+"proc 910 1 /srv/b/app\nlisten 910 127.0.0.1:8081\nconn 910 127.0.0.1:45000 > 20 127.0.0.1:8080\n", ok, "")
	f("a dead pid's socket", app+"conn 20 127.0.0.1:45000 > 777 127.0.0.1:3307\nlisten 777 127.0.0.1:3307\n", "application 20", "who listens at 127.0.0.1:3307")
}

func crowd(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "proc %d 1 /srv/x/%d\nconn %d 127.0.0.1:%d > 30 127.0.0.1:3306\n", 2000+i, i, 2000+i, 10000+i)
	}
	return b.String()
}

// TestDecide_ForeignLogs: a log is others' where all that may write it is known: not what is
// called on other hosts, but what a member is connected to here.
func TestDecide_ForeignLogs(t *testing.T) {
	const app = "proc 20 1 /srv/a/app log=/l/own\nlisten 20 127.0.0.1:8080\ntarget 127.0.0.1:8080\nlog /l/a\nlog /l/own\nproc 910 1 /usr/sbin/nginx log=/l/a\n"
	for lines, want := range map[string]string{
		"": "map[/l/a:nginx (pid 910)]",
		"conn 20 10.0.0.1:42000 > far 93.184.216.34:443\n":                                                                                  "map[/l/a:nginx (pid 910)]",
		"listen - 127.0.0.1:81\nconn 20 127.0.0.1:42000 > - 127.0.0.1:81\n":                                                                 "map[]",
		"proc 30 1 /usr/sbin/mariadbd container=dadadadadada\nlisten 30 10.2.0.2:3306 ns=100\nconn 20 10.2.0.1:42000 > far 10.2.0.2:3306\n": "map[]",
	} {
		a := arrange(t, app+lines)
		if got := fmt.Sprint(Decide(&a.snap, a.q).Foreign); got != want {
			t.Errorf("%q: %s, want %s", lines, got, want)
		}
	}
}

// TestDecide_Sites: of several sites of one nginx, two applications beside one another, the one
// that answers is a member: by address and name as nginx chooses, or none where that is not known.
func TestDecide_Sites(t *testing.T) {
	const hosts = "addr 10.0.0.1\nproc 10 1 /usr/sbin/nginx log=/l/a\nlisten 10 0.0.0.0:80\nproc 20 1 /srv/a/app\nlisten 20 127.0.0.1:8080\n" +
		"proc 21 1 /srv/b/app\nlisten 21 127.0.0.1:8081\n"
	const first, second, none = "web 10, application 20", "web 10, application 21", "web 10"
	site := func(at, names, port string, more ...string) string {
		return "web 10 " + at + " " + names + " 127.0.0.1:" + port + " " + strings.Join(more, " ") + "\n"
	}
	f := func(name, text, want string) {
		t.Helper()
		unknown := ""
		if want == none {
			unknown = "which program answers for nginx"
		}
		check(t, name, hosts+text, want, unknown)
	}
	ask := func(at, host string) string { return "target " + at + ":80\nhost " + host + "\n" }
	both := site("80", "*.example.org", "8080") + site("80", "www.example.org", "8081")
	f("the name before a wildcard", both+ask("127.0.0.1", "www.example.org"), second)
	f("a wildcard", both+ask("127.0.0.1", "shop.example.org"), first)
	f("the default", both+ask("127.0.0.1", "127.0.0.1"), first)
	f("the longest wildcard", site("80", "*.org", "8081")+site("80", "*.example.org", "8080")+ask("127.0.0.1", "a.example.org"), first)
	f("a dot is the name too", site("80", "x", "8081")+site("80", ".example.org", "8080")+ask("127.0.0.1", "example.org"), first)
	f("a dot after the name is ignored", site("80", "x", "8080")+site("80", "a.b", "8080")+site("80", ".a.b", "8081")+ask("127.0.0.1", "c.a.b"), first)
	f("a wildcard at the end", site("80", "x", "8081")+site("80", "www.example.*", "8080")+ask("127.0.0.1", "WWW.example.net."), first)
	f("the one in front goes first", site("80", "www.example.*", "8081")+site("80", "*.net", "8080")+ask("127.0.0.1", "www.example.net"), first)
	f("a regular expression", site("80", "x", "8081")+site("80", `~^www\d+\.example\.org$`, "8080")+ask("127.0.0.1", "www7.example.org"), first)
	f("the first of two", site("80", "x", "8081")+site("80", `~^(?<a>.+)\.org$`, "8080")+site("80", "~www", "8081")+ask("127.0.0.1", "www7.example.org"), first)
	f("a regular expression that does not match", site("80", "x", "8080")+site("80", "~^www$", "8081")+ask("127.0.0.1", "www7"), first)
	f("one that is not understood", site("80", "x", "8080")+site("80", "~^(?!a)b", "8081")+ask("127.0.0.1", "c"), none)
	f("one that is not understood, after a match", site("80", "~c", "8080")+site("80", "~^(?!a)b", "8081")+ask("127.0.0.1", "c"), first)
	f("one that is not understood, of one program", site("80", "x", "8080")+site("80", "~^(?!a)b", "8080")+ask("127.0.0.1", "c"), first)
	f("the host's own name", site("80", "x", "8081")+site("80", "$hostname", "8080")+ask("127.0.0.1", "H"), first)
	two := site("127.0.0.1:80", "-", "8081") + site("10.0.0.1:80", "-", "8080") + site("80", "b", "8081")
	f("by address", two+ask("10.0.0.1", "b"), first)
	f("by another address", two+ask("127.0.0.1", "b"), second)
	f("each address has its default", site("10.0.0.1:80", "a", "8080")+site("127.0.0.1:80", "b", "8081", "default")+ask("10.0.0.1", "c"), first)
	f("IPv6 alone", site("[::]:80", "-", "8081")+site("80", "x", "8080")+ask("127.0.0.1", "c"), first)
	f("IPv6 and IPv4", site("[::]:80", "-", "8080", "both")+site("[::]:80", "b", "8081", "both")+ask("127.0.0.1", "c"), first)
	names := site("80", "a", "8080") + site("80", "b", "8081")
	f("no name is known", names+"user 127.0.0.1:80\n", none)
	f("by the load's connections", names+"proc 50 1 /usr/bin/wrk\nload 50\nconn 50 127.0.0.1:60000 > 10 127.0.0.1:80 n=8\n", none)
	f("by the load's connections to an address", two+"proc 50 1 /usr/bin/wrk\nload 50\nconn 50 127.0.0.1:60000 > 10 10.0.0.1:80 n=8\n", first)
}

// TestDecide_Blocks: a member has the server blocks that may answer: the one of the target's
// name, or its port's default; without a target those that write the logs that are read, or all.
func TestDecide_Blocks(t *testing.T) {
	const nginx = "proc 10 1 /usr/sbin/nginx log=/l/a\nlisten 10 0.0.0.0:80\nlisten 10 0.0.0.0:81\n" +
		"web 10 80 other.test 127.0.0.1:3000\nweb 10 80 shop.test 127.0.0.1:8080\nweb 10 81 admin.test 127.0.0.1:8080\n"
	lines := func(text string, logs ...string) (out []int) {
		t.Helper()
		a := arrange(t, nginx+text)
		for i, log := range logs {
			a.q.Webs[10].Blocks[i].Logs = []string{log}
		}
		for _, m := range Decide(&a.snap, a.q).Service.Members {
			if m.Role == kasoku.RoleWeb {
				for _, b := range m.Blocks {
					out = append(out, b.Line)
				}
			}
		}
		return out
	}
	for _, c := range []struct {
		got, want []int
	}{
		{lines("target 127.0.0.1:80\nhost shop.test\n"), []int{2}},
		{lines("target 127.0.0.1:80\nhost 127.0.0.1\n"), []int{1}},
		{lines("target 127.0.0.1:81\n"), []int{3}},
		{lines("user 127.0.0.1:80\n"), []int{1, 2}},
		{lines("log /l/a\n", "/l/x", "/l/a", "/l/y"), []int{2}},
		{lines("log /l/a\n", "/l/a", "/l/a", "/l/a"), []int{1, 2, 3}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("blocks %v, want %v", c.got, c.want)
		}
	}
}

// TestOwn: kasoku's guard holds a connection to the database that it would put back; it is no
// other program that uses it.
func TestOwn(t *testing.T) {
	const text = `
proc 20 1 /usr/bin/app
proc 30 1 /usr/sbin/mariadbd
proc 950 900 /usr/local/bin/kasoku -- kasoku guard
listen 20 127.0.0.1:8080
listen 30 127.0.0.1:3306
listen 30 /run/own/mysqld.sock
conn 20 127.0.0.1:51000 > 30 127.0.0.1:3306
unix 950 > 30 /run/own/mysqld.sock
target 127.0.0.1:8080
dsn /run/own/mysqld.sock
`
	for _, own := range []string{"own 950\n", ""} {
		a := arrange(t, text+own)
		found := false
		for _, m := range Decide(&a.snap, a.q).Service.Members {
			if m.Role == kasoku.RoleDatabase {
				found = true
				if (m.Others == 0) != (own != "") {
					t.Errorf("%q: %d connections of other programs", own, m.Others)
				}
			}
		}
		if !found {
			t.Error("no database")
		}
	}
}

// TestDecide_HiddenMaster: an nginx is one member to a user who may see neither program nor namespaces
// of its master, which is root's; a child that only has its parent's name is not.
func TestDecide_HiddenMaster(t *testing.T) {
	const rest = `
proc 20 1 /srv/app
listen 20 127.0.0.1:8080
listen 11,12 0.0.0.0:80
target 127.0.0.1:80
conn 11 127.0.0.1:40000 > 20 127.0.0.1:8080
conn 12 127.0.0.1:40001 > 20 127.0.0.1:8080
`
	const workers = `
proc 11 10 /usr/sbin/nginx uid=33 -- nginx: worker process
proc 12 10 /usr/sbin/nginx uid=33 -- nginx: worker process
`
	check(t, "of root", "proc 10 1 - name=nginx ns=0 mnt=0 pidns=0 -- nginx: master process /usr/sbin/nginx"+workers+rest,
		"web 10, application 20", "")
	check(t, "named by pid", "proc 10 1 - name=nginx ns=0 mnt=0 pidns=0 -- nginx: master process /usr/sbin/nginx"+workers+rest+
		"pid 10\npid 11\n", "web 10, application 20", "")
	check(t, "of another name", "proc 10 1 - name=su ns=0 mnt=0 pidns=0"+workers+rest, "web 11, web 12, application 20", "")
}
