package evidence

import (
	"errors"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// IsShared reports whether programs outside of the service were connected to its database
// server: global counters of the server are theirs too then.
func IsShared(c *diagnose.Case) bool {
	db := c.Member(kasoku.RoleDatabase)
	return db != nil && db.Others > 0
}

// Strangers are statements and prepares of programs outside of the service: no more than that
// many were theirs in the whole run.
type Strangers struct {
	Statements, Prepares float64
	Assumed              bool // Prepares: who prepares a statement is taken to run it, too
}

// errNotCounted is why nothing bounds what others did.
var errNotCounted = errors.New("how many statements of a shared server are the service's was not counted")

// StrangersOf bounds what programs outside of the service did: what the server counted less what
// its slow log has of the service's own connections. Where no others use the server that is nothing.
func StrangersOf(c *diagnose.Case) (s Strangers, err error) {
	if !IsShared(c) {
		return s, nil
	}
	k, ok := kasoku.KnownOf(c.Recording)
	if !ok {
		return s, errNotCounted
	}
	s.Statements = float64(k.Statements - k.Own)
	if s.Prepares = float64(k.Prepares - k.OwnPrepares); !k.HasPrepares {
		s.Prepares, s.Assumed = s.Statements, true
	}
	return s, nil
}

// Signals say how sure the bound is; none where no others use the server.
func (s Strangers) Signals(c *diagnose.Case) []diagnose.Signal {
	switch {
	case !IsShared(c):
		return nil
	case s.Assumed:
		return []diagnose.Signal{{Blind: "programs outside of the service use the server too; that they run what they " +
			"prepare is taken for granted, as this server logs no prepares"}}
	}
	return []diagnose.Signal{{Holds: true}}
}

// Bound is the evidence of it; none where no others use the server.
func (s Strangers) Bound(c *diagnose.Case) []kasoku.Evidence {
	if !IsShared(c) {
		return nil
	}
	return []kasoku.Evidence{{Source: "slow.log", Text: "statements that are not known to be the service's",
		Note:  "of the whole run, left out of the counters above: programs outside of the service use the server too",
		Value: "at most " + diagnose.Whole(s.Statements), Number: s.Statements, Interval: c.Whole()}}
}

// OwnConnections returns how many connections of the service sent statements in the whole run of a
// shared server; false where that was not counted.
func OwnConnections(c *diagnose.Case) (float64, bool) {
	k, ok := kasoku.KnownOf(c.Recording)
	return float64(k.Connections), ok
}

// CheckOwn describes why counters of the database server say nothing of the application's what;
// nil where no program outside of the service uses the server.
func CheckOwn(c *diagnose.Case, what string) error {
	if IsShared(c) {
		return errors.New("programs outside of the service use the server too: whose " + what + " its counters count is not known")
	}
	return nil
}

// IsOthers reports whether most connections to a shared server were of programs outside of the
// service: of those that sent statements, else of those that were seen open.
func IsOthers(c *diagnose.Case) bool {
	if !IsShared(c) {
		return false
	}
	if t, ok := kasoku.TenantsOf(c.Recording); ok {
		return 2*t.Others > t.All
	}
	db, own := c.Member(kasoku.RoleDatabase), 0
	for _, e := range c.Service.Edges {
		if e.To == db.ID {
			own += e.Seen
		}
	}
	return own > 0 && db.Others > own
}

// SharedServer is the signal that the server's counters are the application's: one that could
// not be looked at where others use the server, none elsewhere.
func SharedServer(c *diagnose.Case) []diagnose.Signal {
	if !IsShared(c) {
		return nil
	}
	return []diagnose.Signal{{
		Blind: "programs outside of the service use this server too, and its counters are theirs as well"}}
}

// Clients is the fix that comes before all others where several programs use a server.
func Clients(c *diagnose.Case) []kasoku.Fix {
	if !IsShared(c) {
		return nil
	}
	return []kasoku.Fix{{
		Text:  "Look first whose connections these are: programs outside of the service use this server too",
		Where: "while the load runs", Code: "SHOW PROCESSLIST;", Lang: "sql", Risk: kasoku.RiskNone}}
}
