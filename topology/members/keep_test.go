package members

import (
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// TestFollow: over a restart a member stays itself, with the processes of both lives.
func TestFollow(t *testing.T) {
	const front = "proc 10 1 /usr/sbin/nginx\nlisten 10 0.0.0.0:80\ntarget 127.0.0.1:80\nweb 10 80 - 127.0.0.1:8080\n"
	decide := func(text string) kasoku.Service {
		a := arrange(t, text)
		return Decide(&a.snap, a.q).Service
	}
	one := decide(front + "proc 20 1 /srv/a/app\nlisten 20 127.0.0.1:8080\n")
	down := decide(front)
	two := decide(front + "proc 21 1 /srv/a/app\nlisten 21 127.0.0.1:8080\nproc 30 1 /usr/sbin/mariadbd\nlisten 30 127.0.0.1:3306\nconn 21 127.0.0.1:42000 > 30 127.0.0.1:3306\n")

	s := Follow(kasoku.Service{}, one, 0)
	s = Follow(s, down, 5*time.Second)
	if app := s.Of(kasoku.RoleApplication); len(app) != 1 || app[0].Leader().PID != 0 || app[0].Processes[0].Ended != 5*time.Second || len(s.Unknown) != 0 {
		t.Errorf("while it is down: %+v, unknown %v", app, s.Unknown)
	}
	s = Follow(s, two, 9*time.Second)
	app := s.Of(kasoku.RoleApplication)
	if len(s.Members) != 3 || len(app) != 1 || app[0].Leader().PID != 21 || !app[0].Has(20) {
		t.Errorf("after the restart: %+v", s.Members)
	}
	if s.Picture() != "load → nginx :80 → app → mariadbd :3306" || len(s.Edges) != 3 {
		t.Errorf("%s, edges %+v", s.Picture(), s.Edges)
	}
	if len(one.Members) != 2 || one.Members[1].Processes[0].Ended != 0 {
		t.Errorf("the first look was changed: %+v", one.Members)
	}
}

// TestJoin: a worker that began between a look and a further one at sockets alone goes on
// running, what the further one shows is added, and a process that has ended stays so.
func TestJoin(t *testing.T) {
	process := func(pid int, leader bool) kasoku.MemberProcess {
		return kasoku.MemberProcess{PID: pid, Start: uint64(pid), Leader: leader}
	}
	ended := process(22, false)
	ended.Ended = 3 * time.Second
	app := kasoku.Member{ID: "application php-fpm", Role: kasoku.RoleApplication}
	app.Processes = []kasoku.MemberProcess{process(20, true), process(21, false), ended, process(23, false)}
	before := kasoku.Service{Members: []kasoku.Member{app}}
	app.Processes = app.Processes[:2:2] // 23 began since
	db := kasoku.Member{ID: "database mariadbd", Role: kasoku.RoleDatabase, Processes: []kasoku.MemberProcess{process(30, true)}}
	again := kasoku.Service{Members: []kasoku.Member{app, db}, Edges: []kasoku.Edge{{From: app.ID, To: db.ID, Seen: 1}}}

	s := Join(before, again)
	if !slices.Equal(s.Members[0].Processes, before.Members[0].Processes) {
		t.Errorf("processes %+v, want %+v", s.Members[0].Processes, before.Members[0].Processes)
	}
	if len(s.Members) != 2 || len(s.Edges) != 1 {
		t.Errorf("members %+v, edges %+v", s.Members, s.Edges)
	}
}
