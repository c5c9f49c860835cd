package mysqlflags_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// ping opens and pings; the error never holds the password.
func ping(t *testing.T, dsn string) error {
	t.Helper()
	db, err := mysqlflags.OpenDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.PingContext(t.Context())
	if err != nil && strings.Contains(err.Error()+hintOf(err), "geheim") {
		t.Errorf("the error holds the password: %v", err)
	}
	return err
}

func TestServer(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{Vars: map[string]string{"max_connections": "10"}}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE USER anna@localhost IDENTIFIED BY 'geheim'", "CREATE USER anna@'127.0.0.1' IDENTIFIED BY 'geheim'")
		t.Run("query", func(t *testing.T) { testQuery(t, db) })
		t.Run("socket", func(t *testing.T) {
			dsn, err := mysqlflags.FormatDSN("root", "", s.Socket, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := ping(t, dsn); err != nil {
				t.Error(err)
			}
		})
		t.Run("hints", func(t *testing.T) { testHints(t, s) })
		t.Run("too many connections", func(t *testing.T) { testTooMany(t, s) })
	})
}

func testQuery(t *testing.T, db *sql.DB) {
	var threads struct {
		Running   int64  `mysqlvar:"Threads_running"`
		Connected uint64 `mysqlvar:"threads_connected"`
		Other     *int   `mysqlvar:"Threads_imaginary"`
	}
	err := mysqlflags.Query(db, `SHOW GLOBAL STATUS LIKE 'Threads\_%'`).Scan(&threads)
	if err != nil || threads.Running == 0 || threads.Connected == 0 || threads.Other != nil {
		t.Errorf("%+v, %v", threads, err)
	}
	var vars map[string]string
	err = mysqlflags.Query(db, "SHOW GLOBAL VARIABLES LIKE 'max_connections'").Scan(&vars)
	if err != nil || vars["max_connections"] != "10" || len(vars) != 1 {
		t.Errorf("%+v, %v", vars, err)
	}
	var list []struct {
		ID      int64 `mysqlvar:"Id"`
		Command string
		Info    *string
	}
	if err := mysqlflags.Query(db, "SHOW PROCESSLIST").Scan(&list); err != nil || len(list) == 0 || list[0].ID == 0 {
		t.Errorf("%+v, %v", list, err)
	}
	var sum struct{ S int }
	if err := mysqlflags.Query(db, "SELECT ? + ? AS s", 2, 3).Scan(&sum); err != nil || sum.S != 5 {
		t.Errorf("%+v, %v", sum, err)
	}
	if err := mysqlflags.Query(db, "SHOW GLOBAL STATUS LIKE 'no such'").Scan(&threads); !errors.Is(err, mysqlflags.ErrNoRows) {
		t.Error(err)
	}
	err = mysqlflags.Query(db, "SELECT FROM").Scan(&threads)
	if mysqlflags.ErrorNumber(err) != 1064 || !strings.Contains(err.Error(), `query "SELECT FROM"`) {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := mysqlflags.QueryContext(ctx, db, "SELECT SLEEP(60) AS s").Scan(&vars); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func testHints(t *testing.T, s *sandbox.Server) {
	f := func(dsn string, number int, hint string) {
		t.Helper()
		err := ping(t, dsn)
		if mysqlflags.ErrorNumber(err) != number || !strings.Contains(hintOf(err), hint) {
			t.Errorf("%v\nhint: %s", err, hintOf(err))
		}
	}
	f("anna:geheimer@tcp("+s.Addr()+")/", 1045, "GRANT PROCESS")
	f("anna:geheim@tcp("+s.Addr()+")/mysql", 1044, "SHOW DATABASES")
	f("root@tcp("+s.Addr()+")/nowhere", 1049, "SHOW DATABASES")
	if err := ping(t, "anna:geheim@tcp("+s.Addr()+")/"); err != nil {
		t.Error(err)
	}

	// The limits and locks of one user are no matter of max_connections.
	db := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, db, "CREATE USER one@'127.0.0.1' IDENTIFIED BY 'geheim' WITH MAX_USER_CONNECTIONS 1", "CREATE USER locked@'127.0.0.1' IDENTIFIED BY 'geheim' ACCOUNT LOCK")
	first, err := mysqlflags.OpenDSN("one:geheim@tcp(" + s.Addr() + ")/")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if err := first.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	f("one:geheim@tcp("+s.Addr()+")/", 1226, "ALTER USER … WITH MAX_USER_CONNECTIONS")
	locked := map[string]int{sandbox.KindMariaDB: 4151, sandbox.KindMySQL97: 3118}[s.Kind]
	f("locked:geheim@tcp("+s.Addr()+")/", locked, "ACCOUNT UNLOCK")
}

func testTooMany(t *testing.T, s *sandbox.Server) {
	many, err := mysqlflags.OpenDSN("anna:geheim@tcp(" + s.Addr() + ")/")
	if err != nil {
		t.Fatal(err)
	}
	defer many.Close()
	for range 11 {
		c, err := many.Conn(t.Context())
		if err != nil {
			if mysqlflags.ErrorNumber(err) != 1040 || !strings.Contains(hintOf(err), "max_connections") {
				t.Errorf("%v\nhint: %s", err, hintOf(err))
			}
			return
		}
		defer c.Close()
	}
	t.Error("eleven connections to a server that allows ten")
}

// serve answers each connection with f on a loopback port.
func serve(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f(c)
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

func TestHints_NoServer(t *testing.T) {
	f := func(address, message, hint string) {
		t.Helper()
		dsn, err := mysqlflags.FormatDSN("u", "geheim", address, "", map[string]string{"timeout": "200ms", "readTimeout": "200ms"})
		if err != nil {
			t.Fatal(err)
		}
		err = ping(t, dsn)
		if err == nil || !strings.Contains(err.Error(), message) || !strings.Contains(hintOf(err), hint) {
			t.Errorf("%s: %v\nhint: %s", address, err, hintOf(err))
		}
	}
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	closed := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	f(closed, "connect to u@"+closed, "is the server running")
	f("no-such-host.invalid:3306", "connect to u@no-such-host.invalid:3306", "")
	f(t.TempDir()+"/mysql.sock", "no such file", "SELECT @@socket")
	f(serve(t, func(c net.Conn) {}), "connect to", "far end closed")
	f(serve(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }), "connect to", "is it MySQL")
	f(serve(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), "connect to", "no answer in time")
}

func TestExplain(t *testing.T) {
	if mysqlflags.Explain(nil) != nil {
		t.Error("an error out of nothing")
	}
	plain := errors.New("plain")
	if mysqlflags.Explain(plain) != plain || mysqlflags.ErrorNumber(plain) != 0 {
		t.Error("a plain error is altered")
	}
}
