package quota

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestNewDisk: what is in the group makes as many writes a second as it is allowed to, and more when the limit is
// taken away.
func TestNewDisk(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("makes cgroups: root alone, not in short mode")
	}
	dir := t.TempDir()
	if _, err := diskOf(dir); err != nil {
		t.Skip("the directory of tests is on no disk: ", err)
	}
	g, err := NewDisk("disk-"+strconv.Itoa(os.Getpid()), dir, 50)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	}()
	write := func() time.Duration {
		t.Helper()
		began := time.Now()
		cmd := exec.CommandContext(t.Context(), "sh", "-c",
			`echo $$ >"$1/cgroup.procs" && exec dd if=/dev/zero of="$2" bs=4096 `+
				`count=100 oflag=direct`, "sh", g.Dirs()[0], filepath.Join(dir, "file"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return time.Since(began)
	}
	if took := write(); took < time.Second {
		t.Errorf("100 writes took %s where 50 a second are allowed", took)
	}
	if err := g.Free(dir); err != nil {
		t.Fatal(err)
	}
	if took := write(); took > time.Second {
		t.Errorf("100 writes took %s without a limit", took)
	}
	if _, err := NewDisk("none", "/proc", 50); err == nil {
		t.Error("a limit of /proc")
	}
}
