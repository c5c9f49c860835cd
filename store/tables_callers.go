package store

import "github.com/kasoku/kasoku"

// The tables that schema 5 added: which endpoint runs which statements, and who
// waited for whose locks.

func callerTable() table[kasoku.Caller] {
	return table[kasoku.Caller]{
		name: "caller",
		columns: cols(`host query_id method route with_endpoints class source per_request least most requests calls share
			likelihood decisive loop list_id slope correlation note`),
		put: func(v *kasoku.Caller) []any {
			return []any{v.Host, v.QueryID, v.Method, v.Route, jsonText(v.With), string(v.Class), v.Source,
				v.PerRequest, v.Least, v.Most,
				u64(v.Requests), v.Calls, v.Share, v.Likelihood, v.Decisive, asInt(v.Loop), v.List, v.Slope,
				v.Correlation, v.Note}
		},
		get: func(r *row, v *kasoku.Caller) {
			v.Host, v.QueryID, v.Method, v.Route = r.text(), r.text(), r.text(), r.text()
			r.json(&v.With)
			v.Class, v.Source = kasoku.CallerClass(r.text()), r.text()
			v.PerRequest, v.Least, v.Most, v.Requests = r.real(), r.real(), r.real(), r.uint64()
			v.Calls, v.Share, v.Likelihood, v.Decisive, v.Loop = r.real(), r.real(), r.real(), r.real(), r.bool()
			v.List, v.Slope, v.Correlation, v.Note = r.text(), r.real(), r.real(), r.text()
		},
	}
}

type joinCheckJSON struct {
	Name  string `json:"name"`
	Holds bool   `json:"holds"`
	Text  string `json:"text"`
}

type queryLoopJSON struct {
	QueryIDs []string `json:"query_ids"`
	Runs     uint64   `json:"runs"`
	Calls    uint64   `json:"calls"`
	Longest  uint64   `json:"longest"`
}

func joinTable() table[kasoku.Join] {
	return table[kasoku.Join]{
		name: "query_join",
		columns: cols(`host source resolution_ns from_ns to_ns requests statements questions background connections busy saturated
			refused checks loops cpu_ns`),
		put: func(v *kasoku.Join) []any {
			checks := mapped(v.Checks, func(c kasoku.JoinCheck) joinCheckJSON { return joinCheckJSON(c) })
			loops := mapped(v.Loops, func(l kasoku.QueryLoop) queryLoopJSON { return queryLoopJSON(l) })
			return []any{v.Host, v.Source, ns(v.Resolution), ns(v.Interval.From), ns(v.Interval.To), u64(v.Requests),
				u64(v.Statements),
				u64(v.Questions), v.Background, u64(v.Connections), v.Busy, asInt(v.Saturated), v.Refused,
				jsonText(checks), jsonText(loops), ns(v.CPU)}
		},
		get: func(r *row, v *kasoku.Join) {
			v.Host, v.Source, v.Resolution = r.text(), r.text(), r.dur()
			v.Interval = interval(r)
			v.Requests, v.Statements, v.Questions, v.Background = r.uint64(), r.uint64(), r.uint64(), r.real()
			v.Connections, v.Busy, v.Saturated, v.Refused = r.uint64(), r.real(), r.bool(), r.text()
			var checks []joinCheckJSON
			r.json(&checks)
			v.Checks = mapped(checks, func(c joinCheckJSON) kasoku.JoinCheck { return kasoku.JoinCheck(c) })
			var loops []queryLoopJSON
			r.json(&loops)
			v.Loops = mapped(loops, func(l queryLoopJSON) kasoku.QueryLoop { return kasoku.QueryLoop(l) })
			v.CPU = r.dur()
		},
	}
}

func lockWaitTable() table[kasoku.LockWait] {
	return table[kasoku.LockWait]{
		name: "lock_wait",
		columns: cols(`host table_name index_name waiting waiting_id blocking blocking_id samples waiters longest_ns oldest_ns
			first_ns last_ns`),
		put: func(v *kasoku.LockWait) []any {
			return []any{v.Host, v.Table, v.Index, v.Waiting, v.WaitingID, v.Blocking, v.BlockingID, u64(v.Samples),
				u64(v.Waiters),
				ns(v.Longest), ns(v.Oldest), ns(v.First), ns(v.Last)}
		},
		get: func(r *row, v *kasoku.LockWait) {
			v.Host, v.Table, v.Index, v.Waiting, v.WaitingID = r.text(), r.text(), r.text(), r.text(), r.text()
			v.Blocking, v.BlockingID, v.Samples, v.Waiters = r.text(), r.text(), r.uint64(), r.uint64()
			v.Longest, v.Oldest, v.First, v.Last = r.dur(), r.dur(), r.dur(), r.dur()
		},
	}
}

func deadlockTable() table[kasoku.Deadlock] {
	return table[kasoku.Deadlock]{
		name:    "deadlock",
		columns: cols("host at_ns table_name statements indexes count"),
		put: func(v *kasoku.Deadlock) []any {
			return []any{v.Host, ns(v.At), v.Table, jsonText(v.Statements), jsonText(v.Indexes), u64(v.Count)}
		},
		get: func(r *row, v *kasoku.Deadlock) {
			v.Host, v.At, v.Table = r.text(), r.dur(), r.text()
			r.json(&v.Statements)
			r.json(&v.Indexes)
			v.Count = r.uint64()
		},
	}
}
