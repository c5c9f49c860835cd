package process

import (
	"os"
	"testing"
	"time"

	kasoku "github.com/kasoku/kasoku"
)

// A tree has what its processes used since the source began, whenever it was asked for,
// of children that came and went, seen and unseen, of workers that are recycled; not what
// was before, and not what others use.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Proc: dir})
	f := func(want float64) {
		t.Helper()
		got := find(collect(t, s), TreeCPU, "10 fpm")
		if got == nil && want < 0 {
			return
		}
		if got == nil || got.Value != want || got.Kind != kasoku.Counter {
			t.Fatalf("%+v, want %v", got, want)
		}
	}
	gone := func(pid string) {
		t.Helper()
		if err := os.RemoveAll(dir + "/" + pid); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "1/stat", child(1, 0, "init", 900, 900))
	write(t, dir, "10/stat", child(10, 1, "fpm", 100, 700))
	write(t, dir, "11/stat", child(11, 10, "fpm", 50, 0))
	f(-1)
	write(t, dir, "10/stat", child(10, 1, "fpm", 103, 700))
	write(t, dir, "11/stat", child(11, 10, "fpm", 70, 9))
	f(-1)
	write(t, dir, "15/stat", child(15, 10, "fpm", 6, 0))
	write(t, dir, "16/stat", child(16, 15, "sh", 5, 0))
	f(-1)
	gone("15")
	gone("16") // a worker that is recycled with two more than was seen, and what it started
	write(t, dir, "10/stat", child(10, 1, "fpm", 103, 713))
	f(-1)
	s.AddTree(10)
	f(0.45) // 3 of the leader, 20 of its worker, 9 of what that started, 13 of those that went
	write(t, dir, "12/stat", child(12, 11, "sh", 5, 0))
	write(t, dir, "13/stat", child(13, 12, "convert", 40, 0))
	write(t, dir, "90/stat", child(90, 1, "fpm", 60, 0))
	f(0.90)
	s.AddTree(10)
	gone("13")
	gone("12") // both ended with one tick more, unseen
	write(t, dir, "11/stat", child(11, 10, "fpm", 70, 56))
	f(0.92)
	gone("11") // and the worker is recycled with two more
	write(t, dir, "10/stat", child(10, 1, "fpm", 103, 841))
	write(t, dir, "14/stat", child(14, 10, "fpm", 4, 0))
	f(0.98)
	write(t, dir, "90/stat", child(90, 1, "fpm", 99, 0))
	s.AddTree(14) // a leader below another: what it used is counted already
	got := collect(t, s)
	if a, b := find(got, TreeCPU, "10 fpm"), find(got, TreeCPU, "14 fpm"); a == nil || b == nil || a.Value != 0.98 || b.Value != 0 {
		t.Fatalf("%+v %+v", a, b)
	}
	gone("10")
	gone("14")
	f(-1)
}

// TestMemberTrees: the counter of a leader that a look found late begins at the source's
// beginning; that of one that was restarted at the end of the one before.
func TestMemberTrees(t *testing.T) {
	series := func(name, instance string, at ...time.Duration) kasoku.Series {
		s := kasoku.Series{Key: kasoku.Key{Source: Name, Name: name, Instance: instance}, Kind: kasoku.Counter}
		for _, a := range at {
			s.Points = append(s.Points, kasoku.Point{At: a, Value: 3})
		}
		return s
	}
	rec := &kasoku.Recording{Series: []kasoku.Series{series(Count, "", 5, 10, 20, 30, 40), series(TreeCPU, "7 go", 20, 30),
		series(TreeCPU, "8 go", 40), series(TreeCPU, "9 go", 5, 10)}}
	if got := MemberTrees(rec); got != nil {
		t.Errorf("of no service: %+v", got)
	}
	rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Sure: kasoku.High, Processes: []kasoku.MemberProcess{
		{PID: 7, Leader: true, Ended: 33}, {PID: 8, Leader: true}}}}}
	got := MemberTrees(rec)
	if len(got) != 2 || got[0].Member != &rec.Service.Members[0] {
		t.Fatalf("%+v", got)
	}
	for i, want := range []kasoku.Point{{At: 5}, {At: 33}} {
		if p := got[i].Series.Points; p[0] != want || len(p) != 3-i {
			t.Errorf("%d: %+v, want first %+v", i, p, want)
		}
	}
	if len(rec.Series[1].Points) != 2 {
		t.Error("the recording was changed")
	}
}
