package slowlog

import "bytes"

// generalStatement turns what a line of the general log says into a statement:
// queries and executions are what they run, everything else is an administrator
// command.
func (p *parser) generalStatement(e *Event) {
	switch e.command {
	case "Query", "Execute":
		return
	case "Init DB":
		e.Schema, e.hasSchema = bytes.TrimSpace(e.Statement), true
	case "Connect":
		parseConnect(e)
	}
	e.Admin = true
	from := len(p.b.extra)
	p.b.extra = append(append(p.b.extra, "administrator command: "...), e.command...)
	e.Statement = p.b.extra[from:len(p.b.extra):len(p.b.extra)]
}

// parseConnect reads "root@localhost on shop using Socket", or without a database, or
// "root@localhost as anonymous on shop", or "Access denied for user …".
func parseConnect(e *Event) {
	text := e.Statement
	at := bytes.IndexByte(text, '@')
	if at < 0 || bytes.IndexByte(text[:at], ' ') >= 0 {
		return
	}
	e.User = text[:at]
	host, rest, _ := bytes.Cut(text[at+1:], []byte(" "))
	e.Host = host
	if _, db, ok := bytes.Cut(append([]byte{' '}, rest...), []byte(" on ")); ok {
		if i := bytes.IndexByte(db, ' '); i >= 0 {
			db = db[:i]
		}
		if string(db) != "using" && len(db) > 0 {
			e.Schema, e.hasSchema = db, true
		}
	}
}
