// Package tenants distinguishes who uses a database server: the service that is measured, and
// programs outside of it that have schemas or users of their own there.
//
// The one idea: topology knows at both ends whose a connection is, by its port, and the server
// knows as which user it came and which schema it uses. A user or a schema that a neighbour's
// connection has, and none that may be a member's, is the neighbour's. What is not known by both
// stays in the run as it was. A connection by a Unix socket has no port that the server knows:
// whose it is shows the socket that the session's thread waits at, while it is idle.
//
// Start at [Book].
package tenants

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/topology/members"
	"github.com/kasoku/kasoku/topology/scan"
)

// A Book holds whose users, schemas and connections those of a server are. The zero value
// knows nothing: all is the service's. Keep and what returns its counts are for one goroutine at a time,
// when it learns nothing more.
type Book struct {
	Apart Apart // does each look at the sessions

	mu          sync.Mutex // guards own, others and asked, which sources ask for while the service is watched
	asked       bool
	own, others side
	unclear     side // clients of whom it is not known whose they are
	left        Left
	sent        map[uint64]bool // connections that sent statements: others' are true
	sessions    map[uint64]bool // that used the service's own user and schema
	hunt        *hunt           // nil where all sessions are known by one look
	counted
}

// Apart does a look when what it adds to the server's counters does no harm; nil for at once.
type Apart func(look func())

func (f Apart) do(look func()) {
	if f == nil {
		look()
		return
	}
	f(look)
}

// A side is what connections of the service have, or those of others.
type side struct {
	connections    map[uint64]bool // by connection id
	users, schemas map[string]bool
	accounts       map[account]bool
}

// An account is what a connection uses.
type account struct{ user, schema string }

func (s *side) add(c mysql.Client) {
	if s.connections == nil {
		s.connections, s.accounts = map[uint64]bool{}, map[account]bool{}
	}
	s.connections[c.ID], s.accounts[account{c.User, c.DB}] = true, true
	s.use(c.User, c.DB)
}

// use takes note of a user and a schema.
func (s *side) use(user, schema string) {
	if s.users == nil {
		s.users, s.schemas = map[string]bool{}, map[string]bool{}
	}
	if s.users[user] = true; schema != "" {
		s.schemas[schema] = true
	}
}

// Left is what a slow log holds of others, what of whom it is not known, and what in all.
type Left struct {
	Statements uint64 // of others, without administrator commands
	Unknown    uint64 // likewise, of sessions of which it is not known whose they are
	Time, All  time.Duration

	UnknownTime time.Duration
}

// Ask learns of a server that a look at the service saw others use, whose clients the reader
// is asked for once, and where programs connect anew for each request some times more; dsn is
// kasoku's, whose schema is the service's by the user's word. Where the server does not say,
// nothing is learned. own are kasoku's other processes.
func (b *Book) Ask(ctx context.Context, r *mysql.Reader, seen *members.Result, dsn string, own ...int) {
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.asked = true
	}()
	for i := range seen.Service.Members {
		m := &seen.Service.Members[i]
		from, ok := seen.Callers[m.ID]
		hunt := newHunt(seen, m.ID, dsn, own)
		if !ok && hunt == nil || !slices.ContainsFunc(m.Found, func(r kasoku.Reason) bool { return r.By == kasoku.ByDSN }) {
			continue
		}
		sessions := mysql.NewClients(r)
		var clients []mysql.Client
		var err error
		// First: looks at sockets may take what time there is on a busy host.
		b.Apart.do(func() { clients, err = sessions.List(ctx) })
		if err != nil {
			continue
		}
		threads := func(ctx context.Context) (all map[uint64]int, err error) {
			b.Apart.do(func() { all, err = sessions.Threads(ctx) })
			return all, err
		}
		if slices.ContainsFunc(clients, func(c mysql.Client) bool { return isNew(c, from) }) {
			from.Members = append(slices.Clone(from.Members), portsOf(ctx, seen.At(m.ID), seen.Parties)...)
		}
		ends := socketsOf(ctx, threads, m.Leader().PID, slices.Concat(from.MemberSockets, from.OtherSockets))
		b.hunts(hunt, ends)
		b.learn(clients, from, ends, mysqlflags.Database(dsn))
		if hunt != nil {
			b.burst(ctx, r)
		}
	}
}

