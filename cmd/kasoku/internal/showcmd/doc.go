// Package showcmd holds the commands for run files: show, diagnose, list and compare print
// them; merge makes one of several; label, note, score, scrub and rm change what is kept.
package showcmd
