package find

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology/members"
	"github.com/kasoku/kasoku/topology/scan"
)

// TestFollowed: a Unix socket that is named by a link to it is found by the name that it was
// made with.
func TestFollowed(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real.sock")
	l, err := net.Listen("unix", real)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	link, again, loop := filepath.Join(dir, "link"), filepath.Join(dir, "again"), filepath.Join(dir, "loop")
	for name, to := range map[string]string{link: "real.sock", again: link, loop: loop} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	f := func(address, want string) {
		t.Helper()
		if got := followed(members.Place{Network: "unix", Address: address}).Address; got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	f(real, real)
	f(link, real)
	f(again, real)
	f(loop, loop)
	f("@abstract", "@abstract")
	f(filepath.Join(dir, "none"), filepath.Join(dir, "none"))
	if got := followed(members.Place{Network: "tcp", Address: link}); got.Address != link {
		t.Errorf("%+v", got)
	}
}

// TestUnread: a configuration that could not be read is not read at each further look.
func TestUnread(t *testing.T) {
	const pid = 1 << 30 // no process has this number
	at := netip.MustParseAddrPort("127.0.0.1:80")
	s := &Seen{unread: map[int]bool{}, snap: &scan.Snapshot{NetNS: 1, MntNS: 1,
		Processes: []scan.Process{{PID: pid, Parent: 1, Exe: "/usr/sbin/nginx", NetNS: 1, MntNS: 1}},
		Sockets:   []scan.Socket{{Network: "tcp", NetNS: 1, State: scan.Listening, Local: at, Inode: 7, Owners: []int{pid}}}},
		question: members.Question{Webs: map[int]members.Web{},
			Targets: []members.Place{{Network: "tcp", Address: at.String()}}}}
	if s.decide(t.Context()); len(s.failed) != 1 {
		t.Fatalf("not read: %v, %+v", s.failed, s.Service)
	}
	s.failed = nil
	if s.decide(t.Context()); len(s.failed) != 0 {
		t.Errorf("read once more: %v", s.failed)
	}
}

// TestDistinct: what is a part of another service is no service of its own, but for a web server
// that a neighbour's passes a part of its requests on to.
func TestDistinct(t *testing.T) {
	member := func(id string, pid int, role kasoku.MemberRole) kasoku.Member {
		return kasoku.Member{ID: id, Role: role, Processes: []kasoku.MemberProcess{{PID: pid, Leader: true}}}
	}
	front, back := member("nginx front", 10, kasoku.RoleWeb), member("nginx back", 20, kasoku.RoleWeb)
	app, theirs := member("app", 30, kasoku.RoleApplication), member("their app", 40, kasoku.RoleApplication)
	call := func(from, to kasoku.Member) kasoku.Edge { return kasoku.Edge{From: from.ID, To: to.ID} }
	ours := Candidate{Port: 8080, Service: kasoku.Service{Members: []kasoku.Member{back, app}, Edges: []kasoku.Edge{call(back, app)}}}
	f := func(name, want string, all ...Candidate) {
		t.Helper()
		got := ""
		for _, c := range distinct(all) {
			got += " " + strconv.Itoa(c.Port)
		}
		if got != want {
			t.Errorf("%s:%s, want%s", name, got, want)
		}
	}
	before := Candidate{Port: 80, Service: kasoku.Service{Members: []kasoku.Member{front, back, app},
		Edges: []kasoku.Edge{call(front, back), call(back, app)}}}
	f("a web server before another", " 80", ours, before)
	before.Service.Members = append(before.Service.Members, theirs)
	before.Service.Edges = append(before.Service.Edges, call(front, theirs))
	f("a neighbour's web server passes some on to ours", " 80 8080", ours, before)
	f("the application alone", " 80 8080", ours, before,
		Candidate{Port: 8081, Service: kasoku.Service{Members: []kasoku.Member{app}}})
	pool := func(at string) Candidate {
		m := member("php-fpm "+at, 50, kasoku.RoleApplication)
		m.Listeners = []kasoku.Listener{{Network: "unix", Address: at}}
		return Candidate{Port: 8000 + len(at), Service: kasoku.Service{Members: []kasoku.Member{back, m}}}
	}
	f("two pools of one leader behind one web server", " 8002 8003", pool("/a"), pool("/bb"))
	f("the same pool twice", " 8002", pool("/a"), pool("/a"))
	f("the same twice", " 8080", ours, Candidate{Port: 8443, Service: ours.Service})
}

// TestBar: where a program of another user took a member's place between two looks it is no
// member, nor is what that calls; one of the same user is.
func TestBar(t *testing.T) {
	at := netip.MustParseAddrPort("127.0.0.1:8080")
	look := func(pid, uid int, held map[kasoku.Listener]int) kasoku.Service {
		db := netip.MustParseAddrPort("127.0.0.1:3306")
		from := netip.MustParseAddrPort("127.0.0.1:40000")
		socket := func(state scan.State, local, remote netip.AddrPort, inode uint32, pid int) scan.Socket {
			return scan.Socket{Network: "tcp", NetNS: 1, State: state, Local: local, Remote: remote, Inode: inode, Owners: []int{pid}}
		}
		s := &Seen{unread: map[int]bool{}, question: members.Question{Targets: []members.Place{{Network: "tcp", Address: at.String()}}},
			snap: &scan.Snapshot{NetNS: 1, MntNS: 1, Processes: []scan.Process{
				{PID: pid, Parent: 1, UID: uid, Exe: "/usr/bin/node", NetNS: 1, MntNS: 1},
				{PID: 30, Parent: 1, UID: 27, Exe: "/usr/sbin/mariadbd", NetNS: 1, MntNS: 1}},
				Sockets: []scan.Socket{socket(scan.Listening, at, netip.AddrPort{}, 7, pid),
					socket(scan.Listening, db, netip.AddrPort{}, 8, 30), socket(scan.Established, db, from, 9, 30),
					socket(scan.Established, from, db, 10, pid)}}}
		if s.decide(t.Context()); s.bar(held) {
			s.decide(t.Context())
		}
		return s.Service
	}
	held := map[kasoku.Listener]int{}
	f := func(name string, pid, uid, want, unknown int) {
		t.Helper()
		if s := look(pid, uid, held); len(s.Members) != want || len(s.Unknown) != unknown {
			t.Errorf("%s: %+v, unknown %+v", name, s.Members, s.Unknown)
		}
	}
	f("at first", 20, 1000, 2, 0)
	f("another user's", 21, 1001, 0, 1)
	f("restarted", 22, 1000, 2, 0)
}