// isNew reports whether a client came from a port of this host that a look did not see: it connected after it.
func isNew(c mysql.Client, from members.Callers) bool {
	port := portOf(c.Host)
	return port != 0 && isLocal(c.Host) && !slices.Contains(from.Members, port) && !slices.Contains(from.Others, port)
}

// portsOf returns the ports from which members call a server now: those whose ends their processes hold.
// None where that cannot be seen.
func portsOf(ctx context.Context, at scan.Server, parties []members.Party) (ports []uint16) {
	var pids []int
	for _, p := range parties {
		if p.Member && len(p.At) == 0 { // else its leader leads others' processes too
			pids = append(append(pids, p.Leader), p.PIDs...)
		}
	}
	callers, err := scan.Callers(ctx, at)
	if err != nil {
		return nil
	}
	held := scan.HoldersOf(pids)
	for _, k := range callers {
		if k.Port != 0 && len(held[k.Inode]) > 0 {
			ports = append(ports, k.Port)
		}
	}
	return ports
}

// hunts takes over a hunt, of which it goes on where the one before was.
func (b *Book) hunts(h *hunt, ends map[uint64]uint32) {
	if h == nil {
		return
	}
	h.ends = ends
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hunt != nil {
		h.turn, h.votes, h.loose, h.shared = b.hunt.turn, b.hunt.votes, b.hunt.loose, b.hunt.shared
	}
	b.hunt = h
}

// learn takes note of the clients of a server, of which it is known from which ports members
// call it, and others, and at which of the server's sockets; ends are those of connections. A
// client of whom that is not known may be a member, unless a neighbour has that very user and
// schema.
func (b *Book) learn(clients []mysql.Client, from members.Callers, ends map[uint64]uint32, schema string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var unclear []account
	for _, c := range clients {
		port, end := portOf(c.Host), ends[c.ID]
		member := slices.Contains(from.Members, port) || end != 0 && slices.Contains(from.MemberSockets, end)
		other := slices.Contains(from.Others, port) || end != 0 && slices.Contains(from.OtherSockets, end)
		switch {
		case member && !other:
			b.own.add(c)
		case other && !member:
			b.others.add(c)
		case b.hunt == nil || !isLocal(c.Host): // else it may be anyone's, and is looked for
			unclear = append(unclear, account{c.User, c.DB})
		}
	}
	for _, a := range unclear {
		b.unclear.use(a.user, a.schema)
		if !b.others.accounts[a] || b.own.accounts[a] {
			b.own.use(a.user, a.schema)
		}
	}
	if schema != "" && (b.own.schemas != nil || b.hunt != nil) {
		if b.own.schemas == nil {
			b.own.users, b.own.schemas = map[string]bool{}, map[string]bool{}
		}
		b.own.schemas[schema] = true
	}
}

// portOf returns the port of a client, 0 where it has none.
func portOf(host string) uint16 {
	_, text, err := net.SplitHostPort(host)
	if err != nil {
		return 0
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return uint16(port)
}

// apart reports whether anything can be distinguished: connections of both sides were seen, or those
// of others where the service's may be seen seldom.
func (b *Book) apart() bool {
	return len(b.others.connections) > 0 && (len(b.own.connections) > 0 || b.hunt != nil)
}

// isOthersSchema reports whether a schema is one that others use, and no member.
func (b *Book) isOthersSchema(schema string) bool {
	return b.apart() && b.others.schemas[schema] && !b.own.schemas[schema]
}

// HasAsked reports whether it was asked whose the server's users and schemas are.
func (b *Book) HasAsked() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked
}

// IsOthersSchema reports whether a schema is one that others use, and no member.
func (b *Book) IsOthersSchema(schema string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isOthersSchema(schema)
}

// IsOthersClass reports whether statements of a class are others', by the schema that they ran in
// and, where they ran in none, by the schemas of the tables in their text, and of what they call:
// an alias or a column may be called as another's schema is. One that reads a table of the
// service too is the service's.
func (b *Book) IsOthersClass(schema, text string) bool {
	if schema != "" {
		return b.IsOthersSchema(schema) || b.isUnknownSchema(schema)
	}
	others := false
	for _, name := range namesIn(text) {
		others = others || b.IsOthersTable(name)
		if b.isOwnTable(name) {
			return false
		}
	}
	return others
}

