// Package memory is the service tuned: every answer comes from memory, and the
// database is the store of record.
//
// The one idea: rows are ranked by popularity DESC, id ASC, which is the order of
// nearly all lists, and each choice of a search (a range, a color, a feature) is a
// set of bits over the ranks. A search is an AND of sets, its count the number of
// bits that are left, a page some of them; their rows are kept as the JSON that is
// sent. All of it is an immutable world that readers take without a lock. An upload
// makes the next world and publishes it at once.
//
// What is written goes to the database first:
//
//   - A purchase takes its chair from the stock in memory; a chair that is sold out
//     so vanishes from every list then, before the database hears of it. One
//     goroutine then writes all purchases that wait in one statement, which is one
//     commit, and answers them.
//   - An upload is one transaction; its rows are seen after the commit and before
//     the answer.
//   - When a write failed, or it is unknown whether it failed (the connection broke),
//     nothing more is sold or uploaded (503) until all rows were read again. Answers
//     go on from memory, without what may be sold out.
//
// The sessions that write hold locks of the server by name ([sql.Conn], GET_LOCK)
// for as long as they live, and whoever reads the rows takes these locks first. So an
// unfinished commit of an earlier session or a killed process has ended before its
// rows are read.
//
// No other process may write to the tables while the service runs. POST /initialize runs
// the SQL files and reads everything again; a process that starts reads the tables,
// not the files.
//
// Sources: the public interface of ISUCON10's qualifying round; the MariaDB and
// MySQL manuals on GET_LOCK and on what a session that ends leaves (locks go after
// the transaction was rolled back).
package memory
