// Package cell makes the cells of tables: the text that people read and the raw value that
// machines do. What was not measured is a cell of its own, never a zero.
package cell
