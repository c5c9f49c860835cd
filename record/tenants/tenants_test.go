package tenants

import (
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/topology/members"
)

// entry is one of a MariaDB's slow log that took a millisecond.
func entry(user, thread, schema, statement string) string {
	return "# User@Host: " + user + "[" + user + "] @ localhost [127.0.0.1]\n# Thread_id: " + thread + "  Schema: " + schema +
		"  QC_hit: No\n# Query_time: 0.001000  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1\n" +
		"SET timestamp=1700000000;\n" + statement + ";\n"
}

// TestBook: what a member's connection sent, or anybody in a schema of the service, stays.
func TestBook(t *testing.T) {
	clients := []mysql.Client{
		{ID: 1, User: "app", Host: "localhost:1001", DB: "shop"},
		{ID: 2, User: "app", Host: "127.0.0.1:1002", DB: "blog"},
		{ID: 3, User: "exporter", Host: "[::1]:1003"},
		{ID: 4, User: "batch", Host: "localhost:1004", DB: "shop"},
		{ID: 5, User: "far", Host: "10.0.0.9:1005", DB: "remote"}, // whose it is is not known
		{ID: 6, User: "socket", Host: "localhost", DB: "local"},   // nor this
	}
	clients = append(clients, mysql.Client{ID: 7, User: "app", Host: "localhost:1007", DB: "blog"}, // gone when ports were looked at
		mysql.Client{ID: 8, User: "web", Host: "localhost:1008", DB: "wiki"}, mysql.Client{ID: 9, User: "web", Host: "localhost"})
	log := entry("web", "9", "attached", "SELECT a FROM own_i") + entry("app", "1", "shop", "SELECT a FROM own_a") + entry("app", "1", "blog", "SELECT a FROM own_b") +
		entry("app", "90", "shop", "SELECT a FROM own_c") + entry("batch", "4", "shop", "SELECT a FROM own_d") +
		entry("far", "5", "remote", "SELECT a FROM own_e") + entry("socket", "6", "local", "SELECT a FROM own_f") +
		entry("app", "91", "new", "SELECT a FROM own_g") + entry("app", "92", "given", "SELECT a FROM own_h") +
		entry("app", "2", "blog", "SELECT a FROM theirs_a") + entry("app", "93", "blog", "SELECT a FROM theirs_b") +
		entry("exporter", "3", "", "SELECT a FROM theirs_c") + entry("exporter", "94", "mysql", "SELECT a FROM theirs_d")
	read := func(b *Book) (tables []string) {
		table, _, err := slowlog.Collect(lines.NewReader(strings.NewReader(log), 1<<20), slowlog.Options{Kind: slowlog.Slow, Where: b.Keep})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range table.Queries() {
			tables = append(tables, q.Tables...)
		}
		slices.Sort(tables)
		return tables
	}
	from := members.Callers{Members: []uint16{1001}, Others: []uint16{1002, 1003, 1004, 1008}}
	var b Book
	b.learn(clients, from, nil, "given")
	own := []string{"own_a", "own_b", "own_c", "own_d", "own_e", "own_f", "own_g", "own_h", "own_i"}
	if got := read(&b); !slices.Equal(got, own) {
		t.Error(got)
	}
	w := b.Warnings()
	if len(w) != 1 || !strings.Contains(w[0].Text, "30.8 %") || strings.Contains(w[0].Text, "blog") || b.Left() != 4 {
		t.Errorf("%+v, %d left out", w, b.Left())
	}
	rec := kasoku.Recording{Settings: b.Settings("host", 3, false)}
	if got, ok := kasoku.TenantsOf(&rec); !ok || got != (kasoku.Tenants{Others: 4, All: 12}) {
		t.Errorf("%+v %v %+v", got, ok, rec.Settings)
	}
	d := mysql.Digests{Classes: map[mysql.DigestKey]mysql.Digest{{Schema: "blog"}: {}, {Schema: "shop"}: {}, {Schema: "new"}: {}, {}: {}}}
	if b.Without(&d); len(d.Classes) != 3 {
		t.Errorf("%+v", d.Classes)
	}

	for name, others := range map[string]bool{"blog.posts": true, "shop.blog": false, "new.a.b": false, "blog": false, "": false} {
		if b.IsOthersTable(name) != others {
			t.Errorf("%q: %v", name, !others)
		}
	}

	for text, others := range map[string]bool{
		"CREATE TABLE `blog` . `posts` ( `id` INTEGER )": true, "SELECT `a` FROM `shop` . `b`": false, "": false,
		"SELECT `blog` , `t` . `blog` FROM `shop` . `blog`": false, "`blog`": false, "SELECT `shop` . `blog` . `x`": false, // columns, a table
		"SELECT `blog` . `a` FROM `shop` . `b` AS `blog` WHERE `blog` . `a` = ?": false, "UPDATE `shop` . `b` `blog` SET `blog` . `a` = ?": false, // aliases
		"SELECT `x` . `a` FROM `new` . `b` AS `blog` JOIN `blog` . `posts` AS `x` ON `blog` . `a` = `x` . `a`": true, // no member's
		"SELECT `a` FROM `shop` . `b` JOIN `blog` . `posts` USING ( `id` )":                                    false,
		"INSERT INTO `blog` . `posts` VALUES (...) /* , ... */":                                                true,
		"DELETE FROM `blog` . `posts` WHERE `id` IN (...)":                                                     true, "CALL `blog` . `p` ( ? )": true, "CALL `shop` . `p` ( ? )": false, "CALL `blog` ( )": false,
	} {
		if b.IsOthersClass("", text) != others || b.IsOthersClass("shop", text) || !b.IsOthersClass("blog", text) {
			t.Errorf("%q: %v", text, !others)
		}
	}

	// Where one side was not seen nothing is left out.
	for _, from := range []members.Callers{{}, {Members: []uint16{1001}}, {Others: []uint16{1002, 1003}}} {
		var b Book
		b.learn(clients, from, nil, "shop")
		if got := read(&b); len(got) != 13 || b.Warnings() != nil || len(b.Settings("host", 3, false)) != 1 {
			t.Errorf("%+v: %v, %+v", from, got, b.Settings("host", 3, false))
		}
	}
}

