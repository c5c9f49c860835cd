package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gomysql "github.com/go-sql-driver/mysql"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe"
)

var (
	_ observe.EventSource = (*Replication)(nil)
	_ observe.Source      = (*Digests)(nil)
	_ observe.Source      = (*Tables)(nil)
	_ detailReader        = serverDetails{}
)

// A deep is a reader of details that answers as the test sets it.
type deep struct {
	replicas []mysqlflags.Replica
	digests  mysql.ActiveDigests
	uses     []mysql.Use
	off      bool
	err      error
	asked    int
	within   []time.Duration
}

func (d *deep) detail() *Detail {
	return newDetail(func(s string) (string, string) { return strings.ToLower(s), "" }, func(context.Context) (detailReader, error) { return d, nil })
}

func (d *deep) Replication(context.Context) ([]mysqlflags.Replica, error) {
	d.asked++
	return d.replicas, d.err
}

func (d *deep) ActiveDigests(_ context.Context, within time.Duration, _ int) (mysql.ActiveDigests, bool, error) {
	d.asked++
	d.within = append(d.within, within)
	return d.digests, !d.off, d.err
}

func (d *deep) TableUse(context.Context, int) ([]mysql.Use, bool, error) {
	d.asked++
	return d.uses, !d.off, d.err
}

func (d *deep) Statements() uint64 { return uint64(d.asked) }
func (d *deep) Close() error       { return nil }

type collector interface {
	Collect(context.Context, *kasoku.Frame) error
}

// read collects once and prints the samples.
func read(t *testing.T, s collector) string {
	t.Helper()
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err != nil {
		return "error: " + err.Error()
	}
	var out []string
	for _, x := range f.Samples {
		out = append(out, fmt.Sprint(strings.TrimSpace(x.Name+" "+x.Instance), "=", x.Value))
	}
	return strings.Join(out, ", ")
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestReplication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &deep{}
		s := srv.detail().Replication
		for range 20 { // no replica: asked every ten seconds
			equal(t, read(t, s), "")
			<-time.After(time.Second)
		}
		if srv.asked != 2 {
			t.Errorf("asked %d times", srv.asked)
		}
		yes, three := mysqlflags.NewBool("Yes"), int64(3)
		srv.replicas = []mysqlflags.Replica{{Channel: "a", IO: yes, SQL: yes, LagSeconds: &three, ReadFile: "f", ExecFile: "f", ReadPos: 30, ExecPos: 10, RelayLogSpace: 7}}
		equal(t, read(t, s), "lag a=3, io.running a=1, io.connecting a=0, sql.running a=1, relay.space a=7, pending a=20")
		<-time.After(time.Second)
		srv.replicas[0].IO, srv.replicas[0].IOError, srv.replicas[0].ExecFile = mysqlflags.NewBool("Connecting"), "no route", "e"
		equal(t, read(t, s), "io.running a=0, io.connecting a=1, sql.running a=1, relay.space a=7")
		if e := s.Events(); len(e) != 1 || e[0].Text != "replication stopped: IO Connecting, SQL Yes, channel a: no route" {
			t.Error(e)
		}
		<-time.After(time.Second)
		srv.replicas[0].IO, srv.replicas[0].Delay = yes, 60
		equal(t, read(t, s), "lag a=3, io.running a=1, io.connecting a=0, sql.running a=1, relay.space a=7, delay a=60")
		if e := s.Events(); len(e) != 1 || e[0].Text != "replication runs again, channel a" || s.Events() != nil {
			t.Error(e)
		}
	})
}

