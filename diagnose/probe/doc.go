// Package probe asks each endpoint alone, one request at a time, and counts the
// statements that it issues.
//
// The one idea: with a single request in flight, whatever reaches the database is
// that request's. The slow log, switched on for every statement and put back
// afterwards, is cut at the moments between the requests: what it gained from one
// to the next belongs to one request, or to none while nothing was asked, which
// separates the statements of background jobs. So the counts are exact, their
// spread over the requests is that of the data, and where the rows of one class of
// statements rise and fall with the number of another, the second is a loop over
// the first: N+1.
//
// The log is read from its file where this process may, cut by offsets; else from
// the table mysql.slow_log, cut by the server's own clock.
//
// Only what is idempotent by its method, GET and HEAD, is asked, unless an endpoint
// is allowed by name. Start at [Run]; [FromTargets] and [FromRecording] say what
// there is to ask.
//
// Times are wall times of this process, but for those of the table. Sources: RFC
// 9110, 9.2.2, Idempotent Methods; MySQL 9.7 Reference Manual, "Selecting General
// Query Log and Slow Query Log Output Destinations".
package probe
