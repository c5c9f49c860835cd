package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestDoubt(t *testing.T) {
	f := func(c caller, mode, uid, gid uint32, want string) {
		t.Helper()
		if got := c.doubt(&syscall.Stat_t{Mode: mode, Uid: uid, Gid: gid}); (got == "") != (want == "") ||
			!strings.Contains(got, want) {
			t.Errorf("%+v, mode %o of %d:%d: %q, want %q", c, mode, uid, gid, got, want)
		}
	}
	root, sudo := caller{0, -1, -1}, caller{0, 61001, 61001}
	const file, link = syscall.S_IFREG, syscall.S_IFLNK
	f(root, file|0o644, 0, 50, "")
	f(root, file|0o644, 61001, 0, "belongs to uid 61001")
	f(sudo, file|0o664, 61001, 61001, "")
	f(sudo, file|0o664, 61001, 100, "group 100 may write")
	f(sudo, file|0o644, 61002, 0, "belongs to uid 61002")
	f(root, file|0o666, 0, 0, "everybody may write")
	f(root, file|0o664, 0, 0, "")
	f(root, file|0o664, 0, 61001, "group 61001 may write")
	f(root, link|0o777, 0, 0, "")
	f(sudo, link|0o777, 61002, 0, "belongs to uid 61002")
}

// Root does not take another user's file for its word, where it stands or above.
func TestLoadOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("files of other users take root")
	}
	t.Setenv("SUDO_UID", "61002")
	dir := t.TempDir()
	path := filepath.Join(dir, Name)
	if err := errors.Join(os.WriteFile(path, []byte("[load]\ncommand = 'id'\n"), 0o644),
		os.Chown(path, 61001, 61001)); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	found, ok := Find(below)
	if !ok || found != path {
		t.Fatalf("found %q", found)
	}
	_, err := Load(found)
	var hinted *Error
	if !errors.As(err, &hinted) || !strings.Contains(err.Error(), "not read as root: it belongs to uid 61001") ||
		!strings.Contains(hinted.Hint(), "chown root") {
		t.Errorf("read: %v", err)
	}
	link := filepath.Join(dir, "link.toml")
	if err := errors.Join(os.Chown(path, 0, 0), os.Symlink(path, link), os.Lchown(link, 61001, 61001)); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(link); err == nil || !strings.Contains(err.Error(), "belongs to uid 61001") {
		t.Errorf("read by another's link: %v", err)
	}
	if _, err := Load(path); err != nil {
		t.Errorf("root's own: %v", err)
	}
}
