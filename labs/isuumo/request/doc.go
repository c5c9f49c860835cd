// Package request is what the services of the lab take from a request, and refuse:
// which endpoint a path is, ids, search parameters, polygons, e-mail addresses and
// uploaded rows. The service by SQL and the one from memory both use it, so they
// refuse alike.
//
// What is refused is an [Error] with the status to answer; such answers have no
// body. [Status] returns the status of any error: 500 for all others.
//
// Forms that the benchmark and the pages send are read by plain scanners; any other
// spelling of the same goes through encoding/json, which decides what is valid.
//
// Source: the public interface of ISUCON10's qualifying round, and the statuses that
// its service answered.
package request
