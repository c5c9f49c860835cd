package ptquerydigest

import (
	"strings"

	"github.com/kasoku/kasoku/analyze/slowlog"
	"github.com/kasoku/kasoku/analyze/sqlshape"
)

// echo prints an event as a slow log has it.
func (p *printer) echo(r *reading, e *slowlog.Event) {
	if !e.Logged.IsZero() {
		p.line("# Time: %s", p.echoTime(r, e))
	}
	p.line("# User@Host: %s", userLine(e))
	e.Attributes(func(name, v []byte) bool { return true })
	sql := string(e.Statement)
	if p.o.output == "secure-slowlog" {
		var s sqlshape.Shaper
		sql = string(s.Fingerprint(e.Statement))
	}
	if e.Admin {
		sql = "# " + sql
	}
	p.line("%s;", strings.TrimRight(sql, "\n"))
}
func (p *printer) echoTime(r *reading, e *slowlog.Event) string { return "" }
func userLine(e *slowlog.Event) string                          { return "" }
