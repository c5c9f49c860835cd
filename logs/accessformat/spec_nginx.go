package accessformat

import (
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/nginxconf"
)

// nginxVariables are the variables of nginx that mean something here.
//
// Sources: nginx ngx_http_core_module, Embedded Variables; ngx_http_log_module;
// ngx_http_upstream_module.
var nginxVariables = map[string]meaning{
	"time_local": {what: aTime, rank: 1}, "time_iso8601": {what: aTime, rank: 2}, "msec": {what: aTime, rank: 3},
	"request": {what: aRequest, rank: 1}, "request_method": {what: aMethod, rank: 1},
	"server_protocol": {what: aProtocol, rank: 1},
	"request_uri":     {what: aPath, rank: 3}, "uri": {what: aPath, rank: 2}, "document_uri": {what: aPath, rank: 1},
	"args": {what: aQuery, rank: 1}, "query_string": {what: aQuery, rank: 1},
	"status": {what: aStatus, rank: 1}, "body_bytes_sent": {what: aSize, rank: 2}, "bytes_sent": {what: aSize, rank: 1},
	"request_length":         {what: aRequestSize, rank: 1},
	"request_time":           {what: aLatency, rank: 2, unit: time.Second},
	"session_time":           {what: aLatency, rank: 1, unit: time.Second},
	"upstream_response_time": {what: anUpstream, rank: 1, unit: time.Second},
	"upstream_connect_time":  {what: aConnect, rank: 1, unit: time.Second},
	"remote_addr":            {what: aRemoteAddr, rank: 2}, "binary_remote_addr": {},
	"realip_remote_addr": {what: aRemoteAddr, rank: 1},
	"remote_user":        {what: aUser, rank: 1}, "http_referer": {what: aReferer, rank: 1},
	"http_user_agent": {what: anAgent, rank: 1},
	"host":            {what: aVHost, rank: 3}, "http_host": {what: aVHost, rank: 2},
	"server_name":          {what: aVHost, rank: 1},
	"http_x_forwarded_for": {what: aForwardedFor, rank: 2}, "proxy_add_x_forwarded_for": {what: aForwardedFor, rank: 1},
}

// parseNginx reads a log_format directive, the quoted strings of one, or the text
// in them.
func parseNginx(spec string) (*Format, error) {
	name := "nginx"
	text := spec
	switch {
	case strings.HasPrefix(spec, "log_format"):
		config, err := nginxconf.Parse(spec, "format")
		if len(config) == 0 || len(config[0].Words) < 3 {
			return nil, &FormatError{Spec: spec, At: len(spec), Problem: "the directive has no format",
				Expected: "log_format NAME 'FORMAT';"}
		}
		if err != nil && strings.Contains(err.Error(), "quote") {
			return nil, &FormatError{Spec: spec, Problem: "a quote is not closed",
				Expected: "log_format NAME 'FORMAT';"}
		}
		name, text = logFormat(config[0].Words)
	case spec[0] == '\'' || spec[0] == '"':
		config, err := nginxconf.Parse("log_format nginx "+spec, "format")
		words := config[0].Words
		switch unclosed := err != nil && strings.Contains(err.Error(), "quote"); {
		case spec[0] == '"' && (unclosed || len(words) != 3) && !strings.Contains(spec, "\n"):
			text = bareText(spec) // the quote is one of the format
		case unclosed:
			return nil, &FormatError{Spec: spec, Problem: "a quote is not closed",
				Expected: spec[:1] + " after the format"}
		default:
			_, text = logFormat(words)
		}
	default:
		text = bareText(spec)
	}
	return nginxFormat(name, text)
}

// bareText returns the text of a format that was given without quotes around it.
func bareText(spec string) string {
	return strings.NewReplacer(`\t`, "\t", `\"`, `"`, `\'`, `'`).Replace(strings.TrimSuffix(spec, ";"))
}

// logFormat returns name and text of the words of a log_format.
func logFormat(words []string) (name, text string) {
	parts := words[2:]
	if strings.HasPrefix(parts[0], "escape=") {
		parts = parts[1:]
	}
	return words[1], strings.Join(parts, "")
}

// nginxFormat makes a format of the text of a log_format.
func nginxFormat(name, text string) (*Format, error) {
	var pieces []piece
	for i := 0; i < len(text); {
		dollar := strings.IndexByte(text[i:], '$')
		if dollar < 0 {
			pieces = append(pieces, piece{text: text[i:], at: i})
			break
		}
		if dollar > 0 {
			pieces = append(pieces, piece{text: text[i : i+dollar], at: i})
			i += dollar
		}
		variable, n := variableAt(text[i:])
		if n == 0 {
			return nil, &FormatError{Spec: text, At: i, Problem: "no name after the dollar sign",
				Expected: "a variable such as $status or ${status}"}
		}
		p := piece{name: "$" + variable, key: variable, at: i, meaning: nginxVariables[variable]}
		p.list = strings.HasPrefix(variable, "upstream_")
		pieces = append(pieces, p)
		i += n
	}
	return fromPieces(name, text, pieces)
}

// variableAt returns the name of the variable that s starts with, and how many
// bytes it takes; 0 when there is no name.
func variableAt(s string) (name string, n int) {
	rest := s[1:]
	braces := strings.HasPrefix(rest, "{")
	if braces {
		rest = rest[1:]
	}
	for n < len(rest) && (isToken[rest[n]] && rest[n] != '-' || isDigit(rest[n])) {
		n++
	}
	if n == 0 || braces && (n >= len(rest) || rest[n] != '}') {
		return "", 0
	}
	if braces {
		return rest[:n], n + 3
	}
	return rest[:n], n + 1
}
