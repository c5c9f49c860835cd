package topology

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.log")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := CheckFile(file, Me()); !got.Read || got.Missing || got.Why != "" {
		t.Errorf("got %+v", got)
	}
	if got := CheckFile(file+".gone", Me()); got.Read || !got.Missing {
		t.Errorf("got %+v", got)
	}
	way := steps(file)
	if len(way) < 3 || way[0].path != "/" || way[len(way)-1].path != file || way[len(way)-1].dir || !way[len(way)-2].dir {
		t.Errorf("steps %+v", way)
	}
}

// TestExplain: what refuses a file, and what grants it.
func TestExplain(t *testing.T) {
	const uid, adm = 70001, 4
	who := Who{Name: "ann", UID: uid, Groups: []int{uid}}
	f := func(who Who, why string, grant []string, way ...step) {
		t.Helper()
		got := FileRight{Path: "/var/log/nginx/access.log"}
		got.explain(refusals(way, who), who)
		if !strings.Contains(got.Why, why) || !slices.Equal(got.Grant, grant) {
			t.Errorf("got %+v", got)
		}
	}
	root := step{"/", true, fs.ModeDir | 0o755, 0, 0}
	closed := step{"/var/log/nginx", true, fs.ModeDir | 0o750, 33, adm}
	group := step{"/var/log/nginx/access.log", false, 0o640, 33, adm}
	own := step{"/var/log/nginx/access.log", false, 0o600, 33, 70002}

	f(who, "its directory /var/log/nginx is closed to ann: drwxr-x---", []string{"usermod -aG " + groupName(adm) + " ann"}, root, closed, group)
	f(who, "it is closed to ann: -rw-r-----", []string{"usermod -aG " + groupName(adm) + " ann"}, root, group)
	f(who, "it is closed to ann: -rw-------", []string{"setfacl -m u:ann:r /var/log/nginx/access.log"}, root, own)
	f(who, "its directory", []string{"setfacl -m u:ann:x /var/log/nginx", "setfacl -m u:ann:r /var/log/nginx/access.log"}, root, closed, own)
	f(who, "do not say why", nil, root)
	later := who
	later.Listed = []int{adm}
	f(later, "from the next login on", []string{"newgrp " + groupName(adm)}, root, closed, group)
	member := who
	member.Groups = []int{adm}
	f(member, "do not say why", nil, root, closed, group)
}

func TestHost(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := tree{root}.host()
	if h.Cgroup != 0 || h.Pressure || !h.HidesPIDs || h.Perf != UnknownPerf || h.Systemd {
		t.Errorf("empty: %+v", h)
	}
	write("sys/fs/cgroup/cpu/x", "")
	if h := (tree{root}).host(); h.Cgroup != 1 {
		t.Errorf("cgroup: %+v", h)
	}
	write("sys/fs/cgroup/cgroup.controllers", "cpu io")
	write("proc/pressure/cpu", "some")
	write("proc/1/status", "Name: init")
	write("proc/sys/kernel/perf_event_paranoid", "3\n")
	write("run/systemd/system/x", "")
	h = tree{root}.host()
	if h.Cgroup != 2 || !h.Pressure || h.HidesPIDs || h.Perf != 3 || !h.Systemd {
		t.Errorf("full: %+v", h)
	}
}

func TestFreeBytes(t *testing.T) {
	if n, err := FreeBytes(filepath.Join(t.TempDir(), "not", "yet")); err != nil || n == 0 {
		t.Errorf("got %d, %v", n, err)
	}
}
