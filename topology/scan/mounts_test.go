package scan

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

// TestTake_Mounts: the logs of a process with a file system of its own, as a unit with
// PrivateTmp= or a container, are those that have their names on this host.
func TestTake_Mounts(t *testing.T) {
	dir := t.TempDir()
	shared, hidden := filepath.Join(dir, "shared.log"), filepath.Join(dir, "own", "hidden.log")
	if err := os.Mkdir(filepath.Dir(hidden), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hidden, nil, 0o600); err != nil { // the host's file of that name
		t.Fatal(err)
	}
	script := `mount --make-rprivate / && mount -t tmpfs none ` + filepath.Dir(hidden) + ` && exec 3>>` + shared + ` 4>>` + hidden +
		` && echo begun && read end`
	cmd := exec.Command("sh", "-c", script)
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
	snap, err := Take(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(snap.Processes, func(p Process) bool { return p.PID == cmd.Process.Pid })
	if i < 0 {
		t.Fatal("the process is not seen")
	}
	if logs := snap.Processes[i].Logs; !slices.Equal(logs, []string{shared}) {
		t.Errorf("logs %q", logs)
	}
	_ = end.Close()
	_, _ = io.Copy(io.Discard, said)
	_ = cmd.Wait() // read fails at the end of its input
}
