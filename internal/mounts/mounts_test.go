package mounts

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func table(t *testing.T, text string) *Table {
	t.Helper()
	out, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const hostTable = `22 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
30 22 0:25 / /run rw shared:2 - tmpfs tmpfs rw
41 22 8:1 / /srv/big\040disk rw shared:3 - ext4 /dev/sda1 rw
50 22 0:61 / /var/lib/docker/overlay2/abc/merged rw - overlay overlay rw
`

func TestNamesOf(t *testing.T) {
	here := table(t, hostTable)
	there := table(t, `200 199 0:61 / / rw - overlay overlay rw
201 200 0:62 / /proc rw - proc proc rw
202 200 253:0 /srv/shop/logs /var/log/nginx rw - ext4 /dev/vda1 rw
203 200 8:1 /data /data rw - ext4 /dev/sda1 rw
204 200 0:70 / /dev rw - tmpfs tmpfs rw
205 200 253:0 /etc/hosts /etc/hosts rw - ext4 /dev/vda1 rw
`)
	f := func(name string, want ...string) {
		t.Helper()
		if got := here.namesOf(there, name); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	f("/var/log/nginx/access.log", "/srv/shop/logs/access.log")
	f("/var/log/nginxes/access.log", "/var/lib/docker/overlay2/abc/merged/var/log/nginxes/access.log")
	f("/data/app.log", "/srv/big disk/data/app.log")
	f("/etc/hosts", "/etc/hosts")
	f("/dev/shm/x.log")
	f("relative")
	var none *Table
	if got := append(none.namesOf(there, "/a"), here.namesOf(nil, "/a")...); len(got) > 0 {
		t.Errorf("without a table: %q", got)
	}
}

// TestNamesOf_Bind: a part of a file system that is mounted here at another place alone.
func TestNamesOf_Bind(t *testing.T) {
	here := table(t, "22 1 253:0 / / rw - ext4 a rw\n60 22 9:1 /vol/a /mnt/a rw - xfs b rw\n")
	there := table(t, "70 1 9:1 /vol /logs rw - xfs b rw\n")
	if got := here.namesOf(there, "/logs/a/x.log"); !slices.Equal(got, []string{"/mnt/a/x.log"}) {
		t.Errorf("%q", got)
	}
	if got := here.namesOf(there, "/logs/b/x.log"); len(got) > 0 {
		t.Errorf("a part that is not mounted here: %q", got)
	}
}

// TestNameHere: the log of a process whose directory is another one of this host's is found by
// its name here; one that hides another of this name is not taken for it.
func TestNameHere(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"host", "inside", "hidden"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "hidden", "x.log"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	script := `mount --make-rprivate / && mount --bind host inside && mount -t tmpfs none hidden &&
		exec 3>>inside/a.log 4>>hidden/x.log && echo begun && read end`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 { // mounts in a user's own namespace, where the kernel allows those
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
	}
	end, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); errors.Is(err, syscall.EPERM) && os.Geteuid() != 0 {
		t.Skip("no user may make a namespace here: in a chroot, or by a setting of the kernel")
	} else if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "begun\n" {
		t.Fatalf("%q, %v: %s", line, err, stderr.String())
	}
	got := OpenFiles(cmd.Process.Pid)
	if at := got[filepath.Join(dir, "inside", "a.log")]; at != filepath.Join(dir, "host", "a.log") {
		t.Errorf("the log is at %q: %v", at, got)
	}
	if at, ok := got[filepath.Join(dir, "hidden", "x.log")]; ok {
		t.Errorf("the log of a container's own is at %q", at)
	}
	_ = end.Close()
	_, _ = io.Copy(io.Discard, said)
	_ = cmd.Wait() // read fails at the end of its input
}

func TestParse_Bad(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if _, err := Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	f("22 1 253:0 /", "want 6 fields")
	f(strings.Repeat("1 1 1:1 / / rw\n", mostMounts+1), "too many")
	f(strings.Repeat("x", 2<<20), "too long")
}

func FuzzParse(f *testing.F) {
	f.Add(hostTable, "/run/a.log")
	f.Add("1 1 1:1 \\040\\0 \\777\\1 rw\n", "/")
	f.Fuzz(func(t *testing.T, text, name string) {
		out, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		if names := out.namesOf(out, name); len(names) > mostNames {
			t.Errorf("%d names", len(names))
		}
	})
}
