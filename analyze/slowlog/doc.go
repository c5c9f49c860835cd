// Package slowlog reads the slow query log of MariaDB 10.11 and MySQL 9.7, and
// of their relatives, and boils it down to classes of statements.
//
// The one idea: an entry ends where the next one provably begins. A line that
// looks like the head of an entry is one only behind a semicolon at the end of
// a line, and not inside of a quoted string, unless a whole head with a
// plausible time stands there; so neither a literal that holds "# Time:" nor a
// statement with an odd quote shifts the rest of the log.
//
// [Reader] yields entries, [Table] adds them up, [Collect] does both. A Table
// also follows the trail of an ORM's "save" (kasoku.SaveShape) and counts the
// statements, so that they can be compared with what the server counted.
//
// Times: MariaDB tells the whole second in which a statement started (SET
// timestamp), MySQL the microsecond in which it ended (# Time); an entry's time
// is its start. Durations are Query_time and Lock_time.
//
// Sources: MariaDB 10.11 sql/log.cc, MYSQL_QUERY_LOG::write; MySQL 9.7
// sql/log.cc, File_query_log::write_slow; MySQL 9.7 Reference Manual, 7.4.5 The
// Slow Query Log; percona-toolkit SlowLogParser for the dialects.
package slowlog
