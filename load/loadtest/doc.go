// Package loadtest is for the tests of load engines: a hostile server, and what
// every engine must make of it.
package loadtest
