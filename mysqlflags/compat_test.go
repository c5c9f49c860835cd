package mysqlflags_test

import (
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/jessevdk/go-flags"

	"github.com/kasoku/kasoku/mysqlflags"
)

// The functions and methods of go-mysqlflags 0.1.1, with their signatures.
var (
	_ func(mysqlflags.MyOpts, time.Duration, bool) (string, error)     = mysqlflags.CreateDSN
	_ func(mysqlflags.MyOpts, time.Duration, bool) (*sql.DB, error)    = mysqlflags.OpenDB
	_ func(*sql.DB, string, ...interface{}) *mysqlflags.QueryMap       = mysqlflags.Query
	_ interface{ Scan(interface{}) error }                             = (*mysqlflags.QueryMap)(nil)
	_ interface{ Yes() bool }                                          = mysqlflags.Bool{}
	_ fmt.Stringer                                                     = mysqlflags.Bool{}
	_ func(mysqlflags.MyOpts) (string, string, string, string, string) = func(o mysqlflags.MyOpts) (a, b, c, d, e string) {
		var _ *string = o.MySQLPass
		var _ map[string]string = o.MySQLDSNParams
		return o.MySQLDefaultsExtraFile, o.MySQLSocket, o.MySQLHost, o.MySQLPort, o.MySQLUser + o.MySQLDBName
	}
)

// What follows is a program as people wrote it for go-mysqlflags 0.1.1, but for its
// import and where its output goes. That it compiles and runs is the test.

type opts struct {
	mysqlflags.MyOpts
	Timeout time.Duration `long:"timeout" default:"5s" description:"Timeout to connect mysql"`
	Version bool          `short:"v" long:"version" description:"Show version"`
}

type slave struct {
	IORunning  mysqlflags.Bool `mysqlvar:"Slave_IO_Running"`
	SQLRunning mysqlflags.Bool `mysqlvar:"Slave_SQL_Running"`
	ChannelOpt *string         `mysqlvar:"Channel_Name"`
	Seconds    int64           `mysqlvar:"Seconds_Behind_Master"`
}

type threads struct {
	Running   int64 `mysqlvar:"Threads_running"`
	Connected int64 `mysqlvar:"Threads_connected"`
}

func showSlave(db *sql.DB, w io.Writer) error {
	var slaves []slave
	if err := mysqlflags.Query(db, "SHOW SLAVE STATUS").Scan(&slaves); err != nil {
		return err
	}
	for _, s := range slaves {
		fmt.Fprintln(w, s.IORunning.Yes() && s.SQLRunning.Yes(), s.IORunning, s.Seconds)
	}
	var t threads
	if err := mysqlflags.Query(db, "SHOW GLOBAL STATUS LIKE ?", `Threads\_%`).Scan(&t); err != nil {
		return err
	}
	fmt.Fprintln(w, t.Running, t.Connected)
	return nil
}

func program(args []string, w io.Writer) (*sql.DB, error) {
	var o opts
	psr := flags.NewParser(&o, flags.HelpFlag|flags.PassDoubleDash)
	if _, err := psr.ParseArgs(args); err != nil {
		return nil, err
	}
	dsn, err := mysqlflags.CreateDSN(o.MyOpts, o.Timeout, false)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(w, dsn)
	return mysqlflags.OpenDB(o.MyOpts, o.Timeout, false)
}

func Example_program() {
	// It does not matter what this machine has as my.cnf: all is said here.
	db, err := program([]string{"-H", "db1", "-p", "3307", "-u", "monitor", "-P", "a:@/", "--database", "shop"}, os.Stdout)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = db.Close()
	// A server that knows the new words alone.
	db = fake{
		"SHOW REPLICA STATUS":       {{"Replica_IO_Running", "Replica_SQL_Running", "Seconds_Behind_Source"}, {"Connecting", "Yes", nil}},
		"SHOW GLOBAL STATUS LIKE ?": {{"Variable_name", "Value"}, {"Threads_running", "2"}, {"Threads_connected", "9"}},
	}.open()
	defer db.Close()
	if err := showSlave(db, os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// monitor:a:@/@tcp(db1:3307)/shop?timeout=5s
	// false Connecting 0
	// 2 9
}

// The flags are those of 0.1.1, and further ones that do not collide with them.
func TestMyOpts_Tags(t *testing.T) {
	f := func(field, short, long string) {
		t.Helper()
		sf, ok := reflect.TypeFor[mysqlflags.MyOpts]().FieldByName(field)
		if !ok || sf.Tag.Get("short") != short || sf.Tag.Get("long") != long {
			t.Errorf("%s: %q", field, sf.Tag)
		}
	}
	f("MySQLDefaultsExtraFile", "", "defaults-extra-file")
	f("MySQLSocket", "", "mysql-socket")
	f("MySQLHost", "H", "host")
	f("MySQLPort", "p", "port")
	f("MySQLUser", "u", "user")
	f("MySQLPass", "P", "password")
	f("MySQLDBName", "", "database")
	f("MySQLDSNParams", "", "")
}

// On a command line, a flag that was given beats my.cnf, also with the value of the
// default; one that was not given leaves it alone.
func TestMyOpts_WasSet(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	err := os.WriteFile(filepath.Join(home, ".my.cnf"), []byte("[client]\nuser=homer\nhost=springfield\nport=742\npassword=donut\nssl\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f := func(want string, args ...string) {
		t.Helper()
		var o opts
		if _, err := flags.NewParser(&o, flags.Default).ParseArgs(args); err != nil {
			t.Fatal(err)
		}
		got, err := mysqlflags.CreateDSN(o.MyOpts, 0, false)
		if err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", args, got, err, want)
		}
	}
	f("homer:donut@tcp(springfield:742)/?tls=skip-verify")
	f("homer:donut@tcp(localhost:742)/?tls=skip-verify", "--host", "localhost")
	f("root:donut@tcp(springfield:3306)/?tls=skip-verify", "-u", "root", "-p3306")
	f("homer@tcp(springfield:742)/?tls=skip-verify", "--password", "")
	f("homer:donut@tcp(springfield:742)/", "--ssl-mode", "DISABLED")
	f("homer:donut@tcp(springfield:742)/?tls=true", "--ssl-verify-server-cert")
	f("homer:donut@unix(/s)/?tls=skip-verify", "--mysql-socket=/s")
	for _, p := range []string{`"abc"`, `"a\n"`, `"`, `'x'`, `"a"b"`} { // go-flags takes quotes for its own, or stops at them
		f("homer:"+p+"@tcp(springfield:742)/?tls=skip-verify", "-P", p)
		f("homer:"+p+"@tcp(springfield:742)/?tls=skip-verify", "-P"+p)
		f("homer:"+p+"@tcp(springfield:742)/?tls=skip-verify", "--password="+p)
	}
}
