// Package smalldisk gives tests a real file system that is soon full.
//
// The one idea: a tmpfs of a few megabytes says ENOSPC as a disk does, to every
// program that writes there, a database server among them. It takes root, so
// tests that need it are left out for other users.
//
// Source: tmpfs(5).
package smalldisk

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Mount returns a directory of a file system of so many bytes, which is gone
// with the test.
func Mount(t testing.TB, size string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a file system is mounted by root only")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size="+size); err != nil {
		if errors.Is(err, unix.EPERM) {
			t.Skip("this root may not mount: ", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Fill takes all room of a directory's file system but so many bytes, and
// returns the file that has it: who removes that makes room.
func Fill(t testing.TB, dir string, leave int64) string {
	t.Helper()
	f, err := os.CreateTemp(dir, "ballast-")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err = unix.ENOSPC; errors.Is(err, unix.ENOSPC); { // others write there meanwhile
		var st unix.Statfs_t
		if err = unix.Statfs(dir, &st); err != nil {
			break
		}
		if n := int64(st.Bavail)*st.Bsize - leave; n > 0 {
			err = unix.Fallocate(int(f.Fd()), 0, 0, n/st.Bsize*st.Bsize)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return f.Name()
}
