package store

import "testing"

func TestAlive(t *testing.T) {
	self := thisProcess()
	if self.start == 0 || self.bootID == "" {
		t.Fatalf("this process is %+v", self)
	}
	if !self.alive() {
		t.Error("this process does not live")
	}
	for what, change := range map[string]func(*recorder){
		"another process under the same id": func(r *recorder) { r.start-- },
		"before a reboot":                   func(r *recorder) { r.bootID = "other" },
		"a process that ended":              func(r *recorder) { r.pid = 1<<22 + 1 }, // above the kernel's limit
		"no process":                        func(r *recorder) { *r = recorder{} },
	} {
		r := self
		change(&r)
		if r.alive() {
			t.Errorf("%s lives", what)
		}
	}
}

func TestParseStart(t *testing.T) {
	f := func(stat string, want int64) {
		t.Helper()
		got, err := parseStart([]byte(stat))
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %d, %v; want %d", stat, got, err, want)
		}
	}
	f("1204 (userapi) S 1 1204 1204 0 -1 4194560 1 0 0 0 5 3 0 0 20 0 7 0 123456 1 2", 123456)
	f("1204 (a) b (c)) S 1 1204 1204 0 -1 4194560 1 0 0 0 5 3 0 0 20 0 7 0 99 1 2", 99)
	f("1204 (userapi) S 1 1204", 0)
	f("", 0)
}
