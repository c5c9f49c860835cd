package rules

import "github.com/kasoku/kasoku/diagnose"

// databaseRules are the rules about the database's settings, commits and locks.
func databaseRules() []diagnose.Rule {
	return []diagnose.Rule{
		CommitSync{},
		Binlog{},
		SlowDisk{},
		QueryCache{},
		LockQueue{},
		Deadlocks{},
		SmallPool{},
		AppCPU{},
		SerialClient{},
		SameWait{},
		ByDesign{},
	}
}
