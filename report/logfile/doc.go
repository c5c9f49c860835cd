// Package logfile shows logs that belong to no run: access logs, slow logs, and two sides
// of either.
package logfile
