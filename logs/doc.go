// Package logs holds what the log parsers below it share: how the times of
// a log are placed on a run's clock, how every line is accounted for, and how
// text from a log is made safe to keep.
//
// The parsers are streams: lines become records that reuse their memory, and a
// Table adds the records up; the Collect and Read functions of the packages do
// both for whole logs. A bad line is counted and sampled; it never ends the
// reading.
//
// Times of a log only place a record in a second of the run. What belongs to
// the run is decided by where the record lies in the file ([lines.Mark]).
package logs
