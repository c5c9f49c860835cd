// Package terminal writes a [report.Document] as text: for people at a terminal,
// for pipes and for the logs of a build.
//
// The one idea: a row never wraps. A table that is too wide drops columns in a
// fixed order and then cuts its text column with "…"; only prose is wrapped, at
// words. Colours are the 16 of ANSI, only when asked for, and never the only
// carrier: without them every word still reads.
//
// What comes from logs is stripped of control characters, escape sequences and
// marks that turn the direction of writing, so that a log line cannot drive the
// terminal. Widths count East Asian wide characters as two cells.
//
// [Write] is the way in; [Progress] draws the one line that moves while a run is
// made.
package terminal