// A missing right is one gap without end, and is asked for every ten seconds; a
// server that is away is reported by the source of the status alone.
func TestDetail_Refused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &deep{err: &gomysql.MySQLError{Number: accessDenied, Message: "no"}}
		d := srv.detail()
		for range 20 {
			if got := read(t, d.Replication); !strings.Contains(got, "no") {
				t.Fatal(got)
			}
			<-time.After(time.Second)
		}
		if srv.asked != 2 || d.Statements() != 2 {
			t.Errorf("asked %d times", srv.asked)
		}
		srv.err = errors.New("connection refused")
		for _, s := range []collector{d.Replication, d.Digests, d.Tables} {
			equal(t, read(t, s), "")
		}
		srv.err = context.DeadlineExceeded
		<-time.After(time.Second)
		equal(t, read(t, d.Tables), "error: context deadline exceeded")
		if err := d.Release(); err != nil || d.Statements() != 0 {
			t.Error(err)
		}
	})
}

func TestDigests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		count := func(schema, text string, calls uint64) mysql.DigestCount {
			return mysql.DigestCount{Key: mysql.DigestKey{Schema: schema, ID: text}, Text: text, Calls: calls, Total: time.Duration(calls) * time.Second, RowsExamined: 9}
		}
		srv := &deep{off: true}
		s := srv.detail().Digests
		equal(t, read(t, s), "")
		srv.off = false
		srv.digests = mysql.ActiveDigests{Classes: []mysql.DigestCount{count("a", "SELECT 1", 5), count("b", "SELECT 1", 1)}, Lost: 4}
		equal(t, read(t, s), "") // too early
		<-time.After(10 * time.Second)
		equal(t, read(t, s), "calls select 1=6, time select 1=6, rows.examined select 1=18, rows.sent select 1=0, lost=4, dropped=0")
		srv.digests.Classes = []mysql.DigestCount{count("b", "SELECT 1", 3)} // that of a is idle
		<-time.After(10 * time.Second)
		equal(t, read(t, s), "calls select 1=8, time select 1=8, rows.examined select 1=18, rows.sent select 1=0, lost=4, dropped=0")
		if len(srv.within) != 3 || srv.within[1] < 10*time.Second || srv.within[2] < 10*time.Second {
			t.Error(srv.within)
		}
		for i := range mostDigests + 10 {
			srv.digests.Classes = append(srv.digests.Classes, count("a", fmt.Sprint("SELECT ", i+2), 1))
		}
		<-time.After(10 * time.Second)
		if got := read(t, s); !strings.HasSuffix(got, "dropped=11") || strings.Count(got, "calls ") != mostDigests {
			t.Errorf("%.200s … %s", got, got[max(0, len(got)-40):])
		}
	})
}

// TestDetail_Others: nothing is read until it is known whose the schemas are, and of those that
// are others' nothing is kept.
func TestDetail_Others(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &deep{uses: []mysql.Use{{Schema: "blog", Table: "posts", Read: 1}, {Schema: "shop", Table: "items", Read: 2}}}
		for schema, text := range map[string]string{"blog": "SELECT 1", "shop": "SELECT 2"} {
			srv.digests.Classes = append(srv.digests.Classes, mysql.DigestCount{Key: mysql.DigestKey{Schema: schema, ID: text}, Text: text, Calls: 3})
		}
		ready, d := false, srv.detail()
		d.Of = Owners{Ready: func() bool { return ready }, Others: func(schema, _ string) bool { return schema == "blog" }}
		equal(t, read(t, d.Digests)+read(t, d.Tables), "")
		if srv.asked != 0 {
			t.Error("it was asked too early")
		}
		ready = true
		equal(t, read(t, d.Digests), "calls select 2=3, time select 2=0, rows.examined select 2=0, rows.sent select 2=0, lost=0, dropped=0")
		equal(t, read(t, d.Tables), "rows.read shop.items=2, rows.written shop.items=0")
	})
}

