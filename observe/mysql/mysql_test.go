package mysql

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gomysql "github.com/go-sql-driver/mysql"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/observe"
)

var (
	_ observe.EventSource   = (*Source)(nil)
	_ observe.WarningSource = (*Source)(nil)
	_ reader                = (*mysql.Reader)(nil)
)

// A server is a reader that answers as the test sets it.
type server struct {
	status  []mysql.Value
	err     error // of every answer
	trxErr  error
	hangs   bool
	notices []mysql.Notice
	logins  []time.Time
	closed  int
}

func (s *server) source() *Source {
	return &Source{connect: func(context.Context) (reader, error) {
		s.logins = append(s.logins, time.Now())
		if s.err != nil {
			return nil, s.err
		}
		return s, nil
	}}
}

func (s *server) ReadStatus(ctx context.Context, to *mysql.Status) error {
	if s.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	to.Values = append(to.Values[:0], s.status...)
	return s.err
}

func (s *server) Sessions(context.Context) (mysql.Sessions, error) {
	return mysql.Sessions{Sleep: 3, Query: 2, Other: 1, By: []mysql.SessionCount{{Command: "Binlog Dump GTID", Count: 2}}}, s.err
}

func (s *server) Transactions(context.Context) (mysql.Transactions, error) {
	return mysql.Transactions{Active: 4, Waiting: 2, Oldest: 1500 * time.Millisecond}, errors.Join(s.err, s.trxErr)
}

func (s *server) Notices() []mysql.Notice {
	out := s.notices
	s.notices = nil
	return out
}

func (s *server) Statements() uint64 { return 0 }

func (s *server) Close() error {
	s.closed++
	return nil
}

func TestCollect(t *testing.T) {
	srv := &server{status: []mysql.Value{
		{Name: "Threads_connected", Value: 7}, {Name: "Questions", Value: 100},
		{Name: "Innodb_row_lock_time", Value: 12}, {Name: "Bytes_sent", Value: 5},
	}}
	s := srv.source()
	var frame kasoku.Frame
	if err := s.Collect(t.Context(), &frame); err != nil {
		t.Fatal(err)
	}
	want := []kasoku.Sample{
		{Name: "up", Unit: "ratio", Value: 1},
		{Name: "Threads_connected", Unit: "count", Value: 7},
		{Name: "Questions", Unit: "count", Kind: kasoku.Counter, Value: 100},
		{Name: "Innodb_row_lock_time", Unit: "ms", Kind: kasoku.Counter, Value: 12},
		{Name: "Bytes_sent", Unit: "bytes", Kind: kasoku.Counter, Value: 5},
		{Name: "trx.active", Unit: "count", Value: 4},
		{Name: "trx.oldest", Unit: "s", Value: 1.5},
		{Name: "trx.waiting", Unit: "count", Value: 2},
		{Name: "conn.sleep", Unit: "count", Value: 3},
		{Name: "conn.query", Unit: "count", Value: 2},
		{Name: "conn.other", Unit: "count", Value: 1},
		{Name: "conn.replicas", Unit: "count", Value: 2},
		{Name: "conn.state", Instance: "Binlog Dump GTID", Unit: "count", Value: 2},
	}
	if len(frame.Samples) != len(want) {
		t.Fatalf("%+v", frame.Samples)
	}
	for i, got := range frame.Samples {
		if got != want[i] {
			t.Fatalf("%+v, want %+v", got, want[i])
		}
	}
	if err := s.Close(); err != nil || srv.closed != 1 {
		t.Fatal(err, srv.closed)
	}
}

