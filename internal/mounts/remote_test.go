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

// TestStranger: a user's own file system is one of neither root nor who asks.
func TestStranger(t *testing.T) {
	own := strconv.Itoa(os.Geteuid())
	for options, want := range map[string]string{"rw,user_id=61001,group_id=1,allow_other": "uid 61001", "rw,user_id=0": "",
		"rw,user_id=" + own: "", "rw": ""} {
		for kind, of := range map[string]string{"fuse": want, "fuse.sshfs": want, "ext4": ""} {
			if got := stranger(kind, options); got != of {
				t.Errorf("%s, %s: %q, want %q", kind, options, got, of)
			}
		}
	}
}

// TestCheckServed: what is mounted here is known, by its own table or another's, and a file
// system that a table says to be another user's is refused.
func TestCheckServed(t *testing.T) {
	fd, err := unix.Open("/proc/self", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }() // only looked at
	id, err := CheckServed(fd, ID{}, "/none", "/proc/self")
	if err != nil {
		t.Error(err)
	}
	if _, err := CheckServed(fd, ID{}, "/none"); len(answering.ids) > 0 && err != nil {
		t.Errorf("its mount was looked up before: %v", err)
	}
	answering = knownMounts{}
	if _, err := CheckServed(fd, ID{}, "/none"); err == nil {
		t.Error("it is known without a table")
	}
	if _, err := CheckServed(fd, id); err != nil {
		t.Errorf("it was looked at before: %v", err)
	}
	dir := t.TempDir()
	line := fmt.Sprintf("%d 1 0:1 / / rw - fuse x rw,user_id=61001\n", id.mount)
	if err := os.WriteFile(filepath.Join(dir, "mountinfo"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	var silent *SilentError
	if _, err := CheckServed(fd, ID{}, dir); !errors.As(err, &silent) || silent.By != "uid 61001" {
		t.Errorf("%v", err)
	}
}
