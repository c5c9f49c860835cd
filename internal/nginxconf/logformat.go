package nginxconf

// LogFormatName is the name of [LogFormat]; one that configurations do not have yet, as
// nginx refuses a second log_format of the same name.
const LogFormatName = "kasoku"

// LogFormat is the log_format directive with all that kasoku reads of a request, as LTSV:
// alp and kataribe read it too. The time is $msec, since the seconds of the other forms
// are too coarse to say which statements a request ran. The one text for documents,
// configurations of labs and what `kasoku doctor` proposes.
//
// Sources: nginx ngx_http_log_module, log_format; ngx_http_upstream_module, embedded
// variables; ltsv.org, "Labels for Web server's log".
const LogFormat = `log_format ` + LogFormatName + ` "` + logLine + `";`

const logLine = `time:$msec\thost:$remote_addr\tvhost:$host\tmethod:$request_method\turi:$request_uri\tstatus:$status\t` +
	`size:$body_bytes_sent\trequest_length:$request_length\treqtime:$request_time\t` +
	`upstream_time:$upstream_response_time\tupstream_connect_time:$upstream_connect_time\tua:$http_user_agent`
