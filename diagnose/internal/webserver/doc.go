// Package webserver reads what a run keeps of nginx: its configuration in force, its
// error log, and the requests that it passed on.
package webserver
