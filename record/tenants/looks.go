package tenants

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/topology/members"
	"github.com/kasoku/kasoku/topology/scan"
)

// Sessions of programs that connect anew for each request, as PHP does, last milliseconds: a
// look at all processes of the host sees hardly one of them. So the sessions, the server's
// sockets, and who of a few processes holds their other ends, are looked at in turn, without a pause
// for up to burstWithin: a connection by TCP need not be seen by all three at once, as each has a key
// of the next. A burst ends early when so many looks, idleLooks, saw no session of which it is
// not known whose its user and schema are.
const (
	burstWithin = time.Second
	idleLooks   = 4
	everyTurn   = 8 // until then, and later at turns that are powers of 2
	mostTurns   = 32
	mostPIDs    = 256 // that are looked at
)

// A hunt ties sessions of a server to the programs that have them.
type hunt struct {
	server  scan.Server
	parties []members.Party
	ends    map[uint64]uint32 // sockets of sessions, by connection id, that were known before
	own     []int             // kasoku's processes
	user    string            // kasoku's at the server
	schema  string            // the service's, by the user's word
	turn    int
	votes   map[vote]int
	pids    []int             // that are looked at
	party   map[int]int       // of each of them, the place in parties
	sides   map[uint32]whose  // connections of this burst, by the inodes of the callers' ends
	inodes  map[uint16]uint32 // callers' ends, by port, likewise
	loose   map[account]bool  // of sessions of which it was not known whose they are
	shared  bool              // a program outside of the service was seen to be connected
}

// A vote is that an account is of a side, by sockets that have no port.
type vote struct {
	account
	whose
}

// sureVotes is how many looks must agree on it: the kernel's list of Unix sockets is no picture of
// one moment, and one that was left out would make another side's session look alone.
const sureVotes = 2

// newHunt returns the hunt for sessions of a member; nil where no program outside of the service
// may have any that were not seen.
func newHunt(seen *members.Result, id, dsn string, own []int) *hunt {
	h := &hunt{server: seen.At(id), parties: seen.Parties, user: mysqlflags.User(dsn), own: append(own, os.Getpid()),
		schema: mysqlflags.Database(dsn), votes: map[vote]int{}, loose: map[account]bool{}}
	if !slices.ContainsFunc(h.parties, func(p members.Party) bool { return !p.Member }) {
		return nil
	}
	return h
}

// Again looks for sessions again, at the calls 1, 2, 4 … 32 of it, and until one of the service is
// known at each of the first.
func (b *Book) Again(ctx context.Context, r *mysql.Reader) {
	h := b.hunt
	if h == nil || h.turn >= mostTurns {
		return
	}
	h.turn++
	if h.turn&(h.turn-1) == 0 || h.turn <= everyTurn && len(b.own.accounts) == 0 { // only this goroutine writes them
		b.burst(ctx, r)
	}
}

// burst looks some times. What cannot be asked is not learned.
func (b *Book) burst(ctx context.Context, r *mysql.Reader) {
	b.hunt.sides, b.hunt.inodes = map[uint32]whose{}, map[uint16]uint32{}
	b.hunt.findProcesses()
	sessions, until := mysql.NewClients(r), time.Now().Add(burstWithin)
	ctx, cancel := context.WithTimeout(ctx, 2*burstWithin) // the last look ends, too
	defer cancel()
	var before []mysql.Client
	var err error
	b.Apart.do(func() { before, err = sessions.List(ctx) })
	idle := 0
	for err == nil && ctx.Err() == nil && time.Now().Before(until) {
		var open bool
		b.Apart.do(func() { before, open, err = b.lookOnce(ctx, sessions, before) })
		if idle++; open {
			idle = 0
		}
		if idle >= idleLooks {
			return
		}
	}
}

