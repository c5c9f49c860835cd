// Package rules holds the causes that kasoku can name, one rule a file.
//
// Its one idea: a rule is a type whose doc comment says in four labelled parts,
// Evidence, Cause, Fix and Silent, what it looks at and when it keeps quiet; a
// test reads the source and demands them. Thresholds are constants with their
// reason. No rule knows the name of a table, a route, a program or a driver:
// what it names comes from the evidence.
//
// Start at [All]. Each rule has recorded runs under testdata/ID in which it
// fires, in which it is silent, and in which it is just under its threshold.
//
// Ids, first thresholds and wordings come from the catalogue of bottlenecks
// that people found by hand in write-ups of load tests and tuning contests;
// what a counter means was measured on MariaDB 10.11.19 and MySQL 9.7.
package rules

import (
	"slices"

	"github.com/kasoku/kasoku/diagnose"
)

// All returns every rule, group by group.
func All() []diagnose.Rule {
	return slices.Concat(indexRules(), queryRules(), databaseRules(), webRules(), []diagnose.Rule{
		LostIndex{},
		Prepare{},
		ORMSave{},
		SQLLog{},
		IdlePool{},
		Refused{},
		IdleControl{},
		TwoLimits{},
		StartLimit{},
		SlowInitialize{},
		TimeZone{},
		NotRebuilt{},
		Repeatable{},
		Observation{},
		Unsettled{},
		RowCount{},
		Interval{},
		RootMessage{},
		DBBound{},
		SharedCPU{},
		Against{},
		Bundled{},
		Generator{},
		Memory{},
		Burst{},
		Files{},
		Tasks{},
	})
}
