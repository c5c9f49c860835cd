package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/host"
	"github.com/kasoku/kasoku/diagnose/rules/pool"
)

// apart is a service on two hosts of two cores each: shop uses so many of the one, mysqld of
// the other, db1. Less than zero is a database that was not recorded.
func apart(shop, mysqld float64) *build { return ladder().apart(shop, mysqld) }

func (b *build) apart(shop, mysqld float64) *build {
	b.cpu(0, shop).program("20 shop", shop, 1e8)
	if mysqld < 0 {
		b.measured().Service.Members = b.Service.Members[:2]
		return b
	}
	db := ladder().cpu(0, mysqld).program("10 mysqld", mysqld, 1e9)
	for _, s := range db.Series {
		if s.Key.Source == diagnose.Host || s.Key.Source == diagnose.Process {
			s.Key.Host = "db1"
			b.Series = append(b.Series, s)
		}
	}
	b.Run.Hosts = append(slices.Clone(b.Run.Hosts), kasoku.Host{Name: "db1", Cores: 2})
	b.measured()
	for i, name := range []string{"h", "h", "db1"} {
		b.Service.Members[i].Host = name
	}
	return b
}

// TestApart_CPU: what another part of the service would change is said where that part was seen to
// have CPU left.
func TestApart_CPU(t *testing.T) {
	check := func(r diagnose.Rule, b *build, level kasoku.Level, change bool, part string) {
		t.Helper()
		f := fires(t, r, b, level, part)
		if strings.Contains(f.Cause, "would change little") != change {
			t.Errorf("%s: %s", r.ID(), f.Cause)
		}
	}
	both := apart(2, 1.8)
	check(host.DBBound{}, both, kasoku.Medium, false,
		"What a request costs on db1 is decided in the database, so queries and indexes come first. "+
			"shop uses 2.00 of 2 cores on h.")
	check(host.AppCPU{}, both, kasoku.Medium, false,
		"What a request costs on h is decided in the program. mysqld uses 1.80 of 2 cores on db1.")
	check(host.DBBound{}, apart(0.2, 1.8), kasoku.Medium, true, "uses 100 % of the service's CPU on db1")
	check(host.AppCPU{}, apart(2, 0.2), kasoku.Medium, true,
		"shop uses 2.00 of 2 cores on h. What a request costs on h")
	// Of a database that others run for the service nothing was recorded.
	check(host.AppCPU{}, apart(2, -1), kasoku.Medium, false, "no process of the database was recorded")
	check(host.AppCPU{}, apart(2, -1), kasoku.Medium, false,
		"What a request costs on this host is decided in the program.")
}

// TestPlacement: a host that is full while another one has room.
func TestPlacement(t *testing.T) {
	r := host.Placement{}
	larger := func(b *build, cores float64) *build { // db1, of which 0.20 cores are used
		b.Run.Hosts[1].Cores = int(cores)
		k := kasoku.Key{Source: diagnose.Host, Name: "cpu.idle"}
		made := ladder().counts(k, 20, 20, 10*(cores-0.2)).Series
		idle := made[len(made)-1]
		idle.Key.Host, k.Host = "db1", "db1"
		b.Series = append(slices.DeleteFunc(b.Series, func(s kasoku.Series) bool { return s.Key == k }), idle)
		return b
	}
	f := fires(t, r, larger(apart(1.95, 0.2), 4), kasoku.Medium,
		"H has 2 cores, of which shop uses 1.95; db1 has 4, and mysqld there uses 0.20")
	if f.Object.Name != "h" || f.Fixes[0].Text != "Change the roles of h and db1" ||
		!strings.Contains(f.Fixes[0].Note, "With shop on db1, mysqld on h, h would be 10.0 % and db1 48.8 % busy") ||
		len(f.Evidence) != 4 {
		t.Errorf("%+v %+v", f.Object, f.Fixes)
	}
	three := apart(1.9, 0.2).program("20 shop", 1.2, 1e8).program("5 nginx", 0.7, 1e7)
	f = fires(t, r, three, kasoku.Medium, "shop, nginx use 1.90")
	if f.Fixes[0].Text != "Move nginx from h to db1" {
		t.Errorf("%+v", f.Fixes)
	}
	silent(t, r, apart(1.95, 0.2), 0.80, 0.83, "what is best to move would leave a host 97.5 % busy")
	silent(t, r, larger(apart(1.7, 0.2), 4), 0.9, 0.95, "h is 85.0 % busy")
	silent(t, r, apart(1.95, 1.3), 0.8, 0.82, "db1 65.0 %")
	same := larger(apart(1.95, 0.2), 4) // shop runs on both: requests are shared out badly
	for i := range same.Series {
		if k := &same.Series[i].Key; k.Host == "db1" && k.Instance == "10 mysqld" {
			k.Instance = "10 shop"
		}
	}
	silent(t, r, same, 0.8, 0.85, "what is best to move would leave a host 97.5 % busy")
	silent(t, r, apart(2, -1), 0, 0, "on one host")
	silent(t, r, stackOn(1.4, 0.3, 0.1), 0, 0, "on one host")
	// Neighbours fill the host, not the service.
	silent(t, r, larger(apart(1.95, 0.2).program("20 shop", 0.9, 1e8), 4), 0.9, 0.95, "45.0 % by the service")
}

