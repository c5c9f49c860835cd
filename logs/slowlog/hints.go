package slowlog

import (
	"bytes"

	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// hints is what the entries of a log say about the server that wrote it.
type hints struct {
	mariadb, mysql, percona bool
}

func (t *hints) see(e *Event) {
	switch {
	case e.hasErrno:
		t.percona = true
	case e.HasAffected || e.hasSchema && len(e.use) == 0:
		t.mariadb = true
	case !e.logged.IsZero():
		t.mysql = true
	}
}

// format returns what a log is. What a banner says comes before what the entries
// look like.
func (t *hints) format(c *cutter) string {
	switch {
	case c.kind == General:
		return "general"
	case c.kind == Raw:
		return "raw"
	case c.banners.mariadb:
		return "mariadb"
	case t.percona:
		return "percona"
	case c.banners.mysql:
		return "mysql"
	case t.mariadb:
		return "mariadb"
	case t.mysql:
		return "mysql"
	}
	return ""
}

// dropStatement counts a line that is likely a part of a statement, and masks the
// literals of what is kept of it.
func dropStatement(a *logs.Account, e *Event) {
	n := len(a.Bad)
	a.Drop(1, e.Line, e.Statement, "outside of an entry, a head such as \"# User@Host: …\" was expected")
	for i := range a.Bad[n:] {
		bad := &a.Bad[n+i]
		bad.Text = string(sqlshape.AppendMasked(nil, []byte(bad.Text), 2*len(bad.Text)))
	}
}

func firstLine(b []byte) []byte {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return bytes.TrimRight(line, "\r")
}
