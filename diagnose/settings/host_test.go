package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// tree writes files below a directory and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// stat is /proc/PID/stat of a process that began so many seconds after the boot.
func stat(pid int, comm string, began int) string {
	return fmt.Sprintf("%d (%s) S 1 1 1 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 30 0 %d 1 1 1", pid, comm, began*100)
}

func hostFiles() map[string]string {
	return map[string]string{
		"proc/uptime": "1000.00 1900.00\n", "proc/sys/kernel/hostname": "db1\n", "proc/meminfo": "MemTotal:        4194304 kB\nMemFree: 1 kB\n",
		"proc/cpuinfo": "processor\t: 0\nmodel\t: x\n\nprocessor\t: 1\n", "proc/sys/vm/swappiness": "60\n", "proc/sys/fs/aio-max-nr": "65536\n",
		"proc/100/comm": "mariadbd\n", "proc/100/stat": stat(100, "mariadbd", 100), "proc/100/cmdline": "mariadbd\x00--port=3306\x00", "proc/100/statm": "9 500 0 0\n",
		"proc/100/cgroup": "0::/system.slice/mariadb.service\n", "run/db.pid": "100\n",
		"proc/200/comm": "app\n", "proc/200/stat": stat(200, "app", 100), "proc/200/statm": "9 300 100 0\n", "proc/200/cgroup": "0::/system.slice/app.service\n",
		"proc/300/comm": "mysqld\n", "proc/300/stat": stat(300, "mysqld", 990), "proc/300/statm": "9 50 0 0\n",
	}
}

var hostVariables = map[string]string{"hostname": "db1", "pid_file": "/run/db.pid", "datadir": "/var/lib/mysql", "port": "3306"}

func described(t *testing.T, files map[string]string) (*host, Input) {
	t.Helper()
	h := findHost(tree(t, files), hostVariables, map[string]string{"Uptime": "899"})
	var in Input
	h.describe(&in)
	return h, in
}

func TestHost(t *testing.T) {
	h, in := described(t, hostFiles())
	page := uint64(os.Getpagesize())
	if h.pid != 100 || in.Memory.RAM != 4<<30 || in.Memory.From != "memory of the host" || in.Memory.Others != 250*page || in.System.Cores != 2 || in.System.Settings["vm.swappiness"] != "60" {
		t.Errorf("pid %d, %+v, %+v", h.pid, in.Memory, in.System)
	}
}

// TestHost_Limits: the limit of a control group stands above the host's memory, of
// version 2 and of version 1.
func TestHost_Limits(t *testing.T) {
	f := func(mounts, group, file, limit, want string, ram uint64) {
		t.Helper()
		files := hostFiles()
		files["proc/self/mountinfo"], files["proc/100/cgroup"] = mounts, group
		files[file] = limit
		_, in := described(t, files)
		if in.Memory.RAM != ram || in.Memory.From != want {
			t.Errorf("%+v, want %d, %s", in.Memory, ram, want)
		}
	}
	const v2 = "30 24 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	const v1 = "30 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	f(v2, "0::/db.service\n", "sys/fs/cgroup/db.service/memory.max", "1073741824\n", "memory limit of the control group db.service", 1<<30)
	f(v2, "0::/db.service\n", "sys/fs/cgroup/db.service/memory.max", "max\n", "memory of the host", 4<<30)
	f(v2, "0::/docker/deep\n", "sys/fs/cgroup/docker/memory.max", "536870912\n", "memory limit of the control group docker", 512<<20)
	f(v1, "9:memory:/db\n", "sys/fs/cgroup/memory/db/memory.limit_in_bytes", "268435456\n", "memory limit of the control group db", 256<<20)
	f(v1, "9:memory:/db\n", "sys/fs/cgroup/memory/db/memory.limit_in_bytes", "9223372036854771712\n", "memory of the host", 4<<30)
}

// TestHost_Elsewhere: a process of the name of a server is not the server that was
// asked when its host, its age or its directory differ.
func TestHost_Elsewhere(t *testing.T) {
	f := func(what string, change func(files map[string]string)) {
		t.Helper()
		files := hostFiles()
		change(files)
		h, in := described(t, files)
		if h.pid != 0 || in.Memory.RAM != 0 || len(in.Lacks) == 0 || in.Lacks[0].Grant == "" {
			t.Errorf("%s: pid %d, %+v", what, h.pid, in.Memory)
		}
	}
	f("host", func(files map[string]string) { files["proc/sys/kernel/hostname"] = "db2\n" })
	f("age", func(files map[string]string) { files["proc/100/stat"] = stat(100, "mariadbd", 500) })
	f("process", func(files map[string]string) {
		files["run/db.pid"], files["proc/100/cmdline"] = "7\n", "mariadbd\x00--port=3307\x00"
	})
	f("torn files", func(files map[string]string) { files["proc/100/stat"] = "100 (maria" })
}
