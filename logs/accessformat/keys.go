package accessformat

import (
	"encoding/binary"
	"maps"
	"strings"
	"time"
)

// A keyTable is what the keys of LTSV and JSON lines mean. It does not change
// once it is made.
type keyTable map[string]*slot

// A keyRow gives one meaning to several keys.
type keyRow struct {
	meaning
	keys string // with blanks between
}

// keyRows are the keys that servers, proxies and frameworks write, and those that
// log analysers read. A key of a nested JSON object has the names of the objects
// before it, with points between. Where several keys of one line have the same
// meaning, the rank decides: what the server measured of the whole request comes
// before what somebody else took, and the finer unit before the coarser.
//
// Sources: ltsv.org, "Labels for Web server's log"; alp's README (ltsv, json);
// kataribe's README; nginx ngx_http_log_module and ngx_http_upstream_module;
// Caddy "log" directive and its JSON fields; Traefik "Access Logs", fields;
// Envoy "Access logging", default format of JSON; Echo's Logger middleware;
// Google Cloud LogEntry.HttpRequest; Elastic Common Schema, http, url and event.
var keyRows = []keyRow{
	{meaning{what: aTime, rank: 3}, `time time_local time_iso8601 msec timestamp ts @timestamp datetime date_time`},
	{meaning{what: aTime, rank: 2}, `t local_time requested_at start_time time_unix timeLocal timeIso8601`},
	{meaning{what: aTime, rank: 1}, `StartLocal StartUTC wall_milli`},

	{meaning{what: aRequest, rank: 1}, `req request request_line requestLine http.request`},
	{meaning{what: aMethod, rank: 1}, `method request_method verb http_method requestMethod RequestMethod request.method req.method
		httpRequest.requestMethod http.request.method`},
	{meaning{what: aPath, rank: 3}, `uri request_uri requestUri request.uri req.url RequestPath httpRequest.requestUrl url.original http.url`},
	{meaning{what: aPath, rank: 2}, `path url request_path url.path :path http.path requestPath`},
	{meaning{what: aProtocol, rank: 1}, `protocol server_protocol proto request_protocol http_version RequestProtocol request.proto
		httpRequest.protocol`},

	{meaning{what: aStatus, rank: 3}, `status status_code code DownstreamStatus http_status httpRequest.status http.response.status_code`},
	{meaning{what: aStatus, rank: 2}, `response_code statusCode responseStatus res.statusCode`},
	{meaning{what: aStatus, rank: 1}, `OriginStatus`},

	{meaning{what: aSize, rank: 2}, `size body_bytes_sent body_bytes bytes DownstreamContentSize bytes_out resp_body_size response_size
		responseSize bodyBytesSent httpRequest.responseSize http.response.body.bytes length content_length`},
	{meaning{what: aSize, rank: 1}, `bytes_sent OriginContentSize bytesSent`},
	{meaning{what: aRequestSize, rank: 1}, `reqsize request_length request_size bytes_in bytes_received bytes_read RequestContentSize requestLength
		httpRequest.requestSize http.request.bytes`},

	{meaning{what: aLatency, rank: 5, unit: time.Nanosecond},
		`duration_ns latency_ns request_time_ns event.duration Duration`},
	{meaning{what: aLatency, rank: 4, unit: time.Microsecond}, `reqtime_microsec reqtime_usec request_time_us request_time_usec
		request_time_microsec duration_us latency_us taken_usec taken_microsec`},
	{meaning{what: aLatency, rank: 3, unit: time.Millisecond}, `reqtime_msec reqtime_ms request_time_ms request_time_msec duration_ms
		latency_ms elapsed_ms durationMs response_time_ms taken_msec taken_ms`},
	{meaning{what: aLatency, rank: 3, unit: time.Second},
		`reqtime request_time reqtime_sec request_time_sec requestTime duration_sec`},
	{meaning{what: aLatency, rank: 2}, `duration latency elapsed responseTime processing_time httpRequest.latency elapsed_time took`},
	{meaning{what: aLatency, rank: 3, unit: time.Second}, `latency_human`},
	{meaning{what: aLatency, rank: 1, unit: time.Second}, `taken_sec taken`},

	{meaning{what: anUpstream, rank: 3, unit: time.Second},
		`apptime upstream_response_time upstreamResponseTime upstream_time app_time`},
	{meaning{what: anUpstream, rank: 3, unit: time.Nanosecond}, `OriginDuration`},
	{meaning{what: anUpstream, rank: 3, unit: time.Millisecond}, `upstream_service_time apptime_msec apptime_ms`},
	{meaning{what: anUpstream, rank: 3, unit: time.Microsecond}, `apptime_microsec apptime_usec`},
	{meaning{what: anUpstream, rank: 2, unit: time.Second}, `response_time`},
	{meaning{what: anUpstream, rank: 1, unit: time.Second}, `runtime`},

	{meaning{what: aConnect, rank: 1, unit: time.Second}, `upstream_connect_time upstreamConnectTime uct`},

	{meaning{what: aRemoteAddr, rank: 2},
		`host remote_addr remoteAddr client_ip ClientHost remote_ip request.remote_ip httpRequest.remoteIp client.ip`},
	{meaning{what: aRemoteAddr, rank: 1},
		`ClientAddr request.client_ip request.remote_addr client remote clientip ip downstream_remote_address`},
	{meaning{what: aUser, rank: 1}, `user remote_user remoteUser user_id ClientUsername user.name`},
	{meaning{what: aReferer, rank: 1}, `referer referrer http_referer httpReferer request_Referer request.headers.Referer httpRequest.referer
		http.request.referrer`},
	{meaning{what: anAgent, rank: 1}, `ua user_agent http_user_agent useragent userAgent agent request_User-Agent request.headers.User-Agent
		httpRequest.userAgent user_agent.original httpUserAgent`},
	{meaning{what: aVHost, rank: 2}, `vhost http_host server_name RequestHost request.host authority`},
	{meaning{what: aVHost, rank: 1}, `server virtual_host RequestAddr serverName url.domain`},
	{meaning{what: aForwardedFor, rank: 1}, `forwardedfor x_forwarded_for http_x_forwarded_for forwarded_for xff
		request.headers.X-Forwarded-For request_X-Forwarded-For httpXForwardedFor`},
}