// lookOnce looks once after the sessions before, and returns those that there are now, and whether
// there was one of which it is not known whose its account is, or none of the service is known yet.
func (b *Book) lookOnce(ctx context.Context, sessions mysql.Clients, before []mysql.Client) (after []mysql.Client,
	open bool, err error) {
	h := b.hunt
	// At a pause after the sockets a session of some milliseconds would never be seen with its own.
	var meanwhile []mysql.Client
	var listed sync.WaitGroup
	listed.Go(contain.Func(contain.Part{Kind: contain.Goroutine, Name: "sessions of the database"}, func() {
		meanwhile, _ = sessions.List(ctx) // the next one fails too
	}))
	h.lookAtHolders()
	callers, err := scan.Callers(ctx, h.server)
	listed.Wait()
	if err != nil {
		return nil, false, err
	}
	h.lookAtHolders()
	for _, k := range callers {
		h.shared = h.shared || h.sides[k.Inode] == othersSide
		if k.Port != 0 {
			h.inodes[k.Port] = k.Inode
		}
	}
	if after, err = sessions.List(ctx); err != nil {
		return nil, false, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tieByPort(slices.Concat(before, meanwhile, after))
	b.tieBySocket(before, after, callers)
	open = len(b.own.accounts) == 0
	for _, c := range after {
		a := account{c.User, c.DB}
		own := c.User == h.user && c.DB == ""
		if isLocal(c.Host) && !own && !b.own.accounts[a] && !b.others.accounts[a] && len(h.loose) < mostLoose {
			open, h.loose[a] = true, true
		}
	}
	return after, open, nil
}

// mostLoose bounds the accounts that are remembered of which it is not known whose they are.
const mostLoose = 1000

// isKnown reports whether a session of the service was seen, or its schema named.
func (h *hunt) isKnown(own *side) bool {
	return len(own.connections) > 0 || own.schemas[h.schema] && h.schema != ""
}

// isAmbiguous reports whether no session of the service is known, others have some, and several
// accounts may be either's.
func (h *hunt) isAmbiguous(own, others *side) bool {
	if !h.shared || h.isKnown(own) {
		return false
	}
	n := 0
	for a := range h.loose {
		if !others.accounts[a] {
			n++
		}
	}
	return n > 1
}

// A whose is to whom a connection belongs.
type whose int

const (
	unknownSide whose = iota // it is not known to whom
	membersSide
	othersSide
	kasokuSide
)

// findProcesses lists the processes of the parties, with the children that their leaders have now.
func (h *hunt) findProcesses() {
	h.pids, h.party = slices.Clone(h.own), map[int]int{}
	for i, p := range h.parties {
		for _, pid := range append(slices.Clone(p.PIDs), command.ThreadChildren(p.Leader, 1)...) {
			if _, there := h.party[pid]; !there && len(h.pids) < mostPIDs {
				h.party[pid] = i
				h.pids = append(h.pids, pid)
			}
		}
	}
}

// lookAtHolders takes note of whose the sockets are that the parties hold now.
func (h *hunt) lookAtHolders() {
	held := scan.HoldersOf(h.pids)
	now := map[uint32]whose{}
	for inode, holders := range held {
		for n, pid := range holders {
			side := h.sideOf(pid, held)
			if n > 0 && side != now[inode] {
				side = unknownSide // handed on, or shared: it may be anyone's
			}
			now[inode] = side
		}
	}
	for inode, side := range now {
		if was, known := h.sides[inode]; known && was != side {
			side = unknownSide
		}
		h.sides[inode] = side
	}
}

// sideOf returns whose a process is. A child of a leader of several programs is of that one at
// whose sockets it listens.
func (h *hunt) sideOf(pid int, held map[uint32][]int) whose {
	if slices.Contains(h.own, pid) {
		return kasokuSide
	}
	i, ok := h.party[pid]
	if !ok {
		return unknownSide
	}
	p := &h.parties[i]
	if len(p.At) > 0 && !slices.Contains(p.PIDs, pid) {
		leader := p.Leader
		i := slices.IndexFunc(h.parties, func(p members.Party) bool {
			return p.Leader == leader && slices.ContainsFunc(p.At, func(inode uint32) bool { return slices.Contains(held[inode], pid) })
		})
		if i < 0 {
			return unknownSide
		}
		p = &h.parties[i]
	}
	if p.Member {
		return membersSide
	}
	return othersSide
}

// tieByPort ties sessions by TCP, by the ports from which they come. b.mu must be held.
func (b *Book) tieByPort(sessions []mysql.Client) {
	for _, c := range sessions {
		if inode := b.hunt.inodes[portOf(c.Host)]; inode != 0 && isLocal(c.Host) {
			b.tie(c, b.hunt.sides[inode])
		}
	}
}

// tie takes note of whose a session is. b.mu must be held.
func (b *Book) tie(c mysql.Client, side whose) {
	switch side {
	case membersSide:
		b.own.add(c)
	case othersSide:
		b.others.add(c)
	}
}

// tieBySocket ties sessions by Unix sockets, of which the server knows no end: when all
// connections that are there, but for those that are known, are of one side, then so is each
// session that was there before and after they were looked at. b.mu must be held.
func (b *Book) tieBySocket(before, after []mysql.Client, callers []scan.Caller) {
	var side whose
	kasoku, sockets := 0, 0
	for _, k := range callers {
		of := b.hunt.sides[k.Inode]
		switch {
		case k.Port != 0 || k.Accept != 0 && b.hunt.isTied(k.Accept, after):
		case of == kasokuSide:
			kasoku++
		case of == unknownSide || side != unknownSide && side != of:
			return
		default:
			side = of
			sockets++
		}
	}
	count := map[account]int{}
	var there []mysql.Client
	for _, c := range after {
		known := b.hunt.ends[c.ID] != 0
		same := slices.ContainsFunc(before, func(o mysql.Client) bool { return o.ID == c.ID && o.User == c.User && o.DB == c.DB })
		if c.Host == "localhost" && same && !known {
			there = append(there, c)
			count[account{c.User, c.DB}]++
		}
	}
	if side == unknownSide || len(there) > sockets+kasoku {
		return
	}
	for _, c := range there {
		// kasoku's own sessions are among them, and idle.
		a := account{c.User, c.DB}
		if c.User == b.hunt.user && count[a] <= kasoku {
			continue
		}
		if b.hunt.votes[vote{a, side}]+1 >= sureVotes {
			b.tie(c, side)
		}
		b.hunt.votes[vote{a, side}]++
	}
}

// isTied reports whether a socket of the server is that of a session that is still there and
// was tied by it.
func (h *hunt) isTied(inode uint32, sessions []mysql.Client) bool {
	return slices.ContainsFunc(sessions, func(c mysql.Client) bool { return h.ends[c.ID] == inode })
}

// isLocal reports whether a client is on the server's own host, by the name that the server
// has for it.
func isLocal(host string) bool {
	name, _, _ := strings.Cut(host, ":")
	return name == "localhost" || strings.HasPrefix(host, "127.") || strings.HasPrefix(host, "[::1]") || host == "::1"
}

// isUnknown reports whether an entry is of a session of this host of which it is not known whose
// it is, where those of the service are known, or several may be the service's. In a session that used the
// service's own user and
// schema everything is the service's.
func (b *Book) isUnknown(e *slowlog.Event) bool {
	switch {
	case b.hunt == nil || !isLocal(string(e.Host)) || b.own.connections[e.ThreadID] || b.sessions[e.ThreadID]:
		return false
	case !b.hunt.isKnown(&b.own):
		return b.hunt.isAmbiguous(&b.own, &b.others)
	}
	user := b.own.users[string(e.User)]
	if !e.HasOwnSchema() || len(e.Schema) == 0 {
		return !user && len(b.own.connections) > 0
	}
	schema := b.own.schemas[string(e.Schema)]
	if user && schema && len(b.sessions) < mostSent {
		if b.sessions == nil {
			b.sessions = map[uint64]bool{}
		}
		b.sessions[e.ThreadID] = true
	}
	return !schema
}

// isUnknownSchema reports whether no session of the service was seen to use a schema.
func (b *Book) isUnknownSchema(schema string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hunt != nil && b.hunt.isKnown(&b.own) && !b.own.schemas[schema]
}

// unknownWarnings says how many statements are no one's that is known, or that the sessions of
// the service are not known.
func (b *Book) unknownWarnings() []kasoku.Warning {
	const hint = "the schema in the DSN is the service's: `--mysql USER@HOST/SCHEMA`, or dsn in [mysql] of kasoku.toml"
	switch {
	case b.hunt == nil:
		return nil
	case b.hunt.isAmbiguous(&b.own, &b.others):
		return []kasoku.Warning{{Code: "sessions-unknown", Hint: hint,
			Text: "which sessions of the database server are the service's was not seen, and programs outside of it may use " +
				"the server: statements of this host are in no table"}}
	case b.left.Unknown == 0 || b.left.All <= 0:
		return nil
	}
	return []kasoku.Warning{{Code: "sessions-unknown", Hint: hint,
		Text: fmt.Sprintf("%s statements, %s of the server's statement time, are of users and schemas that no session of the "+
			"service was seen to use, nor one of another program: whose they are is not known, and they are in no table",
			unit.Count(b.left.Unknown), unit.Percent(float64(b.left.UnknownTime)/float64(b.left.All)))}}
}
