package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/kasoku/kasoku/logs/sqlshape"
)

// A ReadOnce is what a statement did that was run once.
type ReadOnce struct {
	Sent     uint64 // rows
	Examined uint64 // rows that its plan read from tables, their indexes and temporary tables
	Took     time.Duration
}

// RunOnce runs a statement that only returns rows once more, to count them: within a read-only transaction
// that it rolls back, for the limit at most. What locks rows, waits, or is no plain SELECT is refused and not
// sent.
func RunOnce(ctx context.Context, r *Reader, schema, statement string, limit time.Duration) (ReadOnce, error) {
	text, locks, ok := sqlshape.PlainText([]byte(statement))
	if !ok || locks || actsOtherwise(text) {
		return ReadOnce{}, fmt.Errorf("count rows: not run, it may do more than return rows: %w", ErrUnexpected)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*limit+time.Second)
	defer cancel()
	var out ReadOnce
	err := r.with(ctx, func(conn *session) (err error) {
		if schema != "" {
			if err := conn.exec(ctx, "USE "+QuoteName(schema)); err != nil {
				return err
			}
		}
		if err := conn.exec(ctx, "START TRANSACTION READ ONLY"); err != nil {
			return err
		}
		defer func() {
			for _, s := range []string{"ROLLBACK", conn.limit(0)} {
				if end := conn.exec(context.WithoutCancel(ctx), s); err == nil {
					err = end
				}
			}
		}()
		if err := conn.exec(ctx, conn.limit(limit)); err != nil {
			return err
		}
		if err := conn.readsTablesAlone(ctx, text); err != nil {
			return err
		}
		out, err = conn.runOnce(ctx, string(text))
		return err
	})
	if err != nil {
		return ReadOnce{}, fmt.Errorf("count rows: %w", err)
	}
	return out, nil
}

// readsTablesAlone returns an error unless a statement reads nothing but tables, as the server reads its text: a view may
// call functions of whoever made it with the rights of this account. EXPLAIN calls none, and locks the definitions
// of all that the statement names until the transaction ends (MySQL manual, "Metadata Locking"): no view takes the
// place of a table after it.
func (s *session) readsTablesAlone(ctx context.Context, statement []byte) error {
	var mode string
	if err := s.query(ctx, "SELECT CONCAT(@@SESSION.sql_mode, ',', @@GLOBAL.sql_mode)", func() error { return nil }, &mode); err != nil {
		return err
	}
	for m := range strings.SplitSeq(mode, ",") {
		if slices.Contains([]string{"ANSI_QUOTES", "ANSI", "NO_BACKSLASH_ESCAPES", "ORACLE", "MSSQL", "DB2", "POSTGRESQL", "MAXDB"}, m) {
			return fmt.Errorf("not run, sql_mode %s reads its text otherwise: %w", m, ErrUnexpected)
		}
	}
	if _, err := s.texts(ctx, "EXPLAIN "+string(statement)); err != nil { // what it plans is of no matter
		return err
	}
	named := map[string]bool{}
	l := sqlshape.NewLexer(statement)
	for t := l.Next(); t.Kind != sqlshape.End; t = l.Next() {
		if t.Kind == sqlshape.Word || t.Kind == sqlshape.Name {
			name := string(t.Unquoted())
			if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
				return fmt.Errorf("not run, which letters of %q the server takes for the same is not known: %w", name, ErrUnexpected)
			}
			named[strings.ToLower(name)] = true
		}
	}
	var view string
	views := 0
	return s.query(ctx, fmt.Sprintf("SELECT LOWER(TABLE_NAME) FROM information_schema.VIEWS LIMIT %d", mostViews+1), func() error {
		if views++; views > mostViews || named[view] {
			return fmt.Errorf("not run, it names the view %s, or there are too many: %w", view, ErrUnexpected)
		}
		return nil
	}, &view)
}

// mostViews of a server are looked at.
const mostViews = 10_000

// runOnce counts what a statement returns, and by the session's counters what it reads. To ask for them
// counts, too, the same each time.
func (s *session) runOnce(ctx context.Context, statement string) (out ReadOnce, err error) {
	var counts [3]uint64
	for i := range counts {
		if i == 2 {
			began := time.Now()
			if out.Sent, err = s.countRows(ctx, statement); err != nil {
				return out, err
			}
			out.Took = time.Since(began)
		}
		if counts[i], err = s.handlerReads(ctx); err != nil {
			return out, err
		}
	}
	if all, own := counts[2]-counts[1], counts[1]-counts[0]; all > own {
		out.Examined = all - own
	}
	return out, nil
}