// TestBook_Known: what the server counted beyond what the service's own connections sent may be others'.
func TestBook_Known(t *testing.T) {
	clients := []mysql.Client{{ID: 1, User: "app", Host: "localhost:1001", DB: "shop"}, {ID: 2, User: "agent",
		Host: "localhost:1002"},
		{ID: 3, User: "both", Host: "localhost:1003", DB: "shop"}, {ID: 4, User: "both", Host: "localhost:1004",
			DB: "blog"}, {ID: 5, User: "who", Host: "localhost"}}
	log := entry("app", "1", "shop", "SELECT 1") + entry("app", "90", "shop", "SELECT 2") + entry("both", "91", "shop",
		"SELECT 3") +
		entry("app", "90", "shop", "# administrator command: Prepare") + // of these on, none is the service's for sure
		entry("both", "92", "", "SELECT 4") + entry("both", "93", "blog", "SELECT 5") + entry("who", "5", "shop",
		"SELECT 6") + entry("agent", "2", "", "SHOW STATUS")
	known := func(log string, statements, prepares float64) (kasoku.Known, bool) {
		t.Helper()
		var b Book
		b.learn(clients, members.Callers{Members: []uint16{1001, 1003}, Others: []uint16{1002, 1004}}, nil, "")
		for _, add := range []float64{0, 1} {
			b.Counted(&mysql.Status{Values: []mysql.Value{{Name: "Questions", Value: 1007 + add*statements},
				{Name: "Connections", Value: 10}, {Name: "Threads_connected", Value: 3},
				{Name: "Com_stmt_prepare", Value: 50 + add*prepares}}}, 0)
		}
		if _, _, err := slowlog.Collect(lines.NewReader(strings.NewReader(log), 1<<20), slowlog.Options{Kind: slowlog.Slow,
			Where: b.Keep}); err != nil {
			t.Fatal(err)
		}
		if without := (kasoku.Recording{Settings: b.Settings("h", 3, false)}); len(without.Settings) != 2 {
			t.Errorf("%+v", without)
		}
		return kasoku.KnownOf(&kasoku.Recording{Settings: b.Settings("h", 3, true)})
	}
	if k, ok := known(log, 8, 2); !ok || k != (kasoku.Known{Connections: 3, Own: 3, Statements: 8, HasPrepares: true,
		OwnPrepares: 1, Prepares: 2}) {
		t.Errorf("%+v %v", k, ok)
	}
	if k, ok := known(entry("app", "1", "shop", "SELECT 1"), 8, 2); !ok || k.HasPrepares || k.Own != 1 {
		t.Errorf("%+v %v", k, ok)
	}
	for name, c := range map[string]struct {
		log                  string
		statements, prepares float64
	}{"a server that began anew": {log, -900, 2}, "fewer than the log has": {log, 2, 2}, "fewer prepares": {log, 8, 0},
		"a procedure, whose statements may be in the log": {log + entry("app", "1", "shop", "CALL p()"), 8, 2}} {
		if k, ok := known(c.log, c.statements, c.prepares); ok {
			t.Errorf("%s: %+v", name, k)
		}
	}
}

// TestBook_Sockets: a session by a Unix socket is whose the other end of that is.
func TestBook_Sockets(t *testing.T) {
	var clients []mysql.Client
	for i, db := range []string{"shop", "blog", "wiki"} {
		clients = append(clients, mysql.Client{ID: uint64(i + 1), User: "u", Host: "localhost", DB: db})
	}
	var b Book
	b.learn(clients, members.Callers{MemberSockets: []uint32{71}, OtherSockets: []uint32{72, 73}}, map[uint64]uint32{1: 71, 2: 72}, "")
	for schema, others := range map[string]bool{"shop": false, "blog": true, "wiki": false} {
		if b.IsOthersSchema(schema) != others {
			t.Errorf("%s: %v", schema, !others)
		}
	}
}
