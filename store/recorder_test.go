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
