package settings

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// replicaThreads is how many threads a replica should apply changes with.
const replicaThreads = 4

func replicaChecks() []*check {
	return []*check{{
		id: "MYS-39", area: areaReplication, title: "replication", weight: urgent,
		formula:   "threads of the replica; its lag; read_only; threads that apply changes",
		threshold: "stopped; > 0 s; OFF; ≤ 1", needs: []Part{PartReplica}, run: checkReplica,
	}}
}

func checkReplica(l *look) {
	r := l.Replica
	if r == nil || !r.Is {
		l.well("this server is no replica")
		return
	}
	yes := func(s string) bool { return strings.EqualFold(s, "Yes") }
	if !yes(r.IO) || !yes(r.SQL) {
		l.fire(found{
			title: "Replication has stopped", measured: fmt.Sprintf("receives: %s, applies: %s", r.IO, r.SQL),
			level:   kasoku.High,
			formula: "threads of the replica", limit: "stopped", gain: "Reads that are not stale",
			note: strings.TrimSpace("Mend the cause, then START REPLICA. " + r.LastError),
		})
	}
	if r.LagKnown && r.Lag > 0 {
		l.fire(found{
			title: "The replica lags", measured: unit.Elapsed(r.Lag), level: kasoku.Medium, weight: costly,
			formula: "lag of the replica", limit: "> 0 s", gain: "Reads that are not stale",
			note: "Look at the slow log of the replica, and at its threads that apply changes.",
		})
	}
	if off(l.need("read_only")) {
		f := found{
			title: "The replica can be written to", measured: "OFF", level: kasoku.High, weight: costly,
			formula: "read_only", limit: "OFF",
			gain: "Rows that differ from the source's cannot come about",
		}
		// Two primaries that replicate from each other are replicas, too.
		if l.lack(PartReaders) == nil && l.Readers == 0 {
			f.changes = l.to("read_only", "ON")
			f.price = "Those who write to it get an error, unless they are administrators"
		} else {
			f.level, f.note = kasoku.Low, "read_only = ON, unless it is one of two primaries: others may read its binary log."
		}
		l.fire(f)
	}
	checkAppliers(l)
	if len(l.advice) == 0 {
		l.well("receives, applies, does not lag")
	}
}

// checkAppliers wants several threads that apply changes.
func checkAppliers(l *look) {
	for _, name := range [...]string{"replica_parallel_workers", "slave_parallel_threads", "slave_parallel_workers"} {
		threads, ok := l.number(name)
		if !ok || l.maria() && name == "slave_parallel_workers" {
			continue
		}
		if threads <= 1 {
			l.fire(found{
				title: "One thread applies all changes", measured: countWords(threads), level: kasoku.Medium,
				weight: costly, formula: name, limit: "≤ 1",
				changes: l.raise(name, replicaThreads), gain: "A replica that keeps up with many writers",
				note: "While the replica is stopped: STOP REPLICA before it, START REPLICA after it.",
			})
		}
		return
	}
}
