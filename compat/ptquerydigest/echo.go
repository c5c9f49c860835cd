package ptquerydigest

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku/logs/slowlog"
)

// echoed are the attributes that an event keeps in --output slowlog.
var echoed = []string{"Query_time", "Lock_time", "Rows_sent", "Rows_examined"}

// echo prints an event as a slow log has it, with few of its attributes, and of
// --output secure-slowlog without its values.
func (p *printer) echo(r *reading, e *slowlog.Event) {
	if !e.Logged.IsZero() {
		p.line("# Time: %s", r.echoTime(e.Logged))
	}
	p.line("# User@Host: %s[%[1]s] @ %s []", e.User, e.Host)
	if e.ThreadID > 0 {
		p.line("# Thread_id: %d", e.ThreadID)
	}
	p.w.WriteByte('#')
	sep := " "
	for _, name := range echoed {
		if v := r.attributeOf(e, name); v != "" {
			fmt.Fprintf(p.w, "%s%s: %s", sep, name, v)
			sep = "  "
		}
	}
	p.w.WriteByte('\n')
	if len(r.db) > 0 {
		p.line("use %s;", r.db)
	}
	sql := e.Statement
	if p.o.output == "secure-slowlog" {
		sql = r.shaper.Fingerprint(sql)
	}
	if e.Admin {
		p.w.WriteString("# ")
	}
	p.w.Write(sql)
	p.w.WriteString(";\n")
}

// echoTime prints a time as the log has it.
func (r *reading) echoTime(t time.Time) string {
	if r.iso {
		return r.stamp(t)
	}
	return fmt.Sprintf("%s %2d:%s", t.Format("060102"), t.Hour(), t.Format("04:05"))
}
