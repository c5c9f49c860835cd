// Package store keeps a run in one file, NAME.kasoku, and reads it back.
//
// The one idea: a run file is an SQLite database that is written a tick at a
// time and closed as a single plain file. While a run is recorded, each frame of
// a source is one row of a tail, committed before [Writer.Frame] returns, so that
// a recorder killed at any moment loses no more than the tick that it was in. A
// minute of ticks is folded into one compressed chunk. [Writer.Finish] folds the
// rest, leaves checksums and removes the write-ahead log.
//
// Start at [Create] and [Open]; [List] and [Resolve] find the runs of a
// directory, [Edit] changes a label or a diagnosis afterwards.
//
// Open gives what can be read: it recovers the file of a killed recorder, reads
// one that is still being written, works on media that cannot be written to, and
// names in Recording.Damage what a damaged file has lost. It never changes a
// finished file. The package computes no rates and draws no conclusions.
//
// Times are offsets on the run's clock, in nanoseconds. docs/runfile.md is the
// contract of the file; migration/ holds its schema, by number.
//
// Sources: SQLite's documentation of the file format (fileformat2.html), of
// write-ahead logging (wal.html) and of URI file names (uri.html).
package store
