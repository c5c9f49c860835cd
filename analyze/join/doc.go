// Package join finds out which endpoint issues which statements, from the times
// of both alone.
package join
