package find

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku/topology/members"
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
