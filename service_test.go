package kasoku

import "testing"

func TestServicePicture(t *testing.T) {
	f := func(s Service, want string) {
		t.Helper()
		if got := s.Picture(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	at := func(address string) []Listener { return []Listener{{Network: "tcp", Address: address}} }
	web := Member{ID: "w", Role: RoleWeb, Program: "nginx", Listeners: at("0.0.0.0:80"), Sure: High}
	app := Member{ID: "a", Role: RoleApplication, Program: "puma", Workers: 3, Threads: 5, Sure: High}
	db := Member{ID: "d", Role: RoleDatabase, Program: "mariadbd", Listeners: at("127.0.0.1:3306"), Sure: High}
	store := Member{ID: "r", Role: RoleStore, Program: "redis-server", Listeners: []Listener{{Network: "unix", Address: "/run/r.sock"}}, Sure: Low}
	edges := []Edge{{To: "w"}, {From: "w", To: "a"}, {From: "a", To: "d"}, {From: "a", To: "r"}, {From: "a", To: "w"}}
	f(Service{}, "")
	f(Service{Members: []Member{web, app, db}, Edges: edges[:3]}, "load → nginx :80 → puma (3 × 5) → mariadbd :3306")
	f(Service{Members: []Member{web, app, db, store}, Edges: edges[:4]}, "load → nginx :80 → puma (3 × 5) → mariadbd :3306, redis-server unix:/run/r.sock?")
	f(Service{Members: []Member{app, db}}, "load → puma (3 × 5) → mariadbd :3306")
	f(Service{Members: []Member{db}}, "load → mariadbd :3306")
	// Connections of the application that no look saw.
	f(Service{Members: []Member{web, app, db}, Edges: edges[:2]}, "load → nginx :80 → puma (3 × 5) → mariadbd :3306")
	pooler := Member{ID: "p", Role: RolePooler, Program: "proxysql", Listeners: at("127.0.0.1:6033"), Sure: High}
	f(Service{Members: []Member{web, app, db, pooler}, Edges: append(edges[:2:2], Edge{From: "p", To: "d"})},
		"load → nginx :80 → puma (3 × 5) → proxysql :6033 → mariadbd :3306")

	s := Service{Members: []Member{store, web}}
	if got := s.Of(RoleStore); len(got) != 0 {
		t.Errorf("a guess is returned: %v", got)
	}
	if s.Member("w") != &s.Members[1] || s.Member("x") != nil || (*Service)(nil).Known() {
		t.Error("member by id")
	}
}
