// Package recordcmd holds the commands that make runs: record, run and finalize.
package recordcmd