// TestDetail_OthersLater: what is seen to be others' after it had series is named as others'; a statement that the
// service runs too is not.
func TestDetail_OthersLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &deep{uses: []mysql.Use{{Schema: "blog", Table: "posts", Read: 1}, {Schema: "blog", Table: "posts", Index: "day", Read: 1},
			{Schema: "shop", Table: "items", Read: 2}}}
		for _, c := range [][2]string{{"blog", "SELECT 1"}, {"blog", "SELECT 2"}, {"shop", "SELECT 2"}, {"shop", "SELECT 3"}} {
			srv.digests.Classes = append(srv.digests.Classes, mysql.DigestCount{Key: mysql.DigestKey{Schema: c[0], ID: c[1]}, Text: c[1], Calls: 3})
		}
		d, seen := srv.detail(), false
		d.Of.Others = func(schema, _ string) bool { return seen && schema == "blog" }
		read(t, d.Digests)
		read(t, d.Tables)
		for _, seen = range []bool{false, true} {
			for name, others := range map[string]bool{"select 1": true, "select 2": false, "select 3": false, "select 4": false} {
				if d.Digests.IsOthers(name) != (seen && others) {
					t.Errorf("seen %t: %s is others' %t", seen, name, !others)
				}
			}
			for name, others := range map[string]bool{"blog.posts": true, "blog.posts.day": true, "shop.items": false, "": false} {
				if d.Tables.IsOthers(name) != (seen && others) {
					t.Errorf("seen %t: %s is others' %t", seen, name, !others)
				}
			}
		}
	})
}

// A class that joins a series counts from then on, a new one all that it did; one that missed a cut answer has
// no value.
func TestDigests_JoinAndCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		count := func(schema, text string, calls uint64) mysql.DigestCount {
			return mysql.DigestCount{Key: mysql.DigestKey{Schema: schema, ID: text}, Text: text, Calls: calls, Total: time.Duration(calls) * time.Second}
		}
		srv := &deep{}
		s := srv.detail().Digests
		f := func(want string, cut uint64, classes ...mysql.DigestCount) {
			t.Helper()
			srv.digests = mysql.ActiveDigests{Classes: classes, Cut: cut}
			var calls []string
			for part := range strings.SplitSeq(read(t, s), ", ") {
				if strings.HasPrefix(part, "calls") || strings.HasPrefix(part, "time") || strings.HasPrefix(part, "dropped") {
					calls = append(calls, part)
				}
			}
			equal(t, strings.Join(calls, ", "), want)
			<-time.After(10 * time.Second)
		}
		f("calls x=5, time x=5, calls y=1, time y=1, dropped=0", 0, count("a", "X", 5), count("a", "Y", 1))
		f("calls x=6, time x=6, calls y=1, time y=1, dropped=0", 0, count("a", "X", 6), count("b", "X", 1000))
		f("calls x=10, time x=10, dropped=7", 7, count("a", "X", 7), count("b", "X", 1003))
		f("calls y=2, time y=2, dropped=7", 7, count("a", "Y", 2))
		f("calls x=9, time x=9, calls y=2, time y=2, dropped=0", 0, count("a", "X", 7), count("b", "X", 2)) // b anew
		fresh := count("c", "X", 30)                                                                        // on the server since the last reading: all of it is new
		fresh.New = true
		f("calls x=39, time x=39, calls y=2, time y=2, dropped=0", 0, fresh)
		f("dropped=3", 3, fresh)
		late := count("d", "X", 500) // perhaps it ran before, and was cut off
		late.New = true
		f("calls x=40, time x=40, calls y=2, time y=2, dropped=0", 0, late, count("c", "X", 31))
	})
}