// countRows runs a statement and counts its rows.
func (s *session) countRows(ctx context.Context, statement string) (n uint64, err error) {
	*s.sent++
	rows, err := s.conn.QueryContext(ctx, statement)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

// handlerReads returns how many rows the session's statements have read: those that a GROUP BY looks up in its
// temporary table, to count them there, are none.
func (s *session) handlerReads(ctx context.Context) (n uint64, err error) {
	var name string
	var value sql.NullInt64
	err = s.query(ctx, "SHOW SESSION STATUS LIKE 'Handler_%'", func() error {
		switch {
		case strings.HasPrefix(name, "Handler_read"):
			n += uint64(max(value.Int64, 0))
		case name == "Handler_tmp_update":
			n -= uint64(max(value.Int64, 0))
		}
		return nil
	}, &name, &value)
	return n, err
}

// actsOtherwise reports whether a SELECT calls what may do something else than to compute: a function that is not
// one of the server's own of [computing], as stored and loadable ones are, or a sequence.
func actsOtherwise(statement []byte) bool {
	l := sqlshape.NewLexer(statement)
	var before, last sqlshape.Token
	for ended := false; !ended; {
		t := l.Next()
		ended = t.Kind == sqlshape.End
		word := strings.ToLower(string(last.Unquoted()))
		switch {
		case last.Kind == sqlshape.Word && (word == "nextval" || word == "lastval" || word == "procedure"),
			last.Kind == sqlshape.Word && (word == "next" || word == "previous") && strings.EqualFold(string(t.Text), "value"):
			return true
		case !t.IsSymbol('('):
		case last.Kind == sqlshape.String, last.Kind == sqlshape.Name, last.Kind == sqlshape.Word && before.IsSymbol('.'):
			return true // one of a schema
		case last.Kind == sqlshape.Word && !computing()[word]:
			return true
		}
		before, last = last, t
	}
	return false
}

// computing are the words that a parenthesis may follow where nothing is done but to compute: functions of MySQL and
// MariaDB that depend on their arguments, the clock and the session alone, and what of SQL is no function.
var computing = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(`
		select from where and or not xor in exists any some all on using join having when then else case between like
		rlike regexp is by over partition distinct as union intersect except values value row index key div mod against
		limit offset if for lateral interval binary only with ignore use force straight_join is return sounds escape
		char varchar nchar decimal numeric float double time datetime timestamp year signed unsigned bit varbinary
		abs acos asin atan atan2 ceil ceiling conv cos cot crc32 crc32c degrees exp floor ln log log10 log2 pi pow power
		radians rand round sign sin sqrt tan truncate greatest least
		ascii bin bit_length char_length character_length concat concat_ws elt export_set field find_in_set format
		from_base64 hex insert instr lcase left length locate lower lpad ltrim make_set mid oct octet_length ord position
		quote regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse right rpad rtrim soundex space
		strcmp substr substring substring_index to_base64 trim ucase unhex upper weight_string natural_sort_key sformat
		adddate addtime convert_tz curdate current_date current_time current_timestamp curtime date date_add date_format
		date_sub datediff day dayname dayofmonth dayofweek dayofyear extract from_days from_unixtime get_format hour last_day
		localtime localtimestamp makedate maketime microsecond minute month monthname now period_add period_diff quarter
		sec_to_time second str_to_date subdate subtime sysdate time_format time_to_sec timediff timestampadd timestampdiff
		to_days to_seconds unix_timestamp utc_date utc_time utc_timestamp week weekday weekofyear yearweek add_months
		avg bit_and bit_or bit_xor count group_concat json_arrayagg json_objectagg max min std stddev stddev_pop
		stddev_samp sum var_pop var_samp variance any_value median percentile_cont percentile_disc grouping
		cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
		coalesce ifnull nullif nvl nvl2 decode isnull cast convert interval default match
		json_array json_array_append json_array_insert json_contains json_contains_path json_compact json_depth
		json_detailed json_equals json_exists json_extract json_insert json_keys json_length json_loose json_merge
		json_merge_patch json_merge_preserve json_normalize json_object json_overlaps json_pretty json_query json_quote
		json_remove json_replace json_schema_valid json_search json_set json_storage_size json_table json_type
		json_unquote json_valid json_value columns path
		bin_to_uuid uuid_to_bin is_uuid inet_aton inet_ntoa inet6_aton inet6_ntoa is_ipv4 is_ipv6 md5 sha sha1 sha2
		compress uncompress uncompressed_length crypt bit_count charset coercibility collation
		st_area st_asgeojson st_astext st_aswkb st_asbinary st_buffer st_centroid st_contains st_crosses st_difference
		st_dimension st_disjoint st_distance st_distance_sphere st_envelope st_equals st_geomfromtext st_geomfromwkb
		st_geomfromgeojson st_intersection st_intersects st_isempty st_isvalid st_length st_makeenvelope st_overlaps
		st_pointfromtext st_polygonfromtext st_srid st_touches st_transform st_union st_within st_x st_y st_latitude
		st_longitude mbrcontains mbrcoveredby mbrcovers mbrdisjoint mbrequals mbrintersects mbroverlaps mbrtouches
		mbrwithin point linestring polygon multipoint geomfromtext astext within contains
		connection_id current_user database schema session_user system_user user version current_role found_rows
		row_count`) {
		out[w] = true
	}
	return out
})
