// Package logscmd holds the commands that read logs without a run: accesslog, slowlog,
// digest, and with --as the programs whose place they take.
package logscmd