// The server began anew, and a class that joined late has more calls than before by the
// next reading: what it did since counts, and nothing falls below zero.
func TestDigests_Restart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		count := func(schema string, calls, rows uint64) mysql.DigestCount {
			return mysql.DigestCount{Key: mysql.DigestKey{Schema: schema, ID: "X"}, Text: "X", Calls: calls, Total: time.Duration(rows) * time.Second, RowsExamined: rows, RowsSent: rows}
		}
		srv := &deep{}
		s := srv.detail().Digests
		for _, tick := range []struct {
			classes []mysql.DigestCount
			want    string
		}{
			{[]mysql.DigestCount{count("a", 100, 100)}, "calls x=100, time x=100, rows.examined x=100, rows.sent x=100, lost=0, dropped=0"},
			{[]mysql.DigestCount{count("b", 10, 1000)}, "calls x=100, time x=100, rows.examined x=100, rows.sent x=100, lost=0, dropped=0"},
			{[]mysql.DigestCount{count("a", 50, 50), count("b", 40, 40)}, "calls x=90, time x=90, rows.examined x=90, rows.sent x=90, lost=0, dropped=0"},
		} {
			srv.digests = mysql.ActiveDigests{Classes: tick.classes}
			equal(t, read(t, s), tick.want)
			<-time.After(10 * time.Second)
		}
	})
}

// Statements that begin alike have names of their own.
func TestShortenTo(t *testing.T) {
	text := strings.Repeat("x", 200)
	if got, want := shortenTo(text, "0123456789abcdef012"), strings.Repeat("x", 140)+"… 0123456789abcdef"; got != want || len(got) != longestName {
		t.Errorf("%q", got)
	}
	if got := shortenTo("short", "id"); got != "short" {
		t.Errorf("%q", got)
	}
}

func TestTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &deep{uses: []mysql.Use{
			{Schema: "d", Table: "t", Read: 5, Written: 2, Reading: time.Second},
			{Schema: "d", Table: "t", Index: "PRIMARY", Read: 3},
		}}
		s := srv.detail().Tables
		want := "rows.read d.t=5, rows.written d.t=2, read.time d.t=1, write.time d.t=0, index.rows.read d.t.PRIMARY=3"
		equal(t, read(t, s), want)
		srv.uses = nil
		for i := range mostUses + 5 {
			srv.uses = append(srv.uses, mysql.Use{Schema: "d", Table: fmt.Sprint("u", i)}, mysql.Use{Schema: "d", Table: "t", Index: fmt.Sprint("i", i)})
		}
		<-time.After(10 * time.Second)
		got := read(t, s)
		if !strings.HasPrefix(got, want) || strings.Count(got, "index.") != mostUses || strings.Count(got, ", rows.read ") != mostUses-1 {
			t.Error(got)
		}
	})
}

func TestShorten(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := shorten(in); got != want || len(got) > longestName {
			t.Errorf("%q: %q", in, got)
		}
	}
	f("", "")
	f(" a\n\tb ", "a b")
	f("a\xffb", "a?b")
	f(strings.Repeat("あ", 60), strings.Repeat("あ", 52)+"…")
	f(strings.Repeat("x", 161), strings.Repeat("x", 157)+"…")
}

func TestStates(t *testing.T) {
	s := &Source{}
	f := func(want string, by ...mysql.SessionCount) {
		t.Helper()
		var frame kasoku.Frame
		s.emitStates(&frame, mysql.Sessions{By: by})
		var out []string
		for _, x := range frame.Samples {
			out = append(out, fmt.Sprint(x.Instance, "=", x.Value))
		}
		equal(t, strings.Join(out, ", "), want)
	}
	c := func(command, state string, n int) mysql.SessionCount {
		return mysql.SessionCount{Command: command, State: state, Count: n}
	}
	f("Query: init=2, Connect=1", c("Sleep", "", 9), c("Query", "init", 2), c("Connect", "", 1))
	f("Query: init=0, Connect=3, Query=1", c("Connect", "", 3), c("Query", "", 1))
	for i := range 50 {
		var frame kasoku.Frame
		s.emitStates(&frame, mysql.Sessions{By: []mysql.SessionCount{c("Query", fmt.Sprint("state ", i), 1), c("Query", "init", 1)}})
		if len(frame.Samples) > mostStates+1 || frame.Samples[0].Value != 1 {
			t.Fatalf("%+v", frame.Samples)
		}
	}
	if last := s.states[len(s.states)-1]; last.name != "other" || last.count != 1 || len(s.states) != mostStates+1 {
		t.Error(s.states)
	}
}
