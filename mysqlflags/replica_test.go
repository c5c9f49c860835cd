package mysqlflags_test

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	gomysql "github.com/go-sql-driver/mysql"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

var sourceOptions = sandbox.Options{Vars: map[string]string{"log_bin": "binlog", "server_id": "1"}}

// The columns of servers of several ages, as their manuals name them.
func TestReplicaStatus_Ages(t *testing.T) {
	const most = "18446744073709551615"
	f := func(version, statement, columns string) {
		t.Helper()
		names := strings.Fields(columns)
		head, row := make([]any, len(names)), make([]any, len(names))
		values := map[string]string{
			"Host": "db1", "Port": "3306", "Read": most, "Exec": "4", "IO": "Connecting", "SQL": "Yes", "Connection": "east", "Channel": "east",
		}
		for i, name := range names {
			head[i] = name
			first, rest, _ := strings.Cut(name, "_")
			if first == "Master" || first == "Source" || first == "Slave" || first == "Replica" {
				first, _, _ = strings.Cut(rest, "_")
			}
			if v, ok := values[first]; ok && name != "SQL_Delay" && name != "SQL_Remaining_Delay" {
				row[i] = v
			}
		}
		db := fakeDB(t, fake{"SELECT VERSION() AS version": {{"version"}, {version}}, statement: {head, row}})
		got, err := mysqlflags.ReplicaStatus(t.Context(), db)
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %+v, %v", version, got, err)
		}
		r := got[0]
		if r.SourceHost != "db1" || r.SourcePort != 3306 || r.ReadPos != 1<<64-1 || r.ExecPos != 4 || r.IO.String() != "Connecting" || !r.SQL.Yes() || r.Running() {
			t.Errorf("%s: %+v", version, r)
		}
		if _, known := r.Lag(); known {
			t.Errorf("%s: NULL is no lag", version)
		}
		if want := strings.Contains(columns, "_name") || strings.Contains(columns, "_Name"); (r.Channel == "east") != want {
			t.Errorf("%s: channel %q", version, r.Channel)
		}
	}
	const before = "Slave_IO_State Master_Host Master_User Master_Port Connect_Retry Master_Log_File Read_Master_Log_Pos Relay_Log_File Relay_Log_Pos " +
		"Relay_Master_Log_File Slave_IO_Running Slave_SQL_Running Exec_Master_Log_Pos Relay_Log_Space Seconds_Behind_Master Last_IO_Errno Last_IO_Error"
	after := strings.NewReplacer("Master", "Source", "Slave", "Replica").Replace(before)
	f("5.5.62", "SHOW SLAVE STATUS", before)
	f("5.7.44-log", "SHOW SLAVE STATUS", before+" Master_UUID SQL_Delay SQL_Remaining_Delay Slave_SQL_Running_State Channel_Name")
	f("8.0.21", "SHOW SLAVE STATUS", before+" Channel_Name")
	f("8.0.22", "SHOW REPLICA STATUS", after+" Channel_Name")
	f("9.7.0", "SHOW REPLICA STATUS", after+" Source_UUID Get_Source_public_key Channel_Name")
	f("5.5.5-10.4.34-MariaDB-log", "SHOW ALL SLAVES STATUS", "Connection_name Slave_SQL_State "+before+" Using_Gtid Gtid_IO_Pos")
	f("11.8.2-MariaDB", "SHOW ALL SLAVES STATUS", "Connection_name Slave_SQL_State "+before+" Using_Gtid Slave_DDL_Groups")
	f("5.5.68-MariaDB", "SHOW SLAVE STATUS", before)
}

