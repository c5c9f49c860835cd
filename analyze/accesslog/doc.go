// Package accesslog reads the access logs of web servers and boils them down
// to endpoints: method and route.
//
// The one idea: nothing has to be configured. The format is found from the
// first lines, and routes from the paths alone: the query string goes, and
// every segment that is an id (a number, a date, a uuid, a ulid, a hash)
// becomes :id.
//
// Two families of formats are known: LTSV with the names that nginx examples,
// alp and kataribe use, and the combined or common format with or without a
// request time behind it. [Reader] yields records, [Table] adds them up,
// [Collect] does both.
//
// Times: servers log when an answer is finished, most of them in whole seconds.
// Request times are durations; the unit is seconds unless the format says
// otherwise. Sizes are bytes of the body.
//
// Sources: nginx ngx_http_log_module ($request_time: seconds with ms); Apache
// mod_log_config (%D: microseconds, %T: seconds); ltsv.org, recommended labels;
// alp's and kataribe's documentation.
package accesslog
