package indexes

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
)

// A Part is one column of an index.
type Part struct {
	Column string
	Desc   bool
	Prefix int // characters of it; 0: all
}

// String writes the part as in CREATE INDEX.
func (p Part) String() string {
	s := quoteName(p.Column)
	if p.Prefix > 0 {
		s += "(" + strconv.Itoa(p.Prefix) + ")"
	}
	if p.Desc {
		s += " DESC"
	}
	return s
}

// The reasons for an index, the most specific first.
const (
	MixedOrder = "mixed"     // an order with both directions
	WrongOrder = "order"     // an index that is used has the columns, not the order
	Composite  = "composite" // an index that is used has some of the columns
	Equality   = "equality"  // columns that are compared for equality have no index
	General    = "general"   // order, ranges, columns that are read with them
)

// A Proposal is one index to create.
type Proposal struct {
	Host, Schema, Table string
	Name                string
	Columns             []Part
	Seek                int      // of the columns, those that find rows and their order; the rest saves reading rows
	Why                 string   // MixedOrder …
	Reason              string   // a sentence
	DDL, Undo           string   //
	Serves              []Served // the statements that it makes shorter, the most time first
	Replaces            []string // indexes that are not needed any more then
	WriteCost           time.Duration
	Saved               time.Duration // of the time that the statements took, an estimate
	Check               *kasoku.IndexCheck
}

// Served is one class of statements that a proposal makes shorter.
type Served struct {
	QueryID string
	Before  float64       // rows that a statement examines
	After   float64       // rows that it would read, an estimate
	Saved   time.Duration // of its time
	Ordered bool          // the index has its order
	Covered bool          // the index holds all that it reads
	Skips   bool          // it reads the rows that its OFFSET skips, too: they are in After where it was kept as it was sent
	Skipped float64       // of After, those; 0 where they are not known
	Derived bool          // Before has what the plan counts on for a derived table; the server did not count it
}

// Spatial is advice about one test of where something lies.
type Spatial struct {
	Host, Schema, Table string
	QueryID             string
	Function            string
	Case                string // "a": a stored column without index, "b": no stored column, "c": no SRID
	Column              string // stored, or to be
	From                []string
	Steps               []string // statements, to be run in this order
	Index               string   // the last of them, when it is all that it takes
	Undo                string
	Constant            bool          // the statement tests a value that it was sent, row by row
	Saved               time.Duration // an estimate
}

// FixedRanges is a column that is asked for in few ranges.
type FixedRanges struct {
	Host, Schema, Table string
	Column              string
	Ranges              uint64 // different ones, at most
	QueryIDs            []string
	Order               []Part        // that the statements want
	Bucket              string        // the generated column, with the number of the range, that they would compare
	Index               string        // the statement that creates its index
	Total               time.Duration // what the statements took
	Saved               time.Duration // beyond what the proposals save, an estimate
}

// Unused is an index that no plan used.
type Unused struct {
	Host, Schema, Table string
	Index               string
	Columns             []string
	Undo                string // creates it again
	Drop                string
	Looked              int // plans that read the table
	Of                  int // classes of statements that read it
}

// Refused is an index that was thought of and not proposed, and why.
type Refused struct {
	Table, Columns, Why string
}

// Advice is all of a run.
type Advice struct {
	Proposals []Proposal // the most time saved first
	Spatial   []Spatial
	Ranges    []FixedRanges
	Unused    []Unused
	Refused   []Refused
	Read      int // classes of statements that were understood
	Unread    int // those that were not
	Unknown   int // those whose tables were not recorded

	reads []Read
}

// quoteName writes an identifier, in backticks where it is no plain word or may be one of
// the language's.
func quoteName(name string) string {
	plain := name != "" && !isReserved(strings.ToLower(name)) && (name[0] < '0' || name[0] > '9')
	for i := 0; plain && i < len(name); i++ {
		c := name[i]
		plain = c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	if plain {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// isReserved knows the words of MySQL 9.7 and MariaDB 11 that people call columns by.
func isReserved(word string) bool { return slices.Contains(strings.Fields(reserved), word) }

const reserved = `
accessible add all alter analyze and as asc asensitive before between bigint binary blob both by call cascade
case change char character check collate column condition constraint continue convert create cross cube
cume_dist current_date current_time current_timestamp current_user cursor database databases day_hour
day_microsecond day_minute day_second dec decimal declare default delayed delete delete_domain_id dense_rank
desc describe deterministic distinct distinctrow div do_domain_ids double drop dual each else elseif empty
enclosed escaped except exists exit explain external false fetch first_value float float4 float8 for force
foreign from fulltext function generated get grant group grouping groups having high_priority hour_microsecond
hour_minute hour_second if ignore ignore_domain_ids in index infile inner inout insensitive insert int int1 int2
int3 int4 int8 integer intersect interval into io_after_gtids io_before_gtids is iterate join json_table key
keys kill lag last_value lateral lead leading leave left library like limit linear lines load localtime lock
long longblob longtext loop low_priority manual master_demote_to_replica master_demote_to_slave
master_ssl_verify_server_cert match maxvalue mediumblob mediumint mediumtext middleint minute_microsecond
minute_second mod modifies natural no_write_to_binlog not nth_value ntile null numeric of offset on optimize
optimizer_costs option optionally or order out outer outfile over page_checksum parse_vcol_expr partition
percent_rank portion precision primary procedure purge qualify range rank read read_write reads real recursive
ref_system_id references regexp release rename repeat replace require resignal restrict return returning revoke
right rlike row row_number rows schema schemas second_microsecond select sensitive separator set show signal
smallint spatial specific sql sql_after_gtids sql_before_gtids sql_big_result sql_buffer_result sql_cache sql_calc_found_rows sql_no_cache
sql_small_result sqlexception sqlstate sqlwarning ssl starting stats_auto_recalc stats_persistent
stats_sample_pages stored straight_join system table tablesample terminated text then tinyblob tinyint tinytext
to trailing trigger true undo union unique unlock unsigned update usage use using utc_date utc_time values
varbinary varchar varcharacter varying vector virtual when where while window with write xor year_month zerofill`

// indexDDL returns the statements that make and drop an index.
func indexDDL(name, table string, parts []Part) (do, undo string) {
	var list []string
	for _, p := range parts {
		list = append(list, p.String())
	}
	return "CREATE INDEX " + quoteName(name) + " ON " + quoteName(table) + " (" + strings.Join(list, ", ") + ")",
		"DROP INDEX " + quoteName(name) + " ON " + quoteName(table)
}
