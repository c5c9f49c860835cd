package find

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

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
