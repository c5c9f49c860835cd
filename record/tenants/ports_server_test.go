package tenants

import (
	"os"
	"slices"
	"testing"

	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/topology/members"
	"github.com/kasoku/kasoku/topology/scan"
)

// TestPortsOf: a connection that was opened after a look is its member's by who holds it now.
func TestPortsOf(t *testing.T) {
	t.Parallel()
	srv := sandboxtest.MariaDB(t, sandbox.Options{})
	r, err := mysql.New(t.Context(), sandboxtest.DB(t, srv, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	member := sandboxtest.DB(t, srv, "")
	if err := member.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	clients, err := mysql.NewClients(r).List(t.Context())
	if err != nil || len(clients) == 0 {
		t.Fatal(clients, err)
	}
	var at scan.Server
	at.Add("tcp", srv.Addr(), false)
	ports := func(p members.Party) []uint16 { return portsOf(t.Context(), at, []members.Party{p}) }
	own := ports(members.Party{Member: true, Leader: 1 << 30, PIDs: []int{os.Getpid()}})
	for _, c := range clients {
		if !slices.Contains(own, portOf(c.Host)) || !isNew(c, members.Callers{}) || isNew(c, members.Callers{Members: own}) {
			t.Errorf("%+v is not among %v", c, own)
		}
	}
	for _, other := range []members.Party{
		{Member: true, Leader: srv.Pid()},                    // has the other end
		{Leader: os.Getpid()},                                // no member
		{Member: true, Leader: os.Getpid(), At: []uint32{1}}, // leads others' programs too
	} {
		if got := ports(other); len(got) > 0 {
			t.Errorf("%+v: %v", other, got)
		}
	}
	if isNew(mysql.Client{Host: "10.0.0.9:1005"}, members.Callers{}) || isNew(mysql.Client{Host: "localhost"}, members.Callers{}) {
		t.Error("a client of another host, or by a Unix socket, has no port here")
	}
}
