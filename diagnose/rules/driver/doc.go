// Package driver has the rules about how a program talks to its database: prepared statements,
// mappers, rows inserted one by one, logged SQL.
package driver

import "github.com/kasoku/kasoku/diagnose"

// Rules returns the rules of the family, by their ids.
func Rules() []diagnose.Rule {
	return []diagnose.Rule{
		Prepare{},
		PreparedLoop{},
		SingleInserts{},
		ORMSave{},
		SQLLog{},
	}
}