// newKeyTable returns the table of all known keys, inside of a JSON object: root
// is its name with a point, empty for the line itself.
func newKeyTable(root string) keyTable {
	t := keyTable{}
	for _, row := range keyRows {
		for _, key := range strings.Fields(row.keys) {
			t.add(root+key, row.meaning)
		}
	}
	return t
}

// add gives a key a meaning.
func (t keyTable) add(key string, m meaning) *slot {
	s := t[key]
	if s == nil {
		s = &slot{extra: -1}
		t[key] = s
	}
	s.meaning, s.name = m, key
	t.openObjects(key)
	return s
}

// openObjects marks the objects that a key with points may lie in.
func (t keyTable) openObjects(key string) {
	for i := range len(key) {
		if key[i] != '.' || i == 0 {
			continue
		}
		s := t[key[:i]]
		if s == nil {
			s = &slot{extra: -1, name: key[:i]}
			t[key[:i]] = s
		}
		s.object = true
	}
}

// with returns the table with the keys that a caller wants in addition.
func (t keyTable) with(extra []string) keyTable {
	if len(extra) == 0 {
		return t
	}
	t = maps.Clone(t)
	for i, key := range extra {
		s := slot{name: key}
		if old := t[key]; old != nil {
			s = *old
		}
		s.extra = i
		t[key] = &s
		t.cloneObjects(key)
	}
	return t
}

// cloneObjects marks objects in a table whose slots belong to another one.
func (t keyTable) cloneObjects(key string) {
	for i := range len(key) {
		if key[i] != '.' || i == 0 {
			continue
		}
		s := slot{extra: -1, name: key[:i]}
		if old := t[key[:i]]; old != nil {
			s = *old
		}
		s.object = true
		t[key[:i]] = &s
	}
}

// A layout remembers which keys the last line had, in their order: as a rule the
// next line has the same.
type layout []spot

// A spot is the key at one place of a line.
type spot struct {
	// The first 16 bytes of the label, and which of their bits it has: two
	// comparisons of words take less than one of memory.
	word, mask [2]uint64
	label      []byte // as it stood there, up to the value; empty when there was none
	parent     *slot  // the JSON object that it lay in
	slot       *slot  // nil for a key that is not wanted
}

// maxSpots and maxLabel bound what a layout remembers.
const (
	maxSpots = 128
	maxLabel = 128
)

