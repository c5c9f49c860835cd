// Package indexes proposes indexes for the statements of a run, and names those
// that are not used.
//
// The one idea: an index is judged by all statements of the run at once. Each
// statement is read with the SQL grammar to learn what it does with each table:
// columns that it compares for equality, ranges, order, rows that it wants. From
// that come candidates; a small model estimates what each statement would read with
// each of them; and the candidate that saves the most of the time that was measured
// is taken, again and again, until none saves more than it costs at writes.
//
// The model counts rows read one after another as 1. It need not be right about
// time, only about which way of reading is the shorter one, by how much about.
// Where a figure of the run says more, such as rows sent or examined, the model
// takes it. What is not known of a column is assumed, see the constants.
//
// Nothing here does I/O, and nothing knows the data: values of statements were
// masked before. Start at [Propose].
//
// Sources: MySQL 9.7 Reference Manual, "Optimization and Indexes", "ORDER BY
// Optimization", "Index Condition Pushdown", "Descending Indexes", "Creating Spatial
// Indexes"; MariaDB documentation, the same subjects; Lahdenmäki and Leach,
// "Relational Database Index Design and the Optimizers", 2005.
package indexes
