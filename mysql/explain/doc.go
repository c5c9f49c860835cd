// Package explain asks a server how it runs the statements that took the most
// time, and what the tables that they read look like.
//
// The one idea: a plan is that of a real statement. A fingerprint has no plan, and
// the statement with other values may have another one; so the slowest statement
// of a class is asked about, as it was sent. No statement is run unless
// [Options.Analyze] asks for it: where a server refuses to explain one that writes,
// the SELECT that finds the same rows is explained in its place, and the plan says so.
//
// Sources: MySQL 9.7 Reference Manual, UPDATE, DELETE, INSERT … SELECT; MariaDB
// documentation, the same statements.
package explain
