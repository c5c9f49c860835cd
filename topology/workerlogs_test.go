package topology

import "testing"

// TestWithLogs: a worker's own log is its service's; another program's, another user's and what is no log
// are not.
func TestWithLogs(t *testing.T) {
	head := &process{pid: 1, exe: "/usr/bin/python3", uid: 5, fds: map[int]string{1: "/srv/out"}}
	f := func(w process, want int) {
		t.Helper()
		if got := len(withLogs(head.fds, head, &w)) - len(head.fds); got != want {
			t.Errorf("%+v: %d more, want %d", w, got, want)
		}
	}
	files := map[int]string{1: "/srv/other.log", 7: "/srv/app.log", 8: "/srv/data.db"}
	f(process{pid: 2, exe: head.exe, uid: 5, fds: files}, 1)
	f(process{pid: 2, exe: "/bin/sh", uid: 5, fds: files}, 0)
	f(process{pid: 2, exe: head.exe, uid: 6, fds: files}, 0)
	f(process{pid: 2, exe: head.exe, uid: 5, container: "c", fds: files}, 0)
}
