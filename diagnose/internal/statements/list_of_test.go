package statements

import (
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// TestSendsKey: a list of words has no number by which another table's rows are looked up.
func TestSendsKey(t *testing.T) {
	c := diagnose.NewCase(&kasoku.Recording{Tables: []kasoku.TableDef{{Name: "alias_domain",
		Create: "CREATE TABLE `alias_domain` (\n  `alias_domain` varchar(255),\n  `target_domain` varchar(255),\n" +
			"  `active` tinyint(1)\n)"}}}, nil)
	f := func(list, key string, want bool) {
		t.Helper()
		if got := sendsKey(c, &kasoku.Query{Fingerprint: list}, []string{key}); got != want {
			t.Errorf("%s, %s: %v", list, key, got)
		}
	}
	f("select distinct acl.rightname from acl, principals where acl.principalid = principals.id", "id", false)
	f("select `name`, status from t where a = ?", "id", false)
	f("select owner from t where a = ?", "id", true)
	f("select name, owner from t where a = ?", "id", true)
	f("select max(name) from t where a = ?", "id", true)
	f("select main.* from attributes main where main.objectid = ?", "id", true)
	f("select distinct acl.rightname from acl", "rightname", true)
	f("select a.title from a", "b_id", false)
	f("select * from alias_domain where active = ?", "address", false)
	f("select * from alias_domain where active = ?", "target_domain", true)
	f("select * from alias_domain, alias where active = ?", "address", true)
	f("select * from unknown where active = ?", "address", true)
}

// TestNamed: a list that sends a column which the lookup compares with a fixed value, other than its key, is no reason
// to name it.
func TestNamed(t *testing.T) {
	c := diagnose.NewCase(&kasoku.Recording{Tables: []kasoku.TableDef{{Name: "mailbox",
		Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"username"}}}}}}, nil)
	f := func(list, lookup string, want bool) {
		t.Helper()
		l := Looped{Query: &kasoku.Query{ID: "P", Fingerprint: lookup}, List: &kasoku.Query{ID: "L", Fingerprint: list}}
		l.Shape = Of(l.Query)
		if got := l.Named(c) != nil; got != want {
			t.Errorf("%s, %s: %v", list, lookup, got)
		}
	}
	const lookup = "select password from mailbox where username = ? and active = ?"
	f("select alias_domain, target_domain, active from alias_domain where target_domain = ?", lookup, false)
	f("select username, active from mailbox where domain = ?", lookup, true)
	f("select email, active from other where domain = ?", "select a from unknown where name = ? and active = ?", true)
}

// TestFollows: a loop is in that of a list where a name or their numbers say so, not because
// the list has about as many rows.
func TestFollows(t *testing.T) {
	c := diagnose.NewCase(&kasoku.Recording{Tables: []kasoku.TableDef{
		{Name: "Attributes", Create: "CREATE TABLE `Attributes` (\n  `id` int,\n  `Name` varchar(255),\n  `ObjectType` varchar(64),\n  `ObjectId` int,\n  PRIMARY KEY (`id`)\n)"},
		{Name: "comments", Create: "CREATE TABLE `comments` (\n  `id` int,\n  `post_id` int,\n  `user_id` int,\n  KEY `user` (`user_id`)\n)"},
	}}, nil)
	f := func(list, lookup string, caller *kasoku.Caller, want bool) {
		t.Helper()
		q := &kasoku.Query{ID: "L", Fingerprint: list}
		l := Looped{Query: &kasoku.Query{ID: "P", Fingerprint: lookup}, Caller: caller}
		l.Shape = Of(l.Query)
		if got := l.follows(c, q); got != want {
			t.Errorf("%s, %s: %v", list, lookup, got)
		}
	}
	attributes := "select main.* from Attributes main where main.objectid = ?"
	f(attributes, "select * from Tickets where id = ?", nil, false)
	f(attributes, "select * from ACL where principalid = ?", nil, false)
	f(attributes, "select * from Tickets where id = ?", &kasoku.Caller{List: "L"}, true)
	f("select * from comments where post_id = ?", "select * from users where id = ?", nil, true)
	f("select id, user_id from comments where post_id = ?", "select * from users where id = ?", nil, true)
	f("select id, body from comments where post_id = ?", "select * from users where id = ?", nil, false)
	f("select * from posts where user_id = ?", "select count(*) from comments where post_id = ?", nil, true)
	f("select id from classes where course = ?", "select count(*) from submissions where class_id = ?", nil, true)
	f("select * from companies where a = ?", "select * from offers where company = ?", nil, true)
	f("select owner from t where a = ?", "select * from things where owner = ?", nil, true)
}

