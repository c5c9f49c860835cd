package web

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/internal/unit"
)

// RequestSpooled is the rule NGX-03.
type RequestSpooled struct{}

// largestBuffer is what a request may hold in memory; larger ones are streamed.
const largestBuffer = 1 << 20

// ID returns NGX-03.
func (RequestSpooled) ID() string { return "NGX-03" }

// Doc describes the rule.
func (RequestSpooled) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds request bodies that nginx writes to disk.`,
		Evidence: `nginx's error log says "a client request body is buffered to a temporary file" for at
			least 1 % of the requests, at least 20; a remark, where it says so for half of the requests of
			those endpoints, at least 10. The longest request that the access log has
			($request_length) says how large the buffer has to be.`,
		Cause: `a body that is larger than client_body_buffer_size, 16 kB unless it is set, is written to
			a file before it is passed on.`,
		Fix: `a buffer that holds the largest body, or request_buffering off with the prefix of what passes
			the requests on (proxy_, fastcgi_, uwsgi_, scgi_).`,
		Silent: `when few requests are written to disk; blind when the error log was not read or its level
			is above warn.`,
	}
}

// Check looks for requests on disk.
func (r RequestSpooled) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s, err := spoolOf(c, nginxconf.RequestSpooled)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if s.few() && !s.mostOfEndpoints() {
		return nil, diagnose.Quiet(r.ID(), s.near(),
			"nginx wrote the bodies of %s of %s requests to disk; the threshold is %s and %d requests",
			unit.Count(s.lines), unit.Count(s.requests), unit.Percent(spooledShare), fewSpooled)
	}
	var longest uint64
	if s.endpoint != nil {
		longest = s.endpoint.MaxRequestBytes
	}
	size := kilobyteWords(max(longest, 8*16<<10))
	fix := s.fix("Give the location a buffer that holds a body",
		"The memory is taken for each such request while its body comes.",
		"client_body_buffer_size "+size+".", "client_body_buffer_size "+size+";")
	if longest > largestBuffer {
		fix = s.streamed()
	}
	evidence := s.evidence(c)
	sizes := "their size is not known, since the access log has no $request_length"
	if longest > 0 {
		sizes = "the longest has " + unit.Bytes(longest)
		evidence = append(evidence, kasoku.Evidence{Source: "access", Text: "the longest request",
			Value: unit.Bytes(longest), Number: float64(longest), Interval: c.Whole()})
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: s.object(), Title: "nginx writes request bodies to disk before it passes them on",
		Severity:   s.severity(),
		Confidence: s.confidence(), Impact: webserver.SavedTime(c, time.Duration(s.lines)*spoolCost, true), Evidence: evidence,
		Cause: fmt.Sprintf("The bodies of %s of %s requests were larger than client_body_buffer_size, 16 kB unless it "+
			"is set; %s. Each made, wrote and read a file.",
			unit.Count(s.lines), unit.Count(s.requests), sizes),
		Fixes: []kasoku.Fix{fix}, Expect: "no such line in nginx's error log, and less writing to disk",
		Verify: "repeat the load and count the lines", Interval: c.Whole(),
	}}, nil
}

// streamed passes bodies on as they come, which proxy_pass, fastcgi_pass and uwsgi_pass can do.
func (s spool) streamed() kasoku.Fix {
	lines := []string{s.prefix + "request_buffering off;"}
	if s.prefix == "proxy_" {
		lines = append(lines, "proxy_http_version 1.1;")
	}
	return s.fix("Pass bodies on as they come",
		"A slow client then holds a connection of the application for as long as it sends.",
		"request_buffering off, with the prefix proxy_, fastcgi_, uwsgi_ or scgi_ of what passes them on.", lines...)
}
