// Package machine reports what used each host of a run: CPU by unit, container and
// program, threads, disks, listeners, programs in Go; and which limits were near.
package machine
