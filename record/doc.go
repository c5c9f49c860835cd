// Package record makes one measured run from start to finish: it opens the run
// file, starts the sources, switches on what it needs on the database, makes
// the load or runs the command, reads exactly the part of each log that was
// written meanwhile, puts back what it changed, diagnoses, and closes the file.
//
// Start at [Record]; [Configured] makes its options of a kasoku.toml, [Checkpoint]
// keeps the configuration in force without a load. Whatever goes wrong on the way,
// and when the context ends early, all that was measured until then is kept and the
// file is left readable.
//
// Units and clock are those of package kasoku.
package record
