package mysqlflags

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Replica is what a server says of one source that it replicates from. The
// columns are found by their old names and by their new ones. A column that the
// server does not have leaves its field zero.
//
// Sources: MySQL 5.7 manual "SHOW SLAVE STATUS Statement", 9.7 "SHOW REPLICA STATUS
// Statement"; MariaDB documentation "SHOW REPLICA STATUS".
type Replica struct {
	Channel    string `mysqlvar:"Channel_Name,optional"` // MariaDB's Connection_name; empty is the default one
	SourceHost string `mysqlvar:"Source_Host,optional"`
	SourcePort uint64 `mysqlvar:"Source_Port,optional"`
	SourceUser string `mysqlvar:"Source_User,optional"`
	SourceID   uint64 `mysqlvar:"Source_Server_Id,optional"`
	SourceUUID string `mysqlvar:"Source_UUID,optional"` // MySQL

	IO       Bool   `mysqlvar:"Replica_IO_Running"`  // Yes, No, Connecting or Preparing
	SQL      Bool   `mysqlvar:"Replica_SQL_Running"` // Yes or No
	IOState  string `mysqlvar:"Replica_IO_State,optional"`
	SQLState string `mysqlvar:"Replica_SQL_Running_State,optional"`

	// LagSeconds is how many seconds it lags its source; nil when the server does
	// not know, as while a thread is stopped.
	LagSeconds     *int64 `mysqlvar:"Seconds_Behind_Source"`
	Delay          uint64 `mysqlvar:"SQL_Delay,optional"`           // that was asked for, in seconds
	RemainingDelay *int64 `mysqlvar:"SQL_Remaining_Delay,optional"` // of it, nil when nothing waits

	ReadFile      string `mysqlvar:"Source_Log_File,optional"` // how far it has fetched the source's log
	ReadPos       uint64 `mysqlvar:"Read_Source_Log_Pos,optional"`
	ExecFile      string `mysqlvar:"Relay_Source_Log_File,optional"` // how far it has applied it
	ExecPos       uint64 `mysqlvar:"Exec_Source_Log_Pos,optional"`
	RelayLogFile  string `mysqlvar:"Relay_Log_File,optional"`
	RelayLogPos   uint64 `mysqlvar:"Relay_Log_Pos,optional"`
	RelayLogSpace uint64 `mysqlvar:"Relay_Log_Space,optional"` // bytes of all relay logs

	IOErrno  uint64 `mysqlvar:"Last_IO_Errno,optional"` // 0 is none
	IOError  string `mysqlvar:"Last_IO_Error,optional"`
	SQLErrno uint64 `mysqlvar:"Last_SQL_Errno,optional"`
	SQLError string `mysqlvar:"Last_SQL_Error,optional"`

	UsingGTID    string `mysqlvar:"Using_Gtid,optional"`         // MariaDB: No, Slave_Pos, Current_Pos
	AutoPosition Bool   `mysqlvar:"Auto_Position,optional"`      // MySQL
	Retrieved    string `mysqlvar:"Retrieved_Gtid_Set,optional"` // MySQL
	Executed     string `mysqlvar:"Executed_Gtid_Set,optional"`  // MySQL
	IOPos        string `mysqlvar:"Gtid_IO_Pos,optional"`        // MariaDB
}

// Running reports whether both threads run. One that is connecting does not.
func (r *Replica) Running() bool { return r.IO.Yes() && r.SQL.Yes() }

// Lag returns how far the replica lags its source. ok is false when the server
// does not know, and while it is not connected to its source: MySQL says 0 then, of
// what it has fetched before.
func (r *Replica) Lag() (lag time.Duration, ok bool) {
	if r.LagSeconds == nil || !r.IO.Yes() {
		return 0, false
	}
	return time.Duration(*r.LagSeconds) * time.Second, true
}

// hintReplica names the privilege: MySQL's, and MariaDB's since 10.5.
const hintReplica = "the status of replication needs a privilege of its own; as an administrator: " +
	"GRANT REPLICATION CLIENT ON *.* TO …, on MariaDB since 10.5 GRANT REPLICA MONITOR ON *.* TO …"

// ReplicaStatus returns what a server says of each source that it replicates from,
// none for a server that is no replica. It asks the version first, then in the words
// that this version knows: MySQL from 5.5 on, MariaDB from 5.5 on, channels included.
func ReplicaStatus(ctx context.Context, db Querier) ([]Replica, error) {
	var server struct{ Version string }
	if err := QueryContext(ctx, db, "SELECT VERSION() AS version").Scan(&server); err != nil {
		return nil, fmt.Errorf("replica status: %w", err)
	}
	return replicasOf(QueryContext(ctx, db, ReplicaStatement(server.Version)))
}