// TestJoinable: a JOIN is proposed where the list has the lookup's key by its name, not where both have a name.
func TestJoinable(t *testing.T) {
	c := diagnose.NewCase(&kasoku.Recording{Tables: []kasoku.TableDef{
		{Name: "settings", Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"name"}}}},
		{Name: "realms", Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true,
			Columns: []string{"user_id", "realm_id"}}}},
	}}, nil)
	f := func(list, lookup string, want bool) {
		t.Helper()
		l := Looped{Query: &kasoku.Query{ID: "P", Fingerprint: lookup}, List: &kasoku.Query{ID: "L", Fingerprint: list}}
		l.Shape = Of(l.Query)
		if got := l.Joinable(c); got != want {
			t.Errorf("%s, %s: %v", list, lookup, got)
		}
	}
	f("select d.id, t.name from sources d join templates t on t.id = d.t",
		"select value from settings where name = ?", false)
	f("select g.id from graphs g", "select 1 from realms where user_id = ? and realm_id = ?", false)
	f("select id from users where team = ?", "select 1 from realms where user_id = ? and realm_id = ?", true)
	f("select id, user_id from comments where post_id = ?", "select * from users where id = ?", true)
}

// TestListOf_Children: what is asked for by each row that was looked up is not the list of these rows, by chance of its
// numbers; what is asked once may be.
func TestListOf_Children(t *testing.T) {
	f := func(table, list string, most float64, want bool) {
		t.Helper()
		x := kasoku.Caller{QueryID: "P", Method: "GET", Route: "/threads", Class: kasoku.CallerConfirmed, PerRequest: 20, Least: 20, Most: 20}
		of := x
		of.QueryID, of.PerRequest, of.Least, of.Most = "L", 2.5, 1, most
		c := diagnose.NewCase(&kasoku.Recording{Callers: []kasoku.Caller{x, of}, Queries: []kasoku.Query{
			{ID: "P", Verb: "SELECT", Calls: 200, RowsSent: 200, Fingerprint: "select a from " + table + " where id = ?"},
			{ID: "L", Verb: "SELECT", Calls: 25, RowsSent: 200, Fingerprint: list}}}, nil)
		l := Looped{Query: &c.Queries[0], Shape: Of(&c.Queries[0]), Caller: &c.Callers[0]}
		if got := listOf(c, l) != nil; got != want {
			t.Errorf("%s, %s, up to %v: %v", table, list, most, got)
		}
	}
	const names = "select distinct sender_id, sender_name from email where thread_id = ?"
	f("thread", names, 10, false)
	f("forum_thread", names, 10, false)
	f("thread", names, 1, true)
	f("sender", names, 10, true)
	f("mythread", names, 10, true)
}

// TestInArea: an area has two columns that are bounded on both sides; threads that were active in a month have not.
func TestInArea(t *testing.T) {
	f := func(list string, want bool) {
		t.Helper()
		if got := inArea(Looped{Shape: Statement{Table: "thread"}, List: &kasoku.Query{Fingerprint: list}}); got != want {
			t.Errorf("%s: %v", list, got)
		}
	}
	f("select id from thread where lat >= ? and lat <= ? and lon >= ? and lon <= ?", true)
	f("select id from thread where `lat` between ? and ? and `lon` between ? and ?", true)
	f("select id from thread where active >= ? and began < ?", false)
	f("select id from thread where active >= ? and active < ? and began < ?", false)
	f("select id from thread where active <> ? and began < ? and began > ?", false)
	f("select id from other where lat >= ? and lat <= ? and lon >= ? and lon <= ?", false)
}