// The kinds follow the names when the server, after an upgrade or restart, gives
// its variables in another order.
func TestOrderChanges(t *testing.T) {
	srv := &server{status: []mysql.Value{{Name: "Threads_running"}, {Name: "Connections"}}}
	s := srv.source()
	f := func(want ...kasoku.Kind) {
		t.Helper()
		var frame kasoku.Frame
		if err := s.Collect(t.Context(), &frame); err != nil {
			t.Fatal(err)
		}
		for i, k := range want {
			if got := frame.Samples[i+1]; got.Kind != k || got.Name != srv.status[i].Name {
				t.Fatalf("%+v", got)
			}
		}
	}
	f(kasoku.Gauge, kasoku.Counter)
	srv.status = []mysql.Value{{Name: "Connections"}, {Name: "Threads_running"}, {Name: "Queries"}}
	f(kasoku.Counter, kasoku.Gauge, kasoku.Counter)
}

// However often it is asked, a server that refuses is asked for a connection at
// most once a second.
func TestAtMostOneLoginPerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &server{err: errors.New("access denied")}
		s := srv.source()
		for range 50 {
			if err := s.Collect(t.Context(), &kasoku.Frame{}); !errors.Is(err, srv.err) {
				t.Fatal(err)
			}
			<-time.After(100 * time.Millisecond)
		}
		if len(srv.logins) != 5 {
			t.Fatalf("%d attempts in 5 s", len(srv.logins))
		}
		for i := 1; i < len(srv.logins); i++ {
			if srv.logins[i].Sub(srv.logins[i-1]) < time.Second {
				t.Fatal(srv.logins)
			}
		}
		srv.err = nil
		<-time.After(time.Second)
		if err := s.Collect(t.Context(), &kasoku.Frame{}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestHangingServerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &server{hangs: true}
		began := time.Now()
		if err := srv.source().Collect(t.Context(), &kasoku.Frame{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if got := time.Since(began); got != answerLimit {
			t.Fatal(got)
		}
	})
}

func TestMissingPrivilege(t *testing.T) {
	srv := &server{trxErr: &gomysql.MySQLError{Number: accessDenied, Message: "you need the PROCESS privilege"}}
	s := srv.source()
	for range 2 {
		var frame kasoku.Frame
		if err := s.Collect(t.Context(), &frame); err != nil {
			t.Fatal(err)
		}
		for _, sample := range frame.Samples {
			if strings.HasPrefix(sample.Name, "conn.") || strings.HasPrefix(sample.Name, "trx.") {
				t.Fatalf("%+v", sample)
			}
		}
	}
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0].Hint, "GRANT PROCESS") {
		t.Fatalf("%+v", w)
	}
}

func TestEvents(t *testing.T) {
	srv := &server{}
	s := srv.source()
	if e := s.Events(); e != nil {
		t.Fatal(e)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Collect(t.Context(), &kasoku.Frame{}); err != nil {
		t.Fatal(err)
	}
	srv.notices = []mysql.Notice{{Kind: mysql.Restarted, Text: "server restarted: up for 3 s"}}
	e := s.Events()
	if len(e) != 1 || e[0] != (kasoku.Event{Kind: "restart", Text: "server restarted: up for 3 s"}) {
		t.Fatal(e)
	}
	if e := s.Events(); e != nil {
		t.Fatal(e)
	}
}

func TestKinds(t *testing.T) {
	f := func(kind kasoku.Kind, names string) {
		t.Helper()
		for name := range strings.FieldsSeq(names) {
			if kindOf(name) != kind {
				t.Fatalf("%s: kind %d", name, kindOf(name))
			}
		}
	}
	f(kasoku.Gauge, "Threads_connected Threads_running Threads_cached Open_files Open_tables Max_used_connections Uptime")
	f(kasoku.Gauge, "Innodb_row_lock_current_waits Innodb_buffer_pool_pages_free Prepared_stmt_count Acl_users")
	f(kasoku.Counter, "Threads_created Opened_tables Connections Questions Com_select Aborted_connects Max_statement_time_exceeded")
	f(kasoku.Counter, "Innodb_buffer_pool_pages_flushed Innodb_row_lock_time Innodb_row_lock_waits Connection_errors_max_connections")
	for name := range units {
		if u := unitOf(name); u == "" || u == "count" {
			t.Fatal(name)
		}
	}
}