// learn remembers the key at a place.
func (l *layout) learn(n int, label []byte, parent, s *slot) {
	if n >= maxSpots {
		return
	}
	if n >= len(*l) {
		*l = append(*l, make([]spot, n+1-len(*l))...)
	}
	at := &(*l)[n]
	at.label = at.label[:0]
	if len(label) <= maxLabel {
		at.label = append(at.label, label...)
	}
	at.parent, at.slot = parent, s
	var text, bits [16]byte
	for i := range copy(text[:], at.label) {
		bits[i] = 0xff
	}
	for i := range at.word {
		at.word[i], at.mask[i] = binary.LittleEndian.Uint64(text[8*i:]), binary.LittleEndian.Uint64(bits[8*i:])
	}
}

// find returns the spot when the line goes on with its label.
func (l layout) find(n int, line []byte, parent *slot) *spot {
	if n >= len(l) {
		return nil
	}
	at := &l[n]
	k := len(at.label)
	if k == 0 || at.parent != parent || len(line) < k {
		return nil
	}
	if len(line) < 16 {
		if string(line[:k]) == string(at.label) {
			return at
		}
		return nil
	}
	if (binary.LittleEndian.Uint64(line)^at.word[0])&at.mask[0]|(binary.LittleEndian.Uint64(line[8:])^at.word[1])&at.mask[1] != 0 {
		return nil
	}
	if k > 16 && string(line[16:k]) != string(at.label[16:]) {
		return nil
	}
	return at
}

// beginKeys forgets what the last line had.
func (p *Parser) beginKeys() {
	p.line.ranks = [numFields]uint8{}
	p.line.bad, p.line.request, p.line.asked, p.line.known = nil, nil, false, 0
}

// keyed puts the value of a key into the record and reports whether it makes
// sense.
func (p *Parser) keyed(s *slot, v []byte, r *Record) bool {
	if s.extra >= 0 {
		p.extra[s.extra] = v
	}
	if s.what == noField {
		return true
	}
	p.line.known++
	if s.rank < p.line.ranks[s.what] {
		return true
	}
	if isDash(v) {
		p.dash(s, v, r)
		return true
	}
	ok := true
	switch s.what {
	case aPath:
		p.line.asked = true
		r.Path = v
	case aRequest:
		p.line.asked, p.line.request = true, v
	case aTime:
		if ok = p.times.parse(v); ok {
			p.times.set(r)
		}
	default:
		ok = p.value(s, v, r)
	}
	switch {
	case ok:
		p.line.ranks[s.what] = s.rank
	case s.what == aLatency || s.what == anUpstream || s.what == aTime:
		p.line.bad, p.line.badText = s, v // another key may give it
	default:
		return false
	}
	return true
}

// dash takes note of a key that says that there is no value.
func (p *Parser) dash(s *slot, v []byte, r *Record) {
	switch s.what {
	case aPath:
		p.line.asked = true
	case aRequest:
		p.line.asked, p.line.request = true, v
	case aTime:
	default:
		if p.line.ranks[s.what] == 0 {
			p.value(s, v, r) // texts keep their dash
		}
	}
}

// finishKeyed ties up a line of keys. It returns why they are no record.
func (p *Parser) finishKeyed(r *Record) (why string) {
	switch {
	case p.line.known < p.format.needs:
		return "no keys of an access log"
	case !p.line.asked:
		return "neither uri nor request"
	case p.line.bad != nil && p.line.ranks[p.line.bad.what] == 0:
		return badValue(p.line.bad.name, p.line.badText)
	}
	if p.line.request != nil {
		p.finishRequest(r)
	}
	p.finish(r)
	return ""
}

// finishRequest takes from the request line what no other key gave.
func (p *Parser) finishRequest(r *Record) {
	method, path, protocol := r.Method, r.Path, r.Protocol
	if v := p.line.request; len(method) > 0 && len(path) > 0 { // the protocol is all that it can add
		r.Request = v
		if n := len(v) - len("HTTP/1.1"); n > 0 && len(protocol) == 0 && string(v[n-1:n+5]) == " HTTP/" {
			r.Protocol = v[n:]
		}
		return
	}
	requestLine(p.line.request, r)
	if len(method) > 0 {
		r.Method = method
	}
	if len(path) > 0 {
		r.Path = path
	}
	if len(protocol) > 0 {
		r.Protocol = protocol
	}
}
