package probe

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysql/slowfile"
	"github.com/kasoku/kasoku/mysqlflags"
)

// A place is a moment in a log: bytes in its file, or the server's time for its
// table.
type place struct {
	offset int64
	at     string // 2026-11-20 14:02:11.123456
}

// seen is one statement.
type seen struct {
	slot  int
	class int // number
	conn  uint64
	rows  uint64 // sent
}

// statements is what a log holds of a time.
type statements struct {
	seen    []seen // each with its slot
	classes []slowlog.Class
	log     kasoku.LogWindow // what of the log could be read
}

// A source is a slow log that statements are read from.
type source interface {
	name() string
	here(ctx context.Context) (place, error)
	// read returns the statements from the first slot to the end.
	read(ctx context.Context, slots []slot, end place) (statements, error)
	own() uint64 // statements of kasoku's own that went to the server
	close(ctx context.Context) error
}

// openSource switches the slow log on and returns it: the file when what the server
// writes shows up there, else the table.
func openSource(ctx context.Context, p *prober) (source, error) {
	slow := mysql.NewSlowLog(p.reader, mysql.Settings{})
	if !p.o.Table {
		if err := p.hold.Apply(ctx, slow); err != nil {
			return nil, err
		}
		if f := openFile(ctx, p.db, slow.File()); f != nil {
			return f, p.recycle(ctx)
		}
	}
	if err := p.hold.Apply(ctx, tableLog{slow, p.reader}); err != nil {
		return nil, err
	}
	if err := p.recycle(ctx); err != nil {
		return nil, err
	}
	return openTable(ctx, p.db)
}

// A tableLog plans the slow log with its table as the output.
type tableLog struct {
	*mysql.SlowLog
	r *mysql.Reader
}

// Plan returns what is to be changed.
func (t tableLog) Plan(ctx context.Context) (mysql.Plan, error) {
	plan, err := t.SlowLog.Plan(ctx)
	if err != nil {
		return plan, err
	}
	vars, err := t.r.Variables(ctx)
	if err != nil {
		return plan, err
	}
	const name = "log_output"
	plan.Changes = slices.DeleteFunc(plan.Changes, func(c mysql.Changed) bool { return c.Name == name })
	if now := strings.ToUpper(vars[name]); !slices.Contains(strings.Split(now, ","), "TABLE") {
		during := "TABLE"
		if strings.Contains(now, "FILE") {
			during = "FILE,TABLE"
		}
		plan.Changes = slices.Insert(plan.Changes, 0, mysql.Changed{Name: name, Before: vars[name], During: during})
	}
	return plan, nil
}

// A fileSource is the slow log's file.
type fileSource struct {
	mark   lines.Mark
	growth *lines.Growth
}

// openFile returns the file when a statement that is sent shows up in it; nil when
// it cannot be read, or is that of another server.
func openFile(ctx context.Context, db *sql.DB, path string) *fileSource {
	if slowfile.Ask(ctx, db, path) != slowfile.Own {
		return nil
	}
	mark, err := lines.MarkEnd(path)
	if err != nil || mark.Missing {
		return nil
	}
	return &fileSource{mark: mark, growth: lines.Follow(mark)}
}

func (f *fileSource) name() string                { return "slow log" }
func (f *fileSource) own() uint64                 { return 0 }
func (f *fileSource) close(context.Context) error { return f.growth.Close() }

func (f *fileSource) here(context.Context) (place, error) {
	n, err := f.growth.Bytes()
	return place{offset: n}, err
}

func (f *fileSource) read(_ context.Context, slots []slot, end place) (statements, error) {
	w, err := lines.Since(f.mark)
	if err != nil {
		return statements{}, err
	}
	defer w.Close()
	return collectSource(w, slots, end.offset)
}