// A statement in the words of one age is understood by a server of the other.
func TestQuery_ReplicaWords(t *testing.T) {
	f := func(asked, understood, column string) {
		t.Helper()
		db := fakeDB(t, fake{understood: {{column, "Seconds_Behind_Source"}, {"Yes", "3"}}})
		var old []struct {
			IO         mysqlflags.Bool `mysqlvar:"Slave_IO_Running"`
			LagSeconds sql.NullInt64   `mysqlvar:"Seconds_Behind_Master"`
		}
		var young []struct {
			IO         mysqlflags.Bool `mysqlvar:"Replica_IO_Running"`
			LagSeconds uint64          `mysqlvar:"Seconds_Behind_Source"`
		}
		q := mysqlflags.Query(db, asked)
		if err := errors.Join(q.Scan(&old), q.Scan(&young)); err != nil || len(old) != 1 || len(young) != 1 {
			t.Fatalf("%q: %+v %+v %v", asked, old, young, err)
		}
		if !old[0].IO.Yes() || !young[0].IO.Yes() || old[0].LagSeconds.Int64 != 3 || young[0].LagSeconds != 3 {
			t.Errorf("%q: %+v %+v", asked, old, young)
		}
	}
	f("SHOW SLAVE STATUS", "SHOW REPLICA STATUS", "Replica_IO_Running")
	f("/* mine */ show slave status;", "show REPLICA status;", "Replica_IO_Running")
	f("SHOW REPLICA STATUS", "SHOW SLAVE STATUS", "Slave_IO_Running")
	f("SHOW REPLICA STATUS FOR CHANNEL 'a  b'", "SHOW SLAVE STATUS FOR CHANNEL 'a  b'", "Slave_IO_Running")
	f("SHOW ALL REPLICAS STATUS", "SHOW ALL SLAVES STATUS", "Slave_IO_Running")
	f("SHOW ALL SLAVES STATUS", "SHOW ALL SLAVES STATUS", "Slave_IO_Running")
	for _, no := range []string{"SHOW SLAVE HOSTS", "SHOW STATUS", "SHOW SLAVE", "/* SHOW SLAVE STATUS", "SELECT 1, 2, 3", "SHOW ALL SLAVE STATUS"} {
		var rows []struct{ A int }
		if err := mysqlflags.Query(fakeDB(t, fake{}), no).Scan(&rows); mysqlflags.ErrorNumber(err) != 1064 {
			t.Errorf("%q: %v", no, err)
		}
	}
}

func TestReplicaStatement(t *testing.T) {
	f := func(version, want string) {
		t.Helper()
		if got := mysqlflags.ReplicaStatement(version); got != want {
			t.Errorf("%q: %s", version, got)
		}
	}
	f("", "SHOW SLAVE STATUS")
	f("8", "SHOW SLAVE STATUS")
	f("8.0.", "SHOW SLAVE STATUS")
	f("8.0.22-0ubuntu0.20.04.2", "SHOW REPLICA STATUS")
	f("8.1.0", "SHOW REPLICA STATUS")
	f("10.0.38-MariaDB", "SHOW ALL SLAVES STATUS")
}

