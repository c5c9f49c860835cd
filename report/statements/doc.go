// Package statements shows the SQL of a run: its classes, who issues them, transactions,
// plans, what a server counted by itself and what a probe of endpoints saw.
package statements
