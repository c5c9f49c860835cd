// Package indexcheck asks a private server whether it would use the indexes that
// diagnose/indexes proposes for a run, with a copy of some rows of the tables, and which
// classes of statements they serve.
//
// The one idea: a proposal is a guess until a server of the same version has read the
// tables' values and the statement as it was sent. The indexes are made all together, as
// they are pasted, and each class is explained before and after.
//
// Nothing is written to the server that is measured; it is asked for 20,000 rows of a
// table at most. What cannot be asked is a note of the check, not an error.
package indexcheck
