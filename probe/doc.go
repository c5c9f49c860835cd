// Package probe asks each endpoint alone, one request at a time, and counts the
// statements that it issues.
package probe
