// Package slowlog reads the slow query logs of MySQL 5.0 to 9.7, Percona Server
// and MariaDB, general query logs, and plain statements, and adds them up by
// classes of statements.
//
// The one idea: an entry ends where the next one provably begins. A line that
// looks like the head of an entry is one only after a semicolon at the end of
// a line, and not inside of a quoted string, unless a whole head with a
// plausible time stands there; so neither a literal that holds "# Time:" nor a
// statement with an odd quote shifts the rest of the log.
//
// Because that proof needs the entries before, finding them is work for one
// goroutine, and cheap: a cutter goes over the lines and says where entries are.
// What is costly is done by workers: a parser reads the entries of a batch, a
// namer finds out the shape of their statements. Then one goroutine adds them to
// the [Table], in their order, so that transactions, streaks and saves come out as
// if one had read alone, however many workers there are. [Collect] and
// [CollectAll] do all that.
//
// Start with [CollectAll] and [Table.Classes]. A Table also follows connections:
// their transactions, runs of the same statement, and the trail of an ORM's "save"
// (kasoku.SaveShape); and it counts the statements, so that they can be compared
// with what the server counted.
//
// Times: MariaDB logs the whole second in which a statement started (SET
// timestamp), MySQL the microsecond in which it ended (# Time); an entry's time
// is its start. Durations are Query_time and Lock_time; the general log has none.
// Without a clock, offsets count from 1970.
//
// The package is hot: see BenchmarkDigest and BenchmarkStages. Memory is bounded
// whatever the log holds: lines, statements and heads are cut, classes beyond
// Options.MaxQueries are folded into [Other], and everything that is cut or folded
// is reported in the notes.
//
// Sources: MariaDB 10.11 sql/log.cc, MYSQL_QUERY_LOG::write; MySQL 9.7
// sql/log.cc, File_query_log::write_slow and write_general; MySQL 9.7 Reference
// Manual, 7.4.3 The General Query Log and 7.4.5 The Slow Query Log; Percona Server
// 8.0, Improved slow query log; logs made by the servers themselves.
package slowlog
