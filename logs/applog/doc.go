// Package applog reduces the text log of an application to patterns of
// messages: which message, how often, how many bytes, when.
//
// The one idea: what a program prints from one place looks alike once numbers,
// ids, quoted strings, durations, addresses and times are replaced by ?. A line
// that holds an SQL statement is represented by the statement's fingerprint alone, so
// that a mapper in its debug mode gives one pattern per shape of statement.
// Lines that go on with an entry, such as the frames of a stack trace or the
// "[1 rows affected or returned]" of GORM, belong to the line before.
//
// Plain text, JSON lines and logfmt may be mixed. Times are not read from the
// lines, which often have none: a clock says when an offset of the log was
// written, to about a second.
//
// Patterns are bounded in number and length, and hold no secrets, no literals
// of SQL and no control bytes.
//
// Sources: the printing code of Go's log, log/slog and runtime, GORM 1.9 and
// 1.25, logrus, zap, zerolog, klog, Python's logging, pino and Rails; MySQL 9.7
// Error Message Reference for the range of the error numbers.
package applog
