package scratch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestServerIsNotRoots: the texts that a private server is given are a stranger's, so that
// what breaks out of it has nothing: no account's id, no file but its own, no capability.
func TestServerIsNotRoots(t *testing.T) {
	srv := sandboxtest.MariaDB(t, sandbox.Options{})
	like, err := mysql.New(t.Context(), sandboxtest.DB(t, srv, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer like.Close()
	s, err := Start(t.Context(), like)
	if err != nil {
		t.Fatal(err)
	}
	dir := s.temp.Path
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.child.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	owner := func(name string) uint32 {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Sys().(*syscall.Stat_t).Uid
	}
	want := uint32(os.Geteuid())
	if want == 0 {
		want = uint32(s.as.UID)
		if want < 61184 || want > 65519 || owner(".") != 0 {
			t.Errorf("user %d, directory of %d", want, owner("."))
		}
	}
	ids := fmt.Sprintf("\nUid:\t%d\t%d\t%d\t%d\n", want, want, want, want)
	for _, line := range []string{ids, "\nCapEff:\t0000000000000000\n", "\nCapPrm:\t0000000000000000\n"} {
		if !strings.Contains(string(status), line) {
			t.Errorf("no %q in\n%s", line, status)
		}
	}
	for _, name := range []string{"data", "tmp", "files", "run"} {
		if owner(name) != want {
			t.Errorf("%s is of %d", name, owner(name))
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("left: %s, %v", dir, err)
	}
}
