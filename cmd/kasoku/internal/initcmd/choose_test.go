package initcmd

import (
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology"
)

// TestCheck_Ports: the port of --url and --port are the same number, however they are written.
func TestCheck_Ports(t *testing.T) {
	for url, ok := range map[string]bool{"http://h:080/": true, "http://h/": true, "http://h:80/": true, "https://h/": false,
		"http://h:800/": false, "http://h:8_0/": false} {
		f := &initFlags{url: url, port: 80}
		if err := f.check(func(flag string) bool { return flag != "unit" }); (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestNarrow_Pools: of a leader of several pools, one of which is the service's, no log is taken
// that the pool's workers do not write: the others' pools have theirs there.
func TestNarrow_Pools(t *testing.T) {
	at := func(path string) topology.Listener { return topology.Listener{Network: "unix", Address: path} }
	look := func() *topology.Found {
		v := topology.Service{Kind: topology.App, Name: "php-fpm8.2", PID: 20, PIDs: []int{20, 21, 22},
			Listen: []topology.Listener{at("/run/a.sock"), at("/run/b.sock")}}
		return &topology.Found{Services: []topology.Service{v}, Logs: []topology.Log{
			{Kind: topology.AppLog, Path: "/l/all.log", Service: v.Label()}, {Kind: topology.AccessLog, Path: "/l/b.log", Service: v.Label()},
			{Kind: topology.AppLog, Path: "/l/a.log", Service: v.Label()}}}
	}
	m := kasoku.Member{Role: kasoku.RoleApplication, Processes: []kasoku.MemberProcess{{PID: 20, Leader: true}, {PID: 21}},
		Listeners: []kasoku.Listener{{Network: "unix", Address: "/run/a.sock"}}, Logs: []string{"/l/a.log"}}
	f := func(name string, want int) {
		t.Helper()
		found := look()
		if Narrow(found, &kasoku.Service{Members: []kasoku.Member{m}}, false); len(found.Logs) != want {
			t.Errorf("%s: %+v", name, found.Logs)
		}
	}
	f("one of two pools", 1)
	m.Listeners = append(m.Listeners, kasoku.Listener{Network: "unix", Address: "/run/b.sock"})
	f("all that it listens at", 3)
}

// TestNarrow_Loader: a database whose program has no name that is known, as one that the dynamic loader
// runs, is no application, and its error log is none of an application.
func TestNarrow_Loader(t *testing.T) {
	app := topology.Service{Kind: topology.App, Name: "node", PID: 10, Score: 3}
	loader := topology.Service{Kind: topology.App, Name: "ld-linux-x86-64", PID: 20, Score: 9}
	found := &topology.Found{Services: []topology.Service{loader, app}, Logs: []topology.Log{
		{Kind: topology.AppLog, Path: "/l/error.log", Service: loader.Label()}, {Kind: topology.AppLog, Path: "/l/app.out", Service: app.Label()}}}
	service := &kasoku.Service{Members: []kasoku.Member{
		{ID: "application node", Role: kasoku.RoleApplication, Processes: []kasoku.MemberProcess{{PID: 10, Leader: true}}},
		{ID: "database ld-linux-x86-64.so :3306", Role: kasoku.RoleDatabase, Sure: kasoku.High, Processes: []kasoku.MemberProcess{{PID: 20, Leader: true}},
			Found: []kasoku.Reason{{Text: "node has 2 connections to it"}}}}}
	Narrow(found, service, false)
	if apps := found.Of(topology.App); len(apps) != 1 || apps[0].Name != "node" || len(found.Logs) != 1 || found.Logs[0].Path != "/l/app.out" {
		t.Errorf("%+v %+v", apps, found.Logs)
	}
	rows := map[string]string{}
	row := func(what, found, how string) { rows[what] = found + ", " + how }
	if !databaseRow(&subject{service: *service}, row) ||
		rows["database"] != "ld-linux-x86-64.so :3306, node has 2 connections to it" {
		t.Error(rows)
	}
	if databaseRow(nil, row) {
		t.Error("a database without a service")
	}
}