// ReplicaStatusOf is [ReplicaStatus] of a server whose answer to SELECT VERSION() is
// known, for those who ask each second. The comment, such as "/* mine */", is put in
// front of the statement; it may be empty.
func ReplicaStatusOf(ctx context.Context, db Querier, version, comment string) ([]Replica, error) {
	return replicasOf(QueryContext(ctx, db, strings.TrimSpace(comment+" "+ReplicaStatement(version))))
}

func replicasOf(q *QueryMap) (all []Replica, err error) {
	if err := q.Scan(&all); err != nil {
		err = fmt.Errorf("replica status: %w", err)
		if ErrorNumber(err) == 1227 {
			err = &Error{Err: err, hint: hintReplica}
		}
		return nil, err
	}
	return all, nil
}

// ReplicaStatement returns the statement that shows the status of all channels on a
// server of a version, as SELECT VERSION() gives it.
func ReplicaStatement(version string) string {
	if strings.Contains(strings.ToLower(version), "mariadb") {
		// Old ones put 5.5.5- in front for the sake of replication.
		if atLeast(strings.TrimPrefix(version, "5.5.5-"), 10, 0, 0) {
			return "SHOW ALL SLAVES STATUS"
		}
		return "SHOW SLAVE STATUS"
	}
	if atLeast(version, 8, 0, 22) {
		return "SHOW REPLICA STATUS"
	}
	return "SHOW SLAVE STATUS"
}

// atLeast compares the three numbers that a version begins with.
func atLeast(version string, least ...int) bool {
	parts := strings.SplitN(version, ".", len(least))
	for i, want := range least {
		if i >= len(parts) {
			return false
		}
		digits := len(parts[i]) - len(strings.TrimLeft(parts[i], "0123456789"))
		n, err := strconv.Atoi(parts[i][:digits])
		if err != nil {
			return false
		}
		if n != want {
			return n > want
		}
	}
	return true
}

// replicaQuery reports whether a statement asks for the status of a replica, and
// returns it in the other words.
func replicaQuery(query string) (other string, is bool) {
	body := strings.TrimSpace(query)
	for strings.HasPrefix(body, "/*") {
		end := strings.Index(body, "*/")
		if end < 0 {
			return "", false
		}
		body = strings.TrimSpace(body[end+2:])
	}
	w := strings.Fields(body)
	if len(w) < 3 || !strings.EqualFold(w[0], "SHOW") {
		return "", false
	}
	all := strings.EqualFold(w[1], "ALL") && len(w) > 3
	at := 1
	if all {
		at = 2
	}
	if !strings.EqualFold(strings.TrimRight(w[at+1], ";"), "STATUS") {
		return "", false
	}
	for _, pair := range [][2]string{{"SLAVE", "REPLICA"}, {"REPLICA", "SLAVE"}, {"SLAVES", "REPLICAS"},
		{"REPLICAS", "SLAVES"}} {
		if strings.EqualFold(w[at], pair[0]) && all == strings.HasSuffix(pair[0], "S") {
			return strings.TrimSuffix(strings.TrimSpace(query), body) + strings.Replace(body, w[at], pair[1], 1), true
		}
	}
	return "", false
}

// alias gives a row the other name of each column beside the one that it has.
func (r row) alias() {
	names := make([]string, 0, len(r))
	for name := range r {
		names = append(names, name)
	}
	for _, name := range names {
		if other := otherName(name); other != name {
			if _, has := r[other]; !has {
				r[other] = r[name]
			}
		}
	}
}

// otherName returns the name that a column of a replica's status has in the other
// words: Source for Master and Replica for Slave, and back.
func otherName(name string) string {
	switch name {
	case "Channel_Name":
		return "Connection_name"
	case "Connection_name":
		return "Channel_Name"
	}
	parts := strings.Split(name, "_")
	for i, p := range parts {
		switch p {
		case "Master":
			parts[i] = "Source"
		case "Source":
			parts[i] = "Master"
		case "Slave":
			parts[i] = "Replica"
		case "Replica":
			parts[i] = "Slave"
		case "master":
			parts[i] = "source"
		case "source":
			parts[i] = "master"
		}
	}
	return strings.Join(parts, "_")
}
