package private

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// checkMode checks mode, user and group of a path.
func checkMode(t *testing.T, path string, mode uint32, uid, gid int) {
	t.Helper()
	st, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	sys := st.Sys().(*syscall.Stat_t)
	if got := sys.Mode & 0o7777; got != mode || int(sys.Uid) != uid || int(sys.Gid) != gid {
		t.Errorf("%s: mode %o of %d:%d, want %o of %d:%d", filepath.Base(path), got, sys.Uid, sys.Gid, mode, uid, gid)
	}
}

// makeAll makes a file in each way and returns their paths.
func makeAll(t *testing.T, k Kind, dir string) (files []string) {
	t.Helper()
	if err := k.MkdirAll(dir); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string {
		files = append(files, filepath.Join(dir, name))
		return files[len(files)-1]
	}
	open := func(f *os.File, err error) error {
		if err != nil {
			return err
		}
		return f.Close()
	}
	err := errors.Join(
		open(k.Create(at("created"))), open(k.CreateNew(at("new"))), open(k.Open(at("opened"), os.O_APPEND)),
		k.WriteFile(at("written"), []byte("x")), k.WriteNew(at("written-new"), []byte("x")),
	)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestModes: 0600 in 0700 under each umask, and what the umask allows when shared.
func TestModes(t *testing.T) {
	uid, gid := os.Geteuid(), os.Getegid()
	masks := []int{0, 0o022, 0o077, 0o777}
	if uid != 0 {
		masks = masks[:3] // under the last one root alone can open what it has just made
	}
	for _, mask := range masks {
		for _, k := range []Kind{Output, State} {
			for _, share := range []bool{false, true} {
				dir := filepath.Join(t.TempDir(), "a", "b")
				file, above := uint32(0o600), uint32(0o700)
				if share && k == Output {
					if mask == 0o777 {
						continue // no user could enter what is made
					}
					file, above = 0o644&^uint32(mask), 0o755&^uint32(mask)
				}
				old := unix.Umask(mask)
				Share(share)
				files := makeAll(t, k, dir)
				Share(false)
				unix.Umask(old)
				for _, f := range files {
					checkMode(t, f, file, uid, gid)
				}
				checkMode(t, dir, above, uid, gid)
				checkMode(t, filepath.Dir(dir), above, uid, gid)
			}
		}
	}
}

// TestSudo: what root makes below sudo is the caller's, state only where he could
// replace it; what is there keeps its owner.
func TestSudo(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("owners can be changed by root alone")
	}
	t.Setenv("SUDO_UID", "4711")
	t.Setenv("SUDO_GID", "4712")
	above := t.TempDir()
	dir := filepath.Join(above, "runs", "today")
	for _, f := range makeAll(t, Output, dir) {
		checkMode(t, f, 0o600, 4711, 4712)
	}
	checkMode(t, dir, 0o700, 4711, 4712)
	checkMode(t, filepath.Dir(dir), 0o700, 4711, 4712)
	for _, f := range makeAll(t, State, filepath.Join(dir, "state")) {
		checkMode(t, f, 0o600, 4711, 4712)
	}
	for _, f := range makeAll(t, State, filepath.Join(above, "roots")) {
		checkMode(t, f, 0o600, 0, 0)
	}
	for _, bad := range []string{"", "0", "-1", "4294967295", "4711x", " 4711"} {
		t.Setenv("SUDO_UID", bad)
		if uid, _, ok := SudoUser(); ok {
			t.Errorf("SUDO_UID %q: user %d", bad, uid)
		}
	}
}

// TestPlanted: a link, a second name or a file of others that has the name gets
// nothing of what is written, and is not read.
func TestPlanted(t *testing.T) {
	for _, plant := range []func(victim, path string) error{os.Symlink, os.Link} {
		dir := t.TempDir()
		victim := filepath.Join(dir, "victim")
		if err := os.WriteFile(victim, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "report.html")
		again := func() {
			os.Remove(path)
			if err := plant(victim, path); err != nil {
				t.Fatal(err)
			}
		}
		again()
		if _, err := Output.CreateNew(path); !errors.Is(err, fs.ErrExist) {
			t.Errorf("made anew: %v", err)
		}
		if f, err := Output.Open(path, os.O_APPEND); err == nil {
			f.Close()
			t.Error("opened")
		}
		if err := Output.WriteFile(path, []byte("secret")); err != nil {
			t.Error(err)
		}
		checkMode(t, path, 0o600, os.Geteuid(), os.Getegid())
		again()
		f, err := Output.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("secret"); err != nil || f.Close() != nil || f.Name() != path {
			t.Error(err, f.Name())
		}
		if b, _ := os.ReadFile(victim); string(b) != "old" {
			t.Errorf("the victim has %q", b)
		}
		if b, _ := os.ReadFile(path); string(b) != "secret" {
			t.Errorf("the file has %q", b)
		}
		if names, _ := os.ReadDir(dir); len(names) != 2 {
			t.Errorf("left: %v", names)
		}
	}
}

// TestReplaceFails: what was there stays, and nothing is left.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	cause := errors.New("no")
	if err := Output.WriteFile(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	err := Output.Replace(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, cause)
	})
	if b, _ := os.ReadFile(path); !errors.Is(err, cause) || string(b) != "old" {
		t.Errorf("%q, %v", b, err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left: %v", names)
	}
	if err := Output.WriteFile(filepath.Join(dir, "missing", "x"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if err := Output.WriteFile(dir, nil); err == nil {
		t.Error("a directory was replaced")
	}
}

// TestSpecial: devices and pipes are written to, not replaced.
func TestSpecial(t *testing.T) {
	if err := Output.WriteFile("/dev/null", []byte("x")); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat("/dev/null"); err != nil || st.Mode()&os.ModeCharDevice == 0 {
		t.Fatal("/dev/null was replaced")
	}
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() {
		b, _ := os.ReadFile(path)
		got <- string(b)
	}()
	if err := Output.WriteFile(path, []byte("x")); err != nil || <-got != "x" {
		t.Error(err)
	}
}

// TestSweep: a directory goes with its process, and the next one removes what a killed
// one left; one that is in use stays, and so does a link of that name.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	used, err := MakeTempDir(parent, "kasoku-x-")
	if err != nil {
		t.Fatal(err)
	}
	checkMode(t, used.Path, 0o700, os.Geteuid(), os.Getegid())
	killed, err := MakeTempDir(parent, "kasoku-x-")
	if err != nil {
		t.Fatal(err)
	}
	if err := State.WriteNew(killed.File("secret"), nil); err != nil {
		t.Fatal(err)
	}
	if err := unix.Close(killed.fd); err != nil { // as the kernel does for a killed process
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(parent, "kasoku-x-link")); err != nil {
		t.Fatal(err)
	}
	third, err := MakeTempDir(parent, "kasoku-x-")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	names, _ := os.ReadDir(parent)
	for _, n := range names {
		left = append(left, filepath.Join(parent, n.Name()))
	}
	if len(left) != 3 || !strings.Contains(strings.Join(left, " "), used.Path) ||
		!strings.Contains(strings.Join(left, " "), third.Path) {
		t.Errorf("left: %v", left)
	}
	if _, err := os.Stat(elsewhere); err != nil {
		t.Error(err)
	}
	if err := errors.Join(used.Close(), third.Close()); err != nil {
		t.Error(err)
	}
}
