package store

import "github.com/kasoku/kasoku"

// The tables that schema 5 added: which endpoint runs which statements, and who
// waited for whose locks.

func callerTable() table[kasoku.Caller] {
	return tableOf("caller", func(v *kasoku.Caller) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"query_id", textOf(&v.QueryID)}, {"method", textOf(&v.Method)},
			{"route", textOf(&v.Route)}, {"with_endpoints", jsonOf(&v.With)}, {"class", textOf(&v.Class)},
			{"source", textOf(&v.Source)}, {"per_request", realOf(&v.PerRequest)}, {"least", realOf(&v.Least)},
			{"most", realOf(&v.Most)}, {"requests", numberOf(&v.Requests)}, {"calls", realOf(&v.Calls)},
			{"share", realOf(&v.Share)}, {"likelihood", realOf(&v.Likelihood)}, {"decisive", realOf(&v.Decisive)},
			{"loop", flagOf(&v.Loop)}, {"list_id", textOf(&v.List)}, {"slope", realOf(&v.Slope)},
			{"correlation", realOf(&v.Correlation)}, {"note", textOf(&v.Note)},
		}
	})
}

type joinCheckJSON struct {
	Name  string `json:"name"`
	Holds bool   `json:"holds"`
	Text  string `json:"text"`
}

type queryLoopJSON struct {
	QueryIDs  []string `json:"query_ids"`
	Runs      uint64   `json:"runs"`
	Calls     uint64   `json:"calls"`
	Longest   uint64   `json:"longest"`
	Known     []uint64 `json:"known,omitempty"`
	Different []uint64 `json:"different,omitempty"`
}

func joinTable() table[kasoku.Join] {
	return tableOf("query_join", func(v *kasoku.Join) []column {
		checks := packedOf(&v.Checks, func(c kasoku.JoinCheck) joinCheckJSON { return joinCheckJSON(c) },
			func(c joinCheckJSON) kasoku.JoinCheck { return kasoku.JoinCheck(c) })
		loops := packedOf(&v.Loops, func(l kasoku.QueryLoop) queryLoopJSON { return queryLoopJSON(l) },
			func(l queryLoopJSON) kasoku.QueryLoop { return kasoku.QueryLoop(l) })
		return []column{
			{"host", textOf(&v.Host)}, {"source", textOf(&v.Source)}, {"resolution_ns", numberOf(&v.Resolution)},
			{"from_ns", numberOf(&v.Interval.From)}, {"to_ns", numberOf(&v.Interval.To)},
			{"requests", numberOf(&v.Requests)}, {"statements", numberOf(&v.Statements)},
			{"questions", numberOf(&v.Questions)}, {"background", realOf(&v.Background)},
			{"connections", numberOf(&v.Connections)}, {"busy", realOf(&v.Busy)}, {"saturated", flagOf(&v.Saturated)},
			{"refused", textOf(&v.Refused)}, {"checks", checks}, {"loops", loops},
			{"cpu_ns", numberOf(&v.CPU)},
		}
	})
}

func lockWaitTable() table[kasoku.LockWait] {
	return tableOf("lock_wait", func(v *kasoku.LockWait) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"table_name", textOf(&v.Table)}, {"index_name", textOf(&v.Index)},
			{"waiting", textOf(&v.Waiting)}, {"waiting_id", textOf(&v.WaitingID)}, {"blocking", textOf(&v.Blocking)},
			{"blocking_id", textOf(&v.BlockingID)}, {"samples", numberOf(&v.Samples)},
			{"waiters", numberOf(&v.Waiters)}, {"longest_ns", numberOf(&v.Longest)},
			{"oldest_ns", numberOf(&v.Oldest)}, {"first_ns", numberOf(&v.First)}, {"last_ns", numberOf(&v.Last)},
		}
	})
}

func deadlockTable() table[kasoku.Deadlock] {
	return tableOf("deadlock", func(v *kasoku.Deadlock) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"at_ns", numberOf(&v.At)}, {"table_name", textOf(&v.Table)},
			{"statements", jsonOf(&v.Statements)}, {"indexes", jsonOf(&v.Indexes)}, {"count", numberOf(&v.Count)},
		}
	})
}
