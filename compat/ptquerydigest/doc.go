// Package ptquerydigest is pt-query-digest on kasoku's reader: it takes the same
// command line and prints the same report, profile and JSON.
//
// The one idea: the logs are read once into classes with the statistics of
// [github.com/kasoku/kasoku/logs/buckets], which are those of pt-query-digest;
// the rest is layout. What is printed equals pt-query-digest 3.2.1, but for what
// differs from run to run there, and for the deliberate differences that
// docs/compat.md lists. Where it depends on the order of a hash, the order here is
// fixed.
//
// Nothing here was taken from pt-query-digest. The rules come from its manual
// page and from running it on logs made for the purpose; the tests run both side
// by side.
package ptquerydigest
