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

// ResponseSpooled is the rule NGX-04.
type ResponseSpooled struct{}

// ID returns NGX-04.
func (ResponseSpooled) ID() string { return "NGX-04" }

// Doc describes the rule.
func (ResponseSpooled) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds answers that nginx writes to disk.`,
		Evidence: `nginx's error log says "an upstream response is buffered to a temporary file" for at
			least 1 % of the requests, at least 20.`,
		Cause: `an answer that is larger than proxy_buffers together, 32 or 64 kB unless they are set, is
			written to a file while the client reads it.`,
		Fix: `larger proxy_buffers (fastcgi_buffers, uwsgi_buffers), or for large answers proxy_buffering off;
			better that nginx sends such files itself (X-Accel-Redirect). No size is printed where nginx
			compresses: the log has the bytes after that.`,
		Silent: `when few answers are written to disk; blind when the error log was not read or its level
			is above warn.`,
	}
}

// Check looks for answers on disk.
func (r ResponseSpooled) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s, err := spoolOf(c, nginxconf.ResponseSpooled)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if s.few() {
		return nil, diagnose.Quiet(r.ID(), s.near(),
			"nginx wrote the answers to %s of %s requests to disk; the threshold is %s and %d requests",
			unit.Count(s.lines), unit.Count(s.requests), unit.Percent(spooledShare), fewSpooled)
	}
	var largest uint64
	if s.endpoint != nil {
		largest = s.endpoint.MaxBytes
	}
	fix := s.fix("Pass answers on as they come",
		"A slow client then holds a connection of the application while it reads. Where answers are files, "+
			"X-Accel-Redirect lets nginx send them itself.",
		"buffering off, with the prefix proxy_, fastcgi_, uwsgi_ or scgi_ of what passes them on.",
		s.prefix+"buffering off;")
	switch {
	case s.compressed():
		fix = kasoku.Fix{Text: "Give the location buffers that hold an answer", Where: "nginx.conf", Risk: kasoku.RiskNone,
			Note: "How large answers are is not known: the access log has their bytes after gzip. $upstream_response_length " +
				"in its log_format shows it for the next run. " + s.prefix + "buffers, a number and a size, should hold the largest."}
		largest = 0
	case largest > 0 && largest <= largestBuffer:
		buffers := "buffers 8 " + kilobyteWords(largest/7)
		fix = s.fix("Give the location buffers that hold an answer",
			"The memory is taken for each such answer while the client reads it.",
			buffers+", with the prefix proxy_, fastcgi_, uwsgi_ or scgi_ of what passes them on.", s.prefix+buffers+";")
	}
	evidence := s.evidence(c)
	if largest > 0 {
		evidence = append(evidence, kasoku.Evidence{Source: "access", Text: "the largest answer",
			Value: unit.Bytes(largest), Number: float64(largest), Interval: c.Whole()})
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: s.object(), Title: "nginx writes answers to disk while clients read them",
		Severity:   s.severity(),
		Confidence: s.confidence(), Impact: webserver.SavedTime(c, time.Duration(s.lines)*spoolCost, true), Evidence: evidence,
		Cause: fmt.Sprintf("The answers to %s of %s requests were larger than proxy_buffers together, 32 or 64 kB "+
			"unless they are set, and came faster than clients read. Each made, wrote and read a file.",
			unit.Count(s.lines), unit.Count(s.requests)),
		Fixes: []kasoku.Fix{fix}, Expect: "no such line in nginx's error log, and less writing to disk",
		Verify: "repeat the load and count the lines", Interval: c.Whole(),
	}}, nil
}

// compressed reports whether nginx may compress the answers: then what it sent is less than
// what it got.
func (s spool) compressed() bool {
	if s.config == nil || s.location.Path == "" {
		return false
	}
	for _, name := range []string{"gzip", "brotli", "zstd"} {
		if v := s.config.Value(s.location.At, name); v != "" && v != "off" {
			return true
		}
	}
	return false
}
