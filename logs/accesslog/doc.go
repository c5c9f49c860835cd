// Package accesslog reads the access logs of web servers and boils them down
// to rows: by method and route, or by any other values of the lines.
//
// The one idea: nothing has to be configured. A [Format] is found from the first
// lines, or is given in the words of a server's own configuration; routes are
// found from the paths and from how often they come (package routes).
//
// Lines are read in one of two ways. Where text stands between the values, a
// format is a program: text and values by turns, run over the line. LTSV and JSON
// are read by their keys, whose order is expected to be that of the line before.
// Neither allocates. A regexp is the slow way, for formats that are given as one.
//
// A [Parser] turns lines of a format into records, a [Table] adds records up,
// and a [Filter] says which. [Reader] yields the records of one log after
// another; [CollectAll] reads any number of logs side by side into one table,
// which is the same however many workers there are, and accounts for every line.
// Memory is bounded: a table follows some twenty thousand different keys, and
// puts the requests of the others into the row [Other].
//
// Times: servers log when an answer is finished, most of them in whole seconds.
// Request times are durations; where a log gives them in milliseconds, quantiles
// are exact. The unit is seconds unless the format says otherwise. Sizes are
// bytes of the body.
//
// Sources: nginx ngx_http_log_module ($request_time: seconds with ms); Apache
// mod_log_config (%D: microseconds, %T: seconds); ltsv.org, recommended labels;
// the manuals of goaccess, Envoy, Caddy, Traefik, alp and kataribe.
package accesslog
