package mounts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNameHere_Remote: a file of a file system that may never answer, as one of a user's own, has
// the name that the kernel says, in this namespace, and none in another: nothing is looked up
// there.
func TestNameHere_Remote(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fds, err := os.Open("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	defer fds.Close()
	tables := map[bool]*Table{}
	for _, remote := range []bool{false, true} {
		tables[remote] = &Table{[]mount{{device: "0:1", root: "/", point: "/"}, {device: "0:2", root: "/", point: dir, remote: remote}}}
	}
	f2 := func(remote, own bool, want string) {
		t.Helper()
		here := tables[remote]
		there := here
		if !own {
			there = &Table{here.mounts}
		}
		if got := NameHere(here, there, int(fds.Fd()), strconv.Itoa(int(f.Fd())), name); got != want {
			t.Errorf("remote %v, own namespace %v: %q, want %q", remote, own, got, want)
		}
	}
	f2(false, true, name)
	f2(false, false, name)
	f2(true, true, name)
	f2(true, false, "")
	if err := os.Rename(name, name+".1"); err != nil { // what is looked up is seen to be gone
		t.Fatal(err)
	}
	f2(false, true, "")
	f2(true, true, name)
}

// TestNameHere_Way: a link on the way is not followed, and what lies in, or under, a file system
// that may never answer is not looked up, as asking for the way would be enough.
func TestNameHere_Way(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "real", "file")
	if err := errors.Join(os.Mkdir(filepath.Dir(name), 0o700), os.Symlink("real", filepath.Join(dir, "link")),
		os.WriteFile(name, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	here, err := Read("/proc/self")
	if err != nil {
		t.Fatal(err)
	}
	f2 := func(here *Table, name, want string) {
		t.Helper()
		got := NameHere(here, &Table{here.mounts}, unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), name)
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	f2(here, name, name)
	f2(here, filepath.Join(dir, "link", "file"), "")
	f2(here, filepath.Join(dir, "real", "..", "real", "file"), filepath.Join(dir, "real", "..", "real", "file"))
	root := here.of("/")
	covered := mount{device: root.device, root: filepath.Join(root.root, dir, "real"), point: filepath.Join(dir, "real")}
	f2(&Table{[]mount{*root, covered}}, name, name)
	f2(&Table{[]mount{*root, {device: "0:99", root: "/", point: dir, remote: true}, covered}}, name, "")
}

// TestIsRemote: kinds of file systems as mountinfo has them.
func TestIsRemote(t *testing.T) {
	for kind, want := range map[string]bool{"ext4": false, "overlay": false, "tmpfs": false, "xfs": false, "btrfs": false, "zfs": false,
		"fuse.sshfs": true, "fuse": true, "nfs4": true, "cifs": true, "9p": true, "autofs": true} {
		if got := isRemote(kind); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
	table, err := Parse(strings.NewReader("30 22 0:25 / /run rw shared:2 - tmpfs tmpfs rw\n31 22 0:26 / /mnt rw - fuse.x x rw\n"))
	if err != nil || table.mounts[0].remote || !table.mounts[1].remote {
		t.Errorf("%+v, %v", table, err)
	}
}
