package pathwalk_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/internal/test/liar"
)

const private = "private line of ann"

// users are the directories of three users, and what they make there.
type users struct {
	*testing.T
	eve, mal, ann string
}

func newUsers(t *testing.T) *users {
	t.Setenv("SUDO_UID", "")
	u := &users{t, liar.Dir(t, liar.Eve), liar.Dir(t, liar.Mal), liar.Dir(t, liar.Ann)}
	liar.Write(t, u.ann+"/access.log", private, liar.Ann, 0o600)
	liar.Write(t, u.eve+"/access.log", "line of eve", liar.Eve, 0o600)
	return u
}

// link makes a user's symbolic link, and returns its path.
func (u *users) link(to, path string, uid int) string {
	u.Helper()
	if err := errors.Join(os.Symlink(to, path), os.Lchown(path, uid, uid)); err != nil {
		u.Fatal(err)
	}
	return path
}

// dir makes a user's directory.
func (u *users) dir(path string, uid int, mode fs.FileMode) string {
	u.Helper()
	if err := errors.Join(os.Mkdir(path, 0o700), os.Chown(path, uid, uid), os.Chmod(path, mode)); err != nil {
		u.Fatal(err)
	}
	return path
}

// hardLink makes another name of a file, as anyone may where fs.protected_hardlinks is 0.
func (u *users) hardLink(to, path string) string {
	u.Helper()
	if err := os.Link(to, path); err != nil {
		u.Fatal(err)
	}
	return path
}

// TestOpenNamed: by what one user puts into the place of a log, root reads no file of
// another, and what is meant honestly is read.
func TestOpenNamed(t *testing.T) {
	u := newUsers(t)
	tmp := u.dir(u.eve+"/tmp", 0, 0o777|fs.ModeSticky)
	shared := u.dir(u.eve+"/shared", 0, 0o777)
	mine := u.dir(u.eve+"/mine", 0, 0o755)
	refused := map[string]string{
		"link to a file of another":   u.link(u.ann+"/access.log", u.eve+"/1.log", liar.Eve),
		"link to root's":              u.link("/etc/passwd", u.eve+"/2.log", liar.Eve),
		"link to a directory":         u.link(u.ann, u.eve+"/3", liar.Eve) + "/access.log",
		"link by a way of its own":    u.link(u.eve+"/../"+filepath.Base(u.ann), u.eve+"/4", liar.Eve) + "/access.log",
		"link that ends with a slash": u.link(u.ann+"/./", u.eve+"/5", liar.Eve) + "/access.log",
		"link by another's link":      u.link(u.link(u.ann+"/access.log", u.ann+"/l", liar.Ann), u.eve+"/6.log", liar.Eve),
		"hard link to another's":      u.hardLink(u.ann+"/access.log", u.eve+"/7.log"),
		"hard link to root's":         u.hardLink(liar.Write(t, mine+"/secret", "root's", 0, 0o600), u.eve+"/8.log"),
		"hard link in /tmp":           u.hardLink(mine+"/secret", tmp+"/9.log"),
		"a file of another":           liar.Write(t, u.eve+"/10.log", private, liar.Ann, 0o600),
		"a directory of another":      u.dir(shared+"/11", liar.Ann, 0o755) + "/access.log",
	}
	liar.Write(t, shared+"/11/access.log", private, liar.Ann, 0o600)
	for what, path := range refused {
		f, err := pathwalk.OpenNamed(path)
		if e := new(pathwalk.RefusedError); !errors.As(err, &e) || e.Hint() == "" {
			t.Errorf("%s: %v", what, err)
			_ = f.Close()
		}
	}
	read := map[string]string{
		"a user's log":            u.eve + "/access.log",
		"a user's link":           u.link("access.log", u.eve+"/20.log", liar.Eve),
		"root's link to a log":    u.link(u.eve+"/access.log", u.eve+"/21.log", 0),
		"a link in root's":        u.link(u.eve+"/access.log", mine+"/22.log", liar.Mal),
		"a user's, in root's":     liar.Write(t, mine+"/23.log", "line of eve", liar.Eve, 0o600),
		"a user's, in /tmp":       liar.Write(t, tmp+"/24.log", "line of eve", liar.Eve, 0o600),
		"a server's, in a user's": liar.Write(t, u.eve+"/25.log", "line of eve", 33, 0o600),
		"by dots":                 u.eve + "/mine/..//./access.log",
	}
	for what, path := range read {
		if got, err := readNamed(path); err != nil || got != "line of eve" {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
	t.Chdir(u.eve)
	if got, err := readNamed("mine/../access.log"); err != nil || got != "line of eve" {
		t.Errorf("relative: %q, %v", got, err)
	}
	t.Setenv("SUDO_UID", fmt.Sprint(liar.Eve))
	if _, err := readNamed(refused["link to root's"]); err != nil {
		t.Errorf("the link of who called sudo: %v", err)
	}
}

// TestOpenNamedKinds: a pipe is opened without its writer, a descriptor as it is, and
// what is not there is not there.
func TestOpenNamedKinds(t *testing.T) {
	u := newUsers(t)
	f, err := pathwalk.OpenNamed(liar.Pipe(t, u.eve+"/fifo", liar.Eve))
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := readNamed(fmt.Sprintf("/dev/fd/%d", r.Fd())); err != nil || got != "" {
		t.Errorf("descriptor: %q, %v", got, err)
	}
	for name, want := range map[string]error{
		"": fs.ErrNotExist, u.eve + "/none": fs.ErrNotExist, u.eve + "/none/x": fs.ErrNotExist,
		u.eve + "/access.log/x": unix.ENOTDIR, u.link("loop", u.eve+"/loop", liar.Eve): unix.ELOOP,
	} {
		if f, err := pathwalk.OpenNamed(name); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
			_ = f.Close()
		}
	}
}

func readNamed(path string) (string, error) {
	f, err := pathwalk.OpenNamed(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}