// TestApart_Pool: the CPU that the app's host uses is not the database's.
func TestApart_Pool(t *testing.T) {
	fires(t, pool.SmallPool{}, pooled(committing(0), 10, 60).apart(1, 1), kasoku.High,
		"Requests wait for one of 10 connections")
	keepsQuiet(t, pool.SmallPool{}, pooled(committing(0), 10, 60).apart(0.1, 1.9).alone(), false,
		"the service uses 95.0 % of the database's host's CPU")
}

// TestSmallPool_Limit: a pool that has all that the server allows is not made smaller.
func TestSmallPool_Limit(t *testing.T) {
	f := fires(t, pool.SmallPool{}, pooled(committing(0), 140, 900).measured(), kasoku.High, "connections")
	said := fmt.Sprint(f.Fixes)
	if len(f.Fixes) != 3 || f.Fixes[1].Code != "SET GLOBAL max_connections = 300;" ||
		!strings.Contains(f.Fixes[2].Text, "Let the pool open 213 connections") ||
		!strings.Contains(f.Fixes[0].Text, "Give the connection back") { // few statements run on them
		t.Error(said)
	}
	if strings.Contains(f.Cause, "of them waited") {
		t.Errorf("waits are called requests: %s", f.Cause)
	}
}

// TestDBBound_Statement: statements of initialize, and of no request, are none to begin with.
func TestDBBound_Statement(t *testing.T) {
	b := ladder().cpu(0.1, 1.9).program("10 mysqld", 1.5, 1e9).program("20 shop", 0.2, 1e8)
	b.Phases = []kasoku.Phase{{Kind: kasoku.PhaseInitialize, Interval: kasoku.Interval{To: 3 * time.Second}}}
	loaded := map[int]kasoku.QuerySecond{30: {Calls: 100}}
	b.Queries = []kasoku.Query{
		{ID: "I", Verb: "INSERT", Fingerprint: "insert into orders values(?+)", Calls: 10, Total: 15 * time.Second,
			First: time.Second, Last: 2 * time.Second},
		{ID: "B", Verb: "SELECT", Fingerprint: "select * from backup", Calls: 100, Total: 12 * time.Second,
			First: 30 * time.Second, Last: 31 * time.Second, Seconds: loaded},
		{ID: "S", Verb: "SELECT", Fingerprint: "select a from orders where b = ?", Calls: 100, Total: 4 * time.Second,
			First: 30 * time.Second, Last: 31 * time.Second, Seconds: loaded},
	}
	b.Joins = []kasoku.Join{{Interval: kasoku.Interval{To: 42 * time.Second}}}
	b.Callers = []kasoku.Caller{{QueryID: "S", Method: "GET", Route: "/orders", Share: 1,
		Class: kasoku.CallerConfirmed}}
	f := fires(t, host.DBBound{}, b, kasoku.Medium, "The database, mysqld")
	said := fmt.Sprint(f)
	if !strings.Contains(said, "select a from orders") || strings.Contains(said, "insert into") ||
		strings.Contains(said, "backup") || !strings.Contains(said, "It takes 100 % of the query time") {
		t.Error(said)
	}
}
