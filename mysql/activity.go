package mysql

import (
	"context"
	"fmt"
	"time"
)

// A DigestCount is how far the counters of one class of statements have come.
type DigestCount struct {
	Key          DigestKey
	Text         string // normalised by the server, its first kilobyte
	Calls        uint64
	Total        time.Duration
	RowsExamined uint64
	RowsSent     uint64
	New          bool // the server saw it first within the time
}

// ActiveDigests are the classes of statements that ran of late.
type ActiveDigests struct {
	Classes []DigestCount // those with most time first
	Cut     uint64        // how many more there were than were asked for
	Lost    uint64        // statements that the server has in no class, since it counts
}

const activeQuery = "SELECT /* kasoku */ COALESCE(SCHEMA_NAME, ''), COALESCE(DIGEST, ''), " +
	"COALESCE(LEFT(DIGEST_TEXT, 1024), ''), COUNT_STAR, " +
	"SUM_TIMER_WAIT, SUM_ROWS_EXAMINED, SUM_ROWS_SENT, %s FROM performance_schema.events_statements_summary_by_digest " +
	"WHERE DIGEST IS NULL OR %s ORDER BY DIGEST IS NULL DESC, SUM_TIMER_WAIT DESC LIMIT %d"

const countQuery = "SELECT /* kasoku */ COUNT(*) FROM performance_schema.events_statements_summary_by_digest " +
	"WHERE DIGEST IS NOT NULL AND %s"

// ActiveDigests reads the classes that had a statement within a time, at most so
// many of them; within 0, those of all times. ok is false where the server does not
// count digests. Unlike [Summaries.Digests] it is meant to be called again and again:
// what is idle is not sent.
func (s Summaries) ActiveDigests(ctx context.Context, within time.Duration, most int) (out ActiveDigests, ok bool,
	err error) {
	if !s.r.HasSchema() {
		return out, false, nil
	}
	recent, first := "TRUE", "FALSE"
	if within > 0 {
		since := fmt.Sprintf(" >= NOW(6) - INTERVAL %d SECOND", int(within.Seconds()+1))
		recent, first = "LAST_SEEN"+since, "FIRST_SEEN"+since
	}
	err = s.r.with(ctx, func(conn *session) error {
		out = ActiveDigests{}
		var c DigestCount
		var total uint64
		err := conn.query(ctx, fmt.Sprintf(activeQuery, first, recent, most+2), func() error {
			switch c.Text = clip(c.Text, 1024); {
			case len(c.Key.ID)+len(c.Key.Schema) > 2*mostName:
				out.Cut++
			case c.Key.ID == "":
				out.Lost += c.Calls
			case isOwnDigest(c.Text, ""):
			case len(out.Classes) == most:
				out.Cut++
			default:
				c.Total = picoseconds(total)
				out.Classes = append(out.Classes, c)
			}
			return nil
		}, &c.Key.Schema, &c.Key.ID, &c.Text, &c.Calls, &total, &c.RowsExamined, &c.RowsSent, &c.New)
		if err != nil || out.Cut == 0 {
			return err
		}
		var all uint64
		err = conn.row(ctx, fmt.Sprintf(countQuery, recent), &all)
		out.Cut = max(out.Cut, all-min(all, uint64(most)))
		return err
	})
	if err != nil {
		return ActiveDigests{}, true, forbidden(fmt.Errorf("statement digests: %w", err))
	}
	return out, true, nil
}

// A Use is how often a table, or one of its indexes, was read and written since the
// server began to count.
type Use struct {
	Schema, Table string
	Index         string        // empty for the table as a whole
	Read, Written uint64        // rows
	Reading       time.Duration // 0 where the server takes no times
	Writing       time.Duration
}

// The servers' own tables are of no interest.
const ownSchemas = "('mysql', 'sys', 'information_schema', 'performance_schema')"

// useQueries are those of performance_schema, userQueries of MariaDB's user
// statistics.
//
// Sources: MySQL 9.7 manual "Table I/O and Lock Wait Summary Tables"; MariaDB
// documentation "User Statistics".
var (
	useQueries = []string{
		"SELECT /* kasoku */ OBJECT_SCHEMA, OBJECT_NAME, '', COUNT_READ, COUNT_WRITE, SUM_TIMER_READ, SUM_TIMER_WRITE " +
			"FROM performance_schema.table_io_waits_summary_by_table WHERE OBJECT_TYPE = 'TABLE' AND COUNT_STAR > 0 AND " +
			"OBJECT_SCHEMA NOT IN " +
			ownSchemas + " ORDER BY COUNT_STAR DESC LIMIT %d",
		"SELECT /* kasoku */ OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, COUNT_READ, COUNT_WRITE, SUM_TIMER_READ, " +
			"SUM_TIMER_WRITE " +
			"FROM performance_schema.table_io_waits_summary_by_index_usage WHERE INDEX_NAME IS NOT NULL AND COUNT_STAR > " +
			"0 AND OBJECT_SCHEMA NOT IN " +
			ownSchemas + " ORDER BY COUNT_STAR DESC LIMIT %d",
	}
	userQueries = []string{
		"SELECT /* kasoku */ TABLE_SCHEMA, TABLE_NAME, '', ROWS_READ, ROWS_CHANGED, 0, 0 FROM " +
			"information_schema.TABLE_STATISTICS " +
			"WHERE TABLE_SCHEMA NOT IN " + ownSchemas + " ORDER BY ROWS_READ + ROWS_CHANGED DESC LIMIT %d",
		"SELECT /* kasoku */ TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, ROWS_READ, 0, 0, 0 FROM " +
			"information_schema.INDEX_STATISTICS " +
			"WHERE TABLE_SCHEMA NOT IN " + ownSchemas + " ORDER BY ROWS_READ DESC LIMIT %d",
	}
)

// TableUse reads which tables and indexes are used most, at most so many of each. ok
// is false where the server does not count them: MariaDB has performance_schema and
// userstat off by default.
func (s Summaries) TableUse(ctx context.Context, most int) (out []Use, ok bool, err error) {
	err = s.r.with(ctx, func(conn *session) error {
		out, ok = nil, conn.schema
		queries := useQueries
		if !ok && conn.flavor == MariaDB {
			queries = userQueries
			var on bool
			if err := conn.row(ctx, "SELECT /* kasoku */ @@GLOBAL.userstat", &on); err != nil {
				return err
			}
			ok = on
		}
		if !ok {
			return nil
		}
		var u Use
		var reading, writing uint64
		for _, q := range queries {
			err := conn.query(ctx, fmt.Sprintf(q, most), func() error {
				u.Reading, u.Writing = picoseconds(reading), picoseconds(writing)
				if len(out) < most*len(queries) && len(u.Schema)+len(u.Table)+len(u.Index) <= 3*mostName {
					out = append(out, u)
				}
				return nil
			}, &u.Schema, &u.Table, &u.Index, &u.Read, &u.Written, &reading, &writing)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, ok, forbidden(fmt.Errorf("use of tables: %w", err))
	}
	return out, ok, nil
}
