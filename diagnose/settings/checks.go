package settings

import (
	"fmt"
	"slices"

	"github.com/kasoku/kasoku"
)

// The areas, in which the checks are grouped.
const (
	areaMemory      = "memory"
	areaServer      = "server"
	areaConnections = "connections"
	areaQueries     = "queries"
	areaCaches      = "caches"
	areaInnoDB      = "innodb"
	areaSchema      = "schema"
	areaReplication = "replication"
	areaSystem      = "system"
	areaDurability  = "durability"
)

// Weights of checks.
const (
	urgent = 1 // the server refuses, waits or stops
	costly = 2 // it does needless work
	remark = 3 // good to know
)

// few is the least number of events that a share is read from.
const few = 100

// checks lists all checks in the order in which they decide: what takes memory for
// each connection first, then the caches, the buffer pool from what is left, the
// redo log from the pool. A later one sees what earlier ones decided.
func checks() []*check {
	var out []*check
	for _, group := range [][]*check{
		serverChecks(), instrumentChecks(), queryChecks(), connectionChecks(), memoryLimits(), cacheChecks(),
		logBufferChecks(),
		poolChecks(), redoChecks(), innodbChecks(), schemaChecks(), replicaChecks(), systemChecks(), durabilityChecks(),
	} {
		out = append(out, group...)
	}
	return out
}

func number3(a, b, c int) string { return fmt.Sprintf("%d.%d.%d", a, b, c) }

// ShowsInScore reports whether advice is worth a run with the value that it proposes: its check says that a
// run counts what the value in force costs, and the advice is sure enough and can be followed while the
// server runs. What other checks propose shows in no score, or not in that of one run.
func ShowsInScore(a *kasoku.Advice) bool {
	return a.SetGlobal != "" && a.Confidence.Level != kasoku.Low &&
		slices.ContainsFunc(checks(), func(c *check) bool { return c.scored && c.id == a.ID })
}
