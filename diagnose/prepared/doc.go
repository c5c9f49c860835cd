// Package prepared asks the server at hand whether it takes the SQL that findings propose.
//
// The one idea: rewrites are printed from a tree of a grammar, and the server has the last
// word on its own SQL, with its version, its mode and its tables. PREPARE reads a statement
// and looks its names up, and does not run it. What the server refuses is not printed; what it could
// not be asked is said to be not checked.
//
// It takes the rights that EXPLAIN takes. A refusal for want of rights, or because a table is
// not there, says nothing of the statement.
package prepared