// collectSource reads entries and puts each into its slot by its offset.
func collectSource(w *lines.Window, slots []slot, end int64) (statements, error) {
	var out []seen
	t, window, err := slowlog.Collect(w, slowlog.Options{Kind: slowlog.Slow, KeepRaw: true,
		Each: func(e *slowlog.Event, class int) {
			if e.Admin || e.Offset >= end || bytes.Contains(e.Statement, []byte("/* kasoku */")) {
				return
			}
			at, found := slices.BinarySearchFunc(slots, e.Offset,
				func(s slot, offset int64) int { return cmp.Compare(s.from.offset, offset) })
			if found { // of slots without a statement the last begins there
				for at+1 < len(slots) && slots[at+1].from.offset == e.Offset {
					at++
				}
			} else {
				at--
			}
			if at >= 0 {
				out = append(out, seen{at, class, e.ThreadID, e.RowsSent})
			}
		}})
	if t == nil {
		return statements{}, err
	}
	return statements{out, t.Classes(), window}, err
}

// A tableSource is the table mysql.slow_log.
type tableSource struct {
	db   *sql.DB
	conn *sql.Conn
	sent uint64
}

// openTable takes a connection for the table, whose own statements stay out of it.
func openTable(ctx context.Context, db *sql.DB) (*tableSource, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "/* kasoku */ SET SESSION long_query_time = 31536000"); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if err := mysql.MarkOwn(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &tableSource{db: db, conn: conn}, nil
}

func (t *tableSource) name() string                { return "slow log's table" }
func (t *tableSource) own() uint64                 { return t.sent }
func (t *tableSource) close(context.Context) error { return t.conn.Close() }

func (t *tableSource) here(ctx context.Context) (p place, err error) {
	t.sent++
	if err := t.conn.QueryRowContext(ctx, "/* kasoku */ SELECT CAST(NOW(6) AS CHAR)").Scan(&p.at); err != nil {
		return p, fmt.Errorf("ask the server for its time: %w", err)
	}
	return p, nil
}

// mostLogged bounds the bytes of what the server's table has of the time of a probe.
const mostLogged = 64 << 20

// readTable asks for what a slow log's file would hold.
const readTable = `/* kasoku */ SELECT CAST(start_time AS CHAR), thread_id, FLOOR(TIME_TO_SEC(query_time)), MICROSECOND(query_time),
 rows_sent, rows_examined, db, sql_text FROM mysql.slow_log WHERE start_time >= ? AND start_time < ? ORDER BY start_time`

// read writes the rows as the file would hold them, so that one reader serves both.
func (t *tableSource) read(ctx context.Context, slots []slot, end place) (statements, error) {
	if len(slots) == 0 {
		return statements{}, nil
	}
	t.sent++
	defer mysqlflags.AllowAnswer(t.db, mostLogged)()
	rows, err := t.conn.QueryContext(ctx, readTable, slots[0].from.at, end.at)
	if err != nil {
		return statements{}, err
	}
	defer rows.Close()
	slots = slices.Clone(slots)
	var text bytes.Buffer
	next := 0 // slot whose beginning has no offset yet
	for rows.Next() {
		var start string
		var thread, seconds, micros, sent, examined uint64
		var db sql.NullString
		var statement []byte
		if err := rows.Scan(&start, &thread, &seconds, &micros, &sent, &examined, &db, &statement); err != nil {
			return statements{}, err
		}
		for ; next < len(slots) && slots[next].from.at <= start; next++ {
			slots[next].from.offset = int64(text.Len())
		}
		if command(statement) {
			continue
		}
		fmt.Fprintf(&text, "# Time: %sZ\n# User@Host: x[x] @ localhost []  Id: %d\n# Query_time: %d.%06d  Lock_time: 0.000000 Rows_sent: %d  Rows_examined: %d\n",
			strings.Replace(start, " ", "T", 1), thread, seconds, micros, sent, examined)
		fmt.Fprintf(&text, "%s;\n", statement)
	}
	for ; next < len(slots); next++ {
		slots[next].from.offset = int64(text.Len())
	}
	if err := rows.Err(); err != nil {
		return statements{}, err
	}
	return collectSource(lines.NewReader(&text, 0), slots, int64(text.Len()))
}

// command reports whether a row is an administrator command, which the table has by
// its name alone.
func command(statement []byte) bool {
	switch string(statement) {
	case "Prepare", "Close stmt", "Reset stmt", "Quit", "Ping", "Init DB", "Change user", "Statistics",
		"Reset Connection":
		return true
	}
	return false
}
