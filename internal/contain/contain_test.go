package contain

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestRun(t *testing.T) {
	defer Forget()
	p := Part{Rule, "X-01"}
	if err := Run(p, func() {}); err != nil {
		t.Fatal(err)
	}
	if want := errors.New("x"); Do(p, func() error { return want }) != want {
		t.Error("an error did not come through")
	}
	f := func(part func(), want string) {
		t.Helper()
		Forget()
		offset := int64(7)
		err := RunAt(p, &offset, part)
		var b *Bug
		if !errors.As(err, &b) || !strings.HasPrefix(b.Error(), "rule X-01: a bug of kasoku: "+want+" in contain.TestRun") || !strings.HasSuffix(b.Error(), ", at byte 7 of its input") {
			// The frames of this test are those of the package, which are left out.
			if b == nil || !strings.HasPrefix(b.Error(), "rule X-01: a bug of kasoku: "+want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		if strings.Contains(b.Error()+b.Hint(), "hunter2") {
			t.Errorf("content in %q, %q", b.Error(), b.Hint())
		}
		if bugs, n := Bugs(); n != 1 || len(bugs) != 1 || bugs[0] != b {
			t.Errorf("%d bugs, %v", n, bugs)
		}
	}
	var none []int
	n := 5
	f(func() { _ = none[n] }, "index out of range [5] with length 0")
	f(func() { panic("hunter2") }, "panic with a string")
	f(func() { panic(fmt.Errorf("hunter2")) }, "panic with a *errors.errorString")
	f(func() { _ = strings.Map(func(rune) rune { panic("hunter2") }, "x") }, "panic with a string")
}

func TestPlant(t *testing.T) {
	defer Forget()
	remove := Plant(Part{Source, "host"})
	if Run(Part{Source, "cgroup"}, func() {}) != nil {
		t.Error("another part was planted as well")
	}
	var wg sync.WaitGroup
	wg.Go(Func(Part{Source, "host"}, func() { t.Error("ran") }))
	wg.Wait()
	if bugs, n := Bugs(); n != 1 || bugs[0].Why != "planted in source host" {
		t.Errorf("%d bugs, %v", n, bugs)
	}
	remove()
	if Run(Part{Source, "host"}, func() {}) != nil {
		t.Error("is planted still")
	}
}
