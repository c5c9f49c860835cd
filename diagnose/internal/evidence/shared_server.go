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