// namesIn returns the tables that a statement names, or the procedure that it calls.
func namesIn(text string) []string {
	sql := []byte(text)
	if sqlshape.Verb(sql) != "CALL" {
		return sqlshape.Tables(sql)
	}
	l := sqlshape.NewLexer(sql)
	l.Next()
	name := string(l.Next().Unquoted())
	if l.Next().IsSymbol('.') {
		name += "." + string(l.Next().Unquoted())
	}
	return []string{name}
}

// IsOthersTable reports whether a table's schema is others', by the name "schema.table".
func (b *Book) IsOthersTable(name string) bool { return ofSchema(name, b.IsOthersSchema) }

// isOwnTable reports whether a table's schema is one that a member uses.
func (b *Book) isOwnTable(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return ofSchema(name, func(schema string) bool { return b.own.schemas[schema] })
}

// ofSchema reports whether what stands before a point in a name is such a schema: either may have one.
func ofSchema(name string, is func(schema string) bool) bool {
	for i := range len(name) {
		if name[i] == '.' && is(name[:i]) {
			return true
		}
	}
	return false
}

// Waits returns those for locks that are not known to be in others' schemas.
func (b *Book) Waits(all []kasoku.LockWait) []kasoku.LockWait {
	return slices.DeleteFunc(all, func(w kasoku.LockWait) bool { return b.IsOthersTable(w.Table) })
}

// isOthers reports whether an entry of the slow log is others'. What a member's connection
// sent is not, nor what anybody does in a schema of the service.
func (b *Book) isOthers(e *slowlog.Event) bool {
	if !b.apart() || b.own.connections[e.ThreadID] {
		return false
	}
	if e.HasOwnSchema() && len(e.Schema) > 0 {
		if b.own.schemas[string(e.Schema)] {
			return false
		}
		if b.others.schemas[string(e.Schema)] {
			return true
		}
	}
	return b.others.users[string(e.User)] && !b.own.users[string(e.User)]
}

// mostSent bounds the connections that are remembered; beyond it none are counted.
const mostSent = 1_000_000

// Keep reports whether an entry stays in the run, and counts those that do not.
func (b *Book) Keep(e *slowlog.Event) bool {
	others := b.isOthers(e)
	unknown := !others && b.isUnknown(e)
	if (b.apart() || b.hunt != nil) && len(b.sent) < mostSent {
		if b.sent == nil {
			b.sent = map[uint64]bool{}
		}
		b.sent[e.ThreadID] = others || unknown
		b.take(e)
	}
	b.left.All += e.QueryTime
	if others {
		b.left.Time += e.QueryTime
		if !e.Admin {
			b.left.Statements++
		}
	}
	if unknown {
		b.left.UnknownTime += e.QueryTime
		if !e.Admin {
			b.left.Unknown++
		}
	}
	return !others && !unknown
}

// Left returns how many statements Keep left out.
func (b *Book) Left() uint64 { return b.left.Statements + b.left.Unknown }

// Warnings says what share of the server's work is others', or may be.
func (b *Book) Warnings() []kasoku.Warning {
	out := b.unknownWarnings()
	if b.left.Statements == 0 || b.left.All <= 0 {
		return out
	}
	return append(out, kasoku.Warning{Code: "shared-server", Text: fmt.Sprintf("%s of the server's statement time is of schemas or "+
		"users that the service does not use: %s statements of programs outside of it, which are in no table",
		unit.Percent(float64(b.left.Time)/float64(b.left.All)), unit.Count(b.left.Statements))})
}

// Settings is what rules have to know of the connections over which the statements of the log came: how many
// they are, how many of them others', and, where what the server counted is that of the whole log, how many
// statements may be others'.
func (b *Book) Settings(host string, connections uint64, counted bool) []kasoku.Setting {
	out := []kasoku.Setting{kasoku.SentOver(host, connections)}
	if len(b.sent) == 0 || len(b.sent) >= mostSent || !b.apart() && b.left.Unknown == 0 {
		return out
	}
	n := kasoku.Tenants{All: len(b.sent)}
	for _, others := range b.sent {
		if others {
			n.Others++
		}
	}
	out = append(out, n.Setting(host))
	if counted {
		out = append(out, b.known(host)...)
	}
	return out
}

// Without takes the statements of schemas that are others' out of those that a server counted.
func (b *Book) Without(d *mysql.Digests) {
	maps.DeleteFunc(d.Classes, func(k mysql.DigestKey, v mysql.Digest) bool { return b.IsOthersClass(k.Schema, v.Text) })
}
