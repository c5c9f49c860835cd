package recycle

import (
	"context"
	"fmt"

	"github.com/kasoku/kasoku"
)

// Confirm is how its owner confirms that sessions may be ended.
const Confirm = "where every program that uses the database opens a connection anew, `reconnects = true` in " +
	"[mysql] of kasoku.toml says so; else restart the application while the slow log is on"

// A driver is what is known of the usual driver of a language.
type driver struct {
	reconnects bool   // whatever the application has set
	why        string // what it does, or on what it depends
}

// drivers are the languages' by the words of [kasoku.Member].
//
// Sources: Go database/sql, "ErrBadConn"; PHP manual, FPM and PDO "Connections";
// HikariCP README, "connectionTestQuery"; SQLAlchemy, "Dealing with Disconnects"; mysql2
// (Ruby) README, "reconnect"; mysql2 (Node.js), "Using connection pools"; sqlx,
// PoolOptions.test_before_acquire.
var drivers = map[string]driver{
	"go":         {true, "database/sql opens another connection where one is broken"},
	"php":        {false, "php-fpm connects for each request; a program that stays, with workers of its own, does not"},
	"java":       {false, "a pool that validates does; a connection of the program's own does not"},
	"javascript": {false, "a pool does, a single connection does not"},
	"python":     {false, "a connection that is asked before its use does, others do not"},
	"ruby":       {false, "a connection that is to reconnect does, others do not"},
	"rust":       {false, "a pool that asks before it hands a connection out does, a single connection does not"},
}

// driverOf returns what is known of a member's driver.
func driverOf(m *kasoku.Member) driver {
	d, ok := drivers[m.Language]
	switch {
	case m.Framework == "php-fpm":
		d.reconnects = true
	case !ok:
		d.why = "its language is not known"
	}
	return d
}

// refused says why sessions may not be ended; empty where they may.
func (o *Options) refused(ctx context.Context) string {
	if o.Confirmed {
		return ""
	}
	if o.Service == nil {
		return "whether the application's driver reconnects is not known"
	}
	s, err := o.Service(ctx)
	if err != nil {
		return "whether the application's driver reconnects is not known: " + err.Error()
	}
	return Refused(&s)
}

// Refused says of the programs of a service why it is not known that all who use its
// database reconnect; empty where it is.
func Refused(s *kasoku.Service) string {
	databases := s.Of(kasoku.RoleDatabase)
	if len(databases) == 0 {
		return "which programs use the database is not known"
	}
	if len(s.Of(kasoku.RolePooler)) > 0 {
		return "a pooler keeps the application's connections"
	}
	for _, d := range databases {
		if d.Others > 0 {
			return fmt.Sprintf("programs outside of the service use the database, too (%d connections)", d.Others)
		}
	}
	if len(s.Of(kasoku.RoleApplication)) == 0 {
		return "which program the application is is not known"
	}
	for i := range s.Members {
		m := &s.Members[i]
		if m.Role != kasoku.RoleApplication && m.Role != kasoku.RoleUnknown {
			continue
		}
		if d := driverOf(m); !d.reconnects {
			return fmt.Sprintf("it is not known that the driver of %s reconnects: %s", m.Program, d.why)
		}
	}
	return ""
}
