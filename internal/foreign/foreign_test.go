package foreign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/liar"
)

func TestMain(m *testing.M) {
	liar.Main()
	os.Exit(m.Run())
}

func hold(t *testing.T, pid int) *Process {
	t.Helper()
	p, err := Hold(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// What another user's process calls itself is not believed, whatever it looks like.
func TestBelieveLiar(t *testing.T) {
	l := liar.Start(t, liar.Eve, "nginx", "nginx: master process /usr/sbin/nginx")
	p := hold(t, l.PID)
	if p.Name != "nginx" || p.UID() != liar.Eve || !strings.HasPrefix(p.Args[0], "nginx: master process") || !p.Here {
		t.Errorf("held %+v", p)
	}
	err := p.Believe([]string{"nginx"})
	var doubt *Doubt
	if !errors.As(err, &doubt) || !strings.Contains(err.Error(), "calls itself nginx and belongs to uid 61001: not read") || doubt.Hint() == "" {
		t.Errorf("believed: %v", err)
	}
}

// A process may say that its command line is as long as its address space.
func TestHoldEndless(t *testing.T) {
	l := liar.Start(t, liar.Eve, "nginx", "nginx: master process", liar.EndlessArgument)
	if p := hold(t, l.PID); len(p.Args) != 1 || len(p.Args[0]) != MostArguments {
		t.Errorf("%d arguments, the first of %d bytes", len(p.Args), len(p.Args[0]))
	}
	if EnvironmentHas(l.PID, "no one has this") {
		t.Error("a text that is not there")
	}
}

// A program that another user may change is not believed of root either.
func TestBelieveProgram(t *testing.T) {
	f := func(uid int, mode os.FileMode, want string) {
		t.Helper()
		l := liar.Start(t, 0, "mysqld", "")
		path := filepath.Join(l.Dir(), "mysqld")
		if err := errors.Join(os.Chown(path, uid, uid), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		err := hold(t, l.PID).Believe([]string{"mysqld"})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("uid %d, mode %v: %v, want %q", uid, mode, err, want)
		}
	}
	f(0, 0o755, "")
	f(liar.Eve, 0o755, "belongs to uid 61001")
	f(0, 0o777, "others may write")
	f(0, 0o755|os.ModeSetuid, "changes its user")
	l := liar.Start(t, 0, "mysqld", "")
	if err := hold(t, l.PID).Believe([]string{"nginx"}); err == nil || !strings.Contains(err.Error(), "its program is") {
		t.Errorf("a mysqld as nginx: %v", err)
	}
}

// The one who called sudo is believed of root.
func TestBelieveSudo(t *testing.T) {
	l := liar.Start(t, liar.Eve, "nginx", "")
	path := filepath.Join(l.Dir(), "nginx")
	if err := os.Chown(path, liar.Eve, liar.Eve); err != nil {
		t.Fatal(err)
	}
	p := hold(t, l.PID)
	t.Setenv("SUDO_UID", "61001")
	if err := p.Believe(nil); err != nil {
		t.Error(err)
	}
	t.Setenv("SUDO_UID", "61002")
	if err := p.Believe(nil); err == nil {
		t.Error("another user's is believed")
	}
}

// Files are read with the rights of the process whose they are, and no others.
func TestReadFile(t *testing.T) {
	l := liar.Start(t, liar.Eve, "mysqld", "")
	p := hold(t, l.PID)
	dir, other := l.Dir(), liar.Dir(t, liar.Ann)
	link := func(name, to string, uid int) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.Symlink(to, path), os.Lchown(path, uid, uid)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	private := liar.Write(t, filepath.Join(other, "private"), "secret", liar.Ann, 0o600)
	open := liar.Write(t, filepath.Join(other, "open"), "open", liar.Ann, 0o644)
	own := liar.Write(t, filepath.Join(dir, "own"), "mine", liar.Eve, 0o600)
	large := liar.Write(t, filepath.Join(dir, "large"), strings.Repeat("x", 2000), liar.Eve, 0o600)
	f := func(path, want string) {
		t.Helper()
		b, err := p.Read(t.Context(), path, 1000)
		got, text := string(b), want == "mine" || want == "open"
		if err != nil {
			got = err.Error()
		}
		if text != (err == nil) || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	f(own, "mine")
	f(open, "open")
	f(private, "permission denied")
	f(large, "larger than 1000 bytes")
	f("/etc/shadow", "open /etc/shadow: permission denied")
	f(liar.Pipe(t, filepath.Join(dir, "pipe"), liar.Eve), "not a regular file")
	f("/dev/zero", "not a regular file")
	f(dir, "not a regular file")
	f(link("shadow", "/etc/shadow", liar.Eve), "permission denied")
	f(link("mine", "./own", liar.Eve), "mine")
	f(link("root", "../.."+dir+"/own", 0), "mine")
	f(link("others", own, liar.Mal), "uid 61002 made the link")
	f(link("loop", "loop", liar.Eve), "too many levels")
	f("/proc/self/environ", "it lies in /proc")
	f(link("environ", "/proc/thread-self/environ", liar.Eve), "it lies in /proc")
	f(dir+"/own/x", "not a directory")
	f(dir+"/../../../../../.."+dir+"/own", "mine")
	if _, err := p.Read(t.Context(), dir+"/none", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
	got, err := p.Glob(t.Context(), other+"/[op]*")
	if want := []string{open, private}; err != nil || !slices.Equal(got, want) {
		t.Errorf("glob %q, %v", got, err)
	}
	if err := os.Chmod(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Glob(t.Context(), other+"/*"); err != nil || len(got) != 0 {
		t.Errorf("glob of a closed directory %q, %v", got, err)
	}
	if uid := unix.Geteuid(); uid != 0 {
		t.Errorf("the test runs as %d now", uid)
	}
	if _, err := os.ReadFile(private); err != nil {
		t.Errorf("rights were lost: %v", err)
	}
}

// A file is the one that the process sees under its name, not the one of this host.
func TestReadElsewhere(t *testing.T) {
	dir := liar.Dir(t, 0)
	its, ours := filepath.Join(dir, "its"), filepath.Join(dir, "ours")
	if err := errors.Join(os.Mkdir(its, 0o755), os.Mkdir(ours, 0o755)); err != nil {
		t.Fatal(err)
	}
	liar.Write(t, filepath.Join(its, "conf"), "its", 0, 0o600)
	liar.Write(t, filepath.Join(ours, "conf"), "ours", 0, 0o600)
	in, hold1, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	said, say, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c, err := command.Start(t.Context(), command.Spec{
		Path: "unshare", Args: []string{"-m", "sh", "-c", `mount --bind "$1" "$2" && echo mounted; read x`, "sh", its, ours},
		Stdin: in, Stdout: say, Trusted: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = c.Kill() // its end is what is wanted
		for _, f := range []*os.File{in, hold1, said} {
			_ = f.Close() // nothing was written that counts
		}
	})
	_ = say.Close() // the child has its own
	if n, _ := said.Read(make([]byte, 16)); n == 0 {
		t.Skip("no mount namespace may be made here")
	}
	p := hold(t, c.Pid())
	if b, err := p.Read(t.Context(), ours+"/conf", 10); string(b) != "its" || p.Here {
		t.Errorf("read %q, %v; here %v", b, err, p.Here)
	}
	if got, err := p.Glob(t.Context(), dir+"/*/conf"); err != nil || len(got) != 2 {
		t.Errorf("glob %q, %v", got, err)
	}
}

// Where the kernel cannot be asked as the process, the mode bits decide the same.
func TestAllow(t *testing.T) {
	f := func(mode uint32, uid, gid uint32, want bool) {
		t.Helper()
		r := rights{uid: 7, gid: 8, groups: []int{9}}
		if got := r.allow(&unix.Stat_t{Mode: mode, Uid: uid, Gid: gid}); got != want {
			t.Errorf("mode %o of %d:%d: %v", mode, uid, gid, got)
		}
	}
	f(unix.S_IFREG|0o400, 7, 1, true)
	f(unix.S_IFREG|0o044, 7, 8, false)
	f(unix.S_IFREG|0o040, 1, 9, true)
	f(unix.S_IFREG|0o004, 1, 8, false)
	f(unix.S_IFREG|0o004, 1, 1, true)
	f(unix.S_IFDIR|0o744, 1, 1, false)
	f(unix.S_IFDIR|0o001, 1, 1, true)
	f(unix.S_IFREG|0o600, 0, 0, false)
}

// Without CAP_SETUID, as after capabilities were dropped, the same is read.
func TestReadWithoutSetuid(t *testing.T) {
	l := liar.Start(t, liar.Eve, "mysqld", "")
	p := hold(t, l.PID)
	other := liar.Dir(t, liar.Ann)
	private := liar.Write(t, filepath.Join(other, "private"), "secret", liar.Ann, 0o600)
	open := liar.Write(t, filepath.Join(other, "open"), "open", liar.Ann, 0o644)
	own := liar.Write(t, filepath.Join(l.Dir(), "own"), "mine", liar.Eve, 0o600)
	closed := filepath.Join(other, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	hidden := liar.Write(t, filepath.Join(closed, "open"), "hidden", liar.Ann, 0o644)
	got, err := within(t.Context(), p, "test", func() (map[string]string, error) {
		hdr, data, err := ownCapabilities()
		if err != nil {
			return nil, err
		}
		data[0].Effective &^= 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
		if err := unix.Capset(&hdr, &data[0]); err != nil {
			return nil, err
		}
		root, err := p.dupRoot()
		if err != nil {
			return nil, err
		}
		defer unix.Close(root)
		w, err := newWalker(p, root)
		if err != nil || w.adopted {
			return nil, fmt.Errorf("adopted: %v", err)
		}
		out := map[string]string{}
		for _, path := range []string{private, open, own, hidden, "/etc/shadow"} {
			f, _, err := w.open(path)
			if err != nil {
				out[path] = errors.Unwrap(err).Error()
				continue
			}
			out[path] = "read"
			_ = f.Close() // it was only opened
		}
		w.Rewind()
		return out, nil
	})
	const no = "permission denied"
	want := map[string]string{private: no, open: "read", own: "read", hidden: no, "/etc/shadow": no}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

// A call that does not return is left alone, and so is the process from then on.
func TestWithinHangs(t *testing.T) {
	t.Parallel()
	p := hold(t, os.Getpid())
	release := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	entered := make(chan struct{})
	go func() { <-entered; cancel() }()
	_, err := within(ctx, p, "x", func() (int, error) { close(entered); <-release; return 0, nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	var hung *HungError
	if _, err = within(t.Context(), p, "x", func() (int, error) { <-release; return 0, nil }); !errors.As(err, &hung) {
		t.Errorf("hung: %v", err)
	}
	if _, err = within(t.Context(), p, "x", func() (int, error) { return 0, nil }); !errors.As(err, &hung) {
		t.Errorf("after that: %v", err)
	}
	close(release)
}

func TestHoldGone(t *testing.T) {
	if _, err := Hold(1 << 30); !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
}