// A real replica: following, stopped, connecting, without rights, with two channels.
func TestReplicaStatus_Server(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sourceOptions, func(t *testing.T, s *sandbox.Server) {
		if got, err := mysqlflags.ReplicaStatus(t.Context(), sandboxtest.DB(t, s, "")); err != nil || len(got) != 0 {
			t.Fatalf("no replica: %+v, %v", got, err)
		}
		r := sandboxtest.Replica(t, s, sandbox.Options{})
		db := sandboxtest.DB(t, r, "")
		status := func() []mysqlflags.Replica {
			t.Helper()
			all, err := mysqlflags.ReplicaStatus(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		var one mysqlflags.Replica
		sandboxtest.Until(t, "a known lag", func() bool {
			all := status()
			one = all[0]
			_, known := one.Lag()
			return known && one.Running()
		})
		if one.SourcePort != uint64(s.Port) || one.SourceHost != "127.0.0.1" || one.SourceUser != "root" || one.SourceID != 1 || one.Channel != "" ||
			one.ExecPos == 0 || one.ReadPos != one.ExecPos || !strings.HasPrefix(one.ExecFile, "binlog.") || one.IOErrno != 0 {
			t.Errorf("%+v", one)
		}
		sandboxtest.Exec(t, db, "STOP REPLICA SQL_THREAD")
		if one = status()[0]; one.SQL.Yes() || !one.IO.Yes() || one.LagSeconds != nil {
			t.Errorf("a stopped thread: %+v", one)
		}
		sandboxtest.Exec(t, db, "START REPLICA SQL_THREAD")
		testChannels(t, r, db, status)
		testOldWords(t, db)
		testReplicaRights(t, r, db)
	})
}

// testChannels adds a channel whose source is not there.
func testChannels(t *testing.T, r *sandbox.Server, db *sql.DB, status func() []mysqlflags.Replica) {
	t.Helper()
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	change, start := "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_USER='root', SOURCE_PORT=%d, SOURCE_CONNECT_RETRY=60 FOR CHANNEL 'second'",
		"START REPLICA FOR CHANNEL 'second'"
	if r.Kind == sandbox.KindMariaDB {
		change, start = "CHANGE MASTER 'second' TO MASTER_HOST='127.0.0.1', MASTER_USER='root', MASTER_PORT=%d, MASTER_CONNECT_RETRY=60", "START SLAVE 'second'"
	}
	sandboxtest.Exec(t, db, fmt.Sprintf(change, port), start)
	var first, second mysqlflags.Replica
	sandboxtest.Until(t, "the second channel", func() bool {
		for _, one := range status() {
			if one.Channel == "second" {
				second = one
			} else {
				first = one
			}
		}
		return second.IOErrno != 0 && first.Running() && first.LagSeconds != nil
	})
	if second.IO.String() != "Connecting" || second.IO.Yes() || !second.SQL.Yes() || !strings.Contains(second.IOError, "127.0.0.1") {
		t.Errorf("connecting: %+v", second)
	}
	if lag, known := second.Lag(); known {
		t.Errorf("lag %v while it looks for its source", lag)
	}
	if lag, known := first.Lag(); !known || lag > time.Minute {
		t.Errorf("lag %v of %+v", lag, first)
	}
}

// testOldWords reads with the words and the struct of a program that knows the old
// names alone.
func testOldWords(t *testing.T, db *sql.DB) {
	t.Helper()
	var rows []struct {
		IO         mysqlflags.Bool `mysqlvar:"Slave_IO_Running"`
		SQL        bool            `mysqlvar:"Slave_SQL_Running"`
		LagSeconds *int64          `mysqlvar:"Seconds_Behind_Master"`
		Pos        uint64          `mysqlvar:"Read_Master_Log_Pos"`
	}
	if err := mysqlflags.Query(db, "SHOW SLAVE STATUS").Scan(&rows); err != nil || len(rows) == 0 || !rows[0].SQL || rows[0].Pos == 0 {
		t.Errorf("%+v, %v", rows, err)
	}
}

func testReplicaRights(t *testing.T, r *sandbox.Server, root *sql.DB) {
	t.Helper()
	sandboxtest.Exec(t, root, "CREATE USER poor@'127.0.0.1'")
	db, err := mysqlflags.OpenDSN(r.DSN("poor", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = mysqlflags.ReplicaStatus(t.Context(), db)
	var refused *gomysql.MySQLError
	if !errors.As(err, &refused) || !strings.Contains(hintOf(err), "GRANT REPLICATION CLIENT") {
		t.Errorf("%v, hint %q", err, hintOf(err))
	}
}

// The struct's columns are all of one spelling, so that an alias finds each.
func TestReplica_Tags(t *testing.T) {
	for f := range reflect.TypeFor[mysqlflags.Replica]().Fields() {
		if tag := f.Tag.Get("mysqlvar"); tag == "" || strings.Contains(tag, "Master") || strings.Contains(tag, "Slave") {
			t.Errorf("%s: %q", f.Name, tag)
		}
	}
}
