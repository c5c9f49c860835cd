// Package pasted has the tests of what rules give people to paste: each statement that a
// rule prints runs on real servers, MariaDB and MySQL, beside the one that it replaces.
//
// The one idea: a rewrite is right when it gives the same answer on the same rows. For a
// lookup in a loop that is the answer for each key, taken from the one statement for all;
// for an INSERT the rows of the table afterwards; for an index that the server uses it. A
// statement goes the way that it goes in a run: its values are masked, and the rule itself
// writes the fix, or refuses and says it in words.
//
// What is not SQL is given to the program that it is for: nginx reads its configuration with
// the fix in it, Varnish compiles it, databases read an option file, systemd a unit, and each
// language's own tool the code, for an application in each language. What no tool here can
// read is "not checked" in the table of TestAllFixes.
//
// TestPastedSQL prints the table of all SQL with -v. A rule that prints SQL in any recorded case,
// and has no row there, fails TestEveryRuleHasARow.
package pasted
