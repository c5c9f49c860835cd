package cgroup

import "testing"

func TestPlace(t *testing.T) {
	const id = "4f2c91e0a1b2c3d4e5f60718293a4b5c6d7e8f90123456789abcdef012345678"
	f := func(text, unit, container string) {
		t.Helper()
		u, c := Place([]byte(text))
		if u != unit || c != container {
			t.Fatalf("Place(%q) = %q, %q, want %q, %q", text, u, c, unit, container)
		}
	}
	f("0::/system.slice/nginx.service\n", "nginx.service", "")
	f("0::/system.slice/system-mysql.slice/mysql@main.service\n", "mysql@main.service", "")
	f("0::/user.slice/user-1000.slice/user@1000.service/app.slice/app.service\n", "app.service", "")
	f("0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-7.scope\n", "user@1000.service", "")
	f("0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope", "")
	f("8:pids:/x\n1:name=systemd:/system.slice/cron.service\n0::/\n", "cron.service", "")
	f("0::/system.slice/docker-"+id+".scope\n", "", "docker-4f2c91e0a1b2")
	f("4:memory:/docker/"+id+"\n9:name=systemd:/\n", "", "4f2c91e0a1b2")
	f("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-"+id+".scope\n", "", "cri-containerd-4f2c91e0a1b2")
	f("0::/lxc.payload.web/system.slice/cron.service\n", "cron.service", "web")
	f("0::/machine.slice/machine-db.scope\n", "", "db")
	f("0::/\n", "", "")
	f("rubbish\n::\n", "", "")
	f("", "", "")
}
