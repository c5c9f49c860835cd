package sandbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

const replicaHint = `start the source with Vars{"log_bin": "binlog", "server_id": "1"} on a fresh directory`

// replicaLimit is how long a replica may take to fetch what its source has done.
const replicaLimit = 60 * time.Second

// Replica starts a second server of the same kind, which replicates from s: it
// has applied all that s had done when Replica was called, and follows from then
// on. The replica stops by its own Stop; s does not stop it.
//
// The source must keep a binary log since its first start, and have an id. MySQL
// does both by itself; a MariaDB needs
//
//	sandbox.Options{Vars: map[string]string{"log_bin": "binlog", "server_id": "1"}}
//
// [sandboxtest.Unsafe] switches the log off. The replica takes an id of its own
// unless o.Vars names a server_id. It connects as root, by the position in the log,
// and tries again each second when it loses its source. It takes the settings of
// GTIDs from the source's Options unless o.Vars names them.
//
// Sources: MySQL 9.7 manual "CHANGE REPLICATION SOURCE TO Statement"; MariaDB
// documentation "CHANGE MASTER TO".
func (s *Server) Replica(ctx context.Context, o Options) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit+replicaLimit)
	defer cancel()
	source, err := mysqlflags.OpenDSN(s.DSN("", ""))
	if err != nil {
		return nil, err
	}
	defer source.Close()
	first, err := s.firstLog(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("replica of %s: %w", s.Kind, err)
	}
	o.Vars = s.replicaVars(o.Vars)
	r, err := launch(ctx, s.Kind, s.engine, o)
	if err != nil {
		return nil, fmt.Errorf("replica: %w", err)
	}
	if err := r.follow(ctx, s, source, first); err != nil {
		err = &Error{Err: fmt.Errorf("replica of %s: %w", s.Kind, err), Log: tailOf(r.ErrorLog, 0), hint: replicaHint}
		return nil, errors.Join(err, r.Stop(context.WithoutCancel(ctx)))
	}
	return r, nil
}

// replicaVars completes the settings of a replica.
func (s *Server) replicaVars(asked map[string]string) map[string]string {
	vars := map[string]string{"server_id": strconv.Itoa(1<<20 + rand.IntN(1<<30)), "relay_log": "relay"}
	for name, value := range s.opts.Vars {
		switch strings.ReplaceAll(name, "-", "_") {
		case "gtid_mode", "enforce_gtid_consistency", "gtid_strict_mode":
			vars[name] = value
		}
	}
	for name, value := range asked {
		delete(vars, strings.ReplaceAll(name, "-", "_"))
		vars[name] = value
	}
	return vars
}

// firstLog returns the first file of the binary log, which must hold all that the
// server did since its directory was made.
func (s *Server) firstLog(ctx context.Context, db *sql.DB) (string, error) {
	var logs []struct {
		Name string `mysqlvar:"Log_name"`
	}
	err := mysqlflags.QueryContext(ctx, db, "SHOW BINARY LOGS").Scan(&logs)
	if err == nil && len(logs) == 0 {
		err = errors.New("its binary log is empty")
	}
	if err == nil && !strings.HasSuffix(logs[0].Name, ".000001") {
		err = fmt.Errorf("its binary log begins with %q: what was before is lost", logs[0].Name)
	}
	if err != nil {
		return "", &Error{Err: err, hint: replicaHint}
	}
	return logs[0].Name, nil
}

// follow makes r, which runs, a replica, and waits until it has caught up.
func (r *Server) follow(ctx context.Context, s *Server, source *sql.DB, first string) error {
	db, err := mysqlflags.OpenDSN(r.DSN("", ""))
	if err != nil {
		return err
	}
	defer db.Close()
	change := "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = %d, SOURCE_USER = 'root', SOURCE_LOG_FILE = '%s', " +
		"SOURCE_LOG_POS = 4, SOURCE_AUTO_POSITION = 0, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 86400, SOURCE_HEARTBEAT_PERIOD = 0.5, GET_SOURCE_PUBLIC_KEY = 1"
	position, wait := "SHOW BINARY LOG STATUS", "SELECT SOURCE_POS_WAIT(?, ?, ?) AS waited"
	if s.Kind == KindMariaDB {
		change = "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = %d, MASTER_USER = 'root', MASTER_LOG_FILE = '%s', " +
			"MASTER_LOG_POS = 4, MASTER_CONNECT_RETRY = 1, MASTER_HEARTBEAT_PERIOD = 0.5"
		position, wait = "SHOW MASTER STATUS", "SELECT MASTER_POS_WAIT(?, ?, ?) AS waited"
	}
	for _, q := range []string{fmt.Sprintf(change, s.Port, first), "START REPLICA"} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%.30s: %w", q, err)
		}
	}
	var at struct {
		File     string
		Position uint64
	}
	if err := mysqlflags.QueryContext(ctx, source, position).Scan(&at); err != nil {
		return err
	}
	var waited struct{ Waited *int64 } // NULL: the applier does not run; -1: not in time
	if err := mysqlflags.QueryContext(ctx, db, wait, at.File, at.Position,
		int(replicaLimit.Seconds())).Scan(&waited); err != nil {
		return err
	}
	if waited.Waited == nil || *waited.Waited < 0 {
		return fmt.Errorf("it does not follow: %s", replicationErrors(ctx, db))
	}
	return nil
}

// replicationErrors returns what a replica says is wrong.
func replicationErrors(ctx context.Context, db *sql.DB) string {
	var status map[string]string
	if err := mysqlflags.QueryContext(ctx, db, "SHOW REPLICA STATUS").Scan(&status); err != nil {
		return err.Error()
	}
	if said := strings.TrimSpace(status["Last_IO_Error"] + " " + status["Last_SQL_Error"]); said != "" {
		return said
	}
	return "it took too long"
}
