package topology

import (
	"testing"

	"github.com/kasoku/kasoku"
)

// TestReached: a database is reached where the application gets in, or where this host does;
// one that kasoku cannot ask is not.
func TestReached(t *testing.T) {
	tcp := func(at string) kasoku.Listener { return kasoku.Listener{Network: "tcp", Address: at} }
	db := kasoku.Member{ID: "database mariadbd :3306", Role: kasoku.RoleDatabase, Program: "mariadbd", Sure: kasoku.High,
		Listeners: []kasoku.Listener{tcp("[::]:33060"), tcp("0.0.0.0:3306")}}
	socket := kasoku.Edge{From: "application puma", To: db.ID, At: kasoku.Listener{Network: "unix", Address: "/run/mysqld/mysqld.sock"}}
	pasted := db
	pasted.Listeners = []kasoku.Listener{{Network: "unix", Address: "/tmp/a';reboot;'.sock"}, {Network: "unix", Address: "/tmp/a\nb"}}
	far := db
	far.Listeners = []kasoku.Listener{{Network: "tcp", Address: "172.17.0.2:3306", Private: true}}
	guess := db
	guess.Sure = kasoku.Low
	other := db
	other.Program = "postgres"
	for name, c := range map[string]struct {
		service kasoku.Service
		want    string
	}{
		"a port":            {kasoku.Service{Members: []kasoku.Member{db}}, "tcp(127.0.0.1:3306)"},
		"a socket":          {kasoku.Service{Members: []kasoku.Member{db}, Edges: []kasoku.Edge{socket}}, "unix(/run/mysqld/mysqld.sock)"},
		"a path to paste":   {kasoku.Service{Members: []kasoku.Member{pasted}}, ""},
		"of a container":    {kasoku.Service{Members: []kasoku.Member{far}}, ""},
		"a guess":           {kasoku.Service{Members: []kasoku.Member{guess}}, ""},
		"no MySQL":          {kasoku.Service{Members: []kasoku.Member{other}}, ""},
		"without databases": {kasoku.Service{}, ""},
	} {
		if m, at, ok := Reached(&c.service); ok != (c.want != "") || at != c.want || ok && m.ID != db.ID {
			t.Errorf("%s: %v at %q, want %q", name, m, at, c.want)
		}
	}
}
