package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// ownWork asks for what the session itself added to counters that a server keeps for each
// session and for all of them together. It is no SHOW STATUS: what that does counts for the
// server and not for the session.
//
// Sources: MySQL 9.7 manual, "Server Status Variable Reference", scope Both; MariaDB
// documentation, "Server Status Variables", scope Global, Session; mysql_execute_command, which
// takes the work of SHOW STATUS out of a session's status in both.
const ownWork = "SELECT /* kasoku */ VARIABLE_NAME, VARIABLE_VALUE FROM %s WHERE VARIABLE_NAME REGEXP " +
	"'^(Created_tmp_(disk_)?tables$|Handler_|Select_|Sort_)'"

// OwnWork returns what the reader's own session has added to the server's counters of temporary
// tables, scans, sorts and rows read since it began, named in lower case, and the session's id.
func (r *Reader) OwnWork(ctx context.Context) (id uint64, values []Value, err error) {
	err = r.with(ctx, func(conn *session) error {
		values = make([]Value, 0, 64) // MariaDB 10.11 has 46
		var name string
		var value sql.RawBytes
		err := conn.query(ctx, fmt.Sprintf(ownWork, conn.statusTable(sessionStatus)), func() error {
			if v, ok := number(value); ok && len(values) < mostVariables {
				values = append(values, Value{strings.ToLower(clip(name, mostName)), v})
			}
			return nil
		}, &name, &value)
		conn.shown.add(values, conn.flavor)
		return err
	})
	if err != nil {
		return 0, nil, fmt.Errorf("read the session's own status: %w", err)
	}
	return r.Epoch().Session, values, nil
}

// shown is how many SHOW STATUS a session has sent, and how many rows it was answered.
type shown struct{ answers, rows float64 }

// add adds what they did. An answer is a temporary table that is filled and read, on MySQL from
// the table of performance_schema, which is read as well: as counted on MariaDB 10.11 and MySQL 9.7.
func (s shown) add(values []Value, flavor Flavor) {
	reads, writes := 1.0, "handler_tmp_write"
	if flavor == MySQL {
		reads, writes = 2, "handler_write"
	}
	work := map[string]float64{"created_tmp_tables": s.answers, "select_scan": reads * s.answers,
		"handler_read_rnd_next": reads * (s.rows + s.answers), writes: s.rows}
	for i := range values {
		values[i].Value += work[values[i].Name]
	}
}
