package tenants

import (
	"bytes"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/mysql"
	observe "github.com/kasoku/kasoku/observe/mysql"
)

// counted is what a server's slow log has of the service for sure, and what the server counted
// in the same time: no more than the difference can be others'.
type counted struct {
	from, to    totals
	statements  uint64 // of connections that are the service's for sure
	prepares    uint64
	hasPrepares bool            // the log has prepares, as MySQL's
	procedures  bool            // one was called: a log that has its statements has more than the server counts
	connections map[uint64]bool // that sent them
}

// totals are what a server counted until a time, without kasoku's own.
type totals struct{ statements, prepares float64 }

// Counted takes note of what a server has counted, own of it kasoku's, and returns how many
// statements of others that are. The last two calls are those at the ends of what the log has.
func (b *Book) Counted(s *mysql.Status, own float64) float64 {
	prepares, _ := s.Get(observe.ComStmtPrepare)
	b.from, b.to = b.to, totals{s.Issued() - own, prepares}
	return b.to.statements
}

// isSurelyOwn reports whether an entry is of a connection that was seen to be the service's, or of a
// user, or of a user in a schema, that only such connections had.
func (b *Book) isSurelyOwn(e *slowlog.Event) bool {
	user, schema := string(e.User), string(e.Schema)
	known := func(s *side) bool {
		return s.users[user] && !b.others.users[user] && !b.unclear.users[user] ||
			e.HasOwnSchema() && s.accounts[account{user, schema}] && !b.others.schemas[schema] && !b.unclear.schemas[schema]
	}
	return b.own.connections[e.ThreadID] || known(&b.own)
}

// take counts an entry of the log.
func (b *Book) take(e *slowlog.Event) {
	prepare := e.Admin && bytes.HasSuffix(e.Statement, []byte("Prepare"))
	b.hasPrepares = b.hasPrepares || prepare
	if !e.Admin && len(e.Statement) >= 4 && bytes.EqualFold(e.Statement[:4], []byte("call")) {
		b.procedures = true
	}
	if !b.isSurelyOwn(e) {
		return
	}
	switch {
	case prepare:
		b.prepares++
	case !e.Admin:
		b.statements++
	}
	if b.connections == nil {
		b.connections = map[uint64]bool{}
	}
	b.connections[e.ThreadID] = true
}

// known is what is known of the service's statements; none where the server counted fewer than
// the log has, as when it began anew.
func (b *Book) known(host string) []kasoku.Setting {
	all, prepares := b.to.statements-b.from.statements, b.to.prepares-b.from.prepares
	if b.procedures || !(all >= float64(b.statements)) || !(prepares >= float64(b.prepares)) {
		return nil
	}
	k := kasoku.Known{Connections: uint64(len(b.connections)), Own: b.statements, Statements: uint64(all)}
	if b.hasPrepares {
		k.HasPrepares, k.OwnPrepares, k.Prepares = true, b.prepares, uint64(prepares)
	}
	return k.Settings(host)
}
