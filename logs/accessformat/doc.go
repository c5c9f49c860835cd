// Package accessformat reads the lines of access logs that web servers write, in any
// format.
//
// The one idea: nothing has to be configured. A [Format] is found from the lines, or
// is given in the words of a server's own configuration.
//
// Lines are read in one of two ways. Where text stands between the values, a
// format is a program: text and values by turns, run over the line. LTSV and JSON
// are read by their keys, whose order is expected to be that of the line before.
// Neither allocates. A regexp is the slow way, for formats that are given as one.
//
// [Detect] and [DetectInput] find a format, and [ParseFormat] reads one. A [Parser]
// turns lines into records, [Reader] yields the records of one log after another, and
// [Follower] those of a log that grows. What the records add up to is the matter of
// package accesslog.
//
// Times: servers log when an answer is finished, most of them in whole seconds.
// Request times are durations. The unit is seconds unless the format says otherwise.
// Sizes are bytes of the body.
//
// Sources: nginx ngx_http_log_module ($request_time: seconds with ms); Apache
// mod_log_config (%D: microseconds, %T: seconds); ltsv.org, recommended labels;
// the manuals of goaccess, Envoy, Caddy, Traefik, alp and kataribe.
package accessformat
