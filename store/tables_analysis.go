package store

import (
	"time"

	"github.com/kasoku/kasoku"
)

// The tables that schema 3 added: the slowest requests, transactions, plans with
// the tables they read, and advice on a server's settings.

// slowTable holds what a slow request was; what was asked for lies in
// [rawURITable].
func slowTable() table[kasoku.SlowRequest] {
	return table[kasoku.SlowRequest]{
		name:    "slow_request",
		columns: cols("host method route status at_ns latency_ns upstream_ns bytes"),
		put: func(v *kasoku.SlowRequest) []any {
			return []any{v.Host, v.Method, v.Route, v.Status, ns(v.At), ns(v.Latency), ns(v.Upstream), u64(v.Bytes)}
		},
		get: func(r *row, v *kasoku.SlowRequest) {
			v.Host, v.Method, v.Route, v.Status = r.text(), r.text(), r.text(), r.int()
			v.At, v.Latency, v.Upstream, v.Bytes = r.dur(), r.dur(), r.dur(), r.uint64()
		},
	}
}

func txnTable() table[kasoku.Transaction] {
	return table[kasoku.Transaction]{
		name:    "txn",
		columns: cols("host shape tag verbs count rolled_back read_only statements total_ns max_ns"),
		put: func(v *kasoku.Transaction) []any {
			return []any{v.Host, jsonText(v.Shape), v.Tag, v.Verbs, u64(v.Count), u64(v.RolledBack), asInt(v.ReadOnly),
				u64(v.Statements), ns(v.Total), ns(v.Max)}
		},
		get: func(r *row, v *kasoku.Transaction) {
			v.Host = r.text()
			r.json(&v.Shape)
			v.Tag, v.Verbs, v.Count, v.RolledBack, v.ReadOnly = r.text(), r.text(), r.uint64(), r.uint64(), r.bool()
			v.Statements, v.Total, v.Max = r.uint64(), r.dur(), r.dur()
		},
	}
}

// planTable holds of what statement a plan is. Its steps, which name no values,
// lie in [planStepTable], the server's answer as it was in [rawPlanTable].
func planTable() table[kasoku.Plan] {
	return table[kasoku.Plan]{
		name:    "plan",
		columns: cols("host query_id schema_name format note"),
		put: func(v *kasoku.Plan) []any {
			return []any{v.Host, v.QueryID, v.Schema, v.Format, v.Note}
		},
		get: func(r *row, v *kasoku.Plan) {
			v.Host, v.QueryID, v.Schema, v.Format, v.Note = r.text(), r.text(), r.text(), r.text(), r.text()
		},
	}
}

// A planStep is a step of the plan with id plan.
type planStep struct {
	plan int64
	kasoku.PlanRow
}

func planStepTable() table[planStep] {
	return table[planStep]{
		name:    "plan_step",
		columns: cols("plan select_type table_name access possible_keys key_name key_len ref row_estimate filtered extra"),
		put: func(v *planStep) []any {
			return []any{v.plan, v.Select, v.Table, v.Access, v.PossibleKeys, v.Key, v.KeyLen, v.Ref, v.Rows,
				v.Filtered, v.Extra}
		},
		get: func(r *row, v *planStep) {
			v.plan, v.Select, v.Table, v.Access = r.int64(), r.text(), r.text(), r.text()
			v.PossibleKeys, v.Key, v.KeyLen, v.Ref = r.text(), r.text(), r.text(), r.text()
			v.Rows, v.Filtered, v.Extra = r.real(), r.real(), r.text()
		},
	}
}

func tableDefTable() table[kasoku.TableDef] {
	return table[kasoku.TableDef]{
		name:    "table_def",
		columns: cols("host schema_name name definition engine row_count data_bytes index_bytes indexes"),
		put: func(v *kasoku.TableDef) []any {
			return []any{v.Host, v.Schema, v.Name, v.Create, v.Engine, u64(v.Rows), u64(v.DataBytes), u64(v.IndexBytes),
				jsonText(v.Indexes)}
		},
		get: func(r *row, v *kasoku.TableDef) {
			v.Host, v.Schema, v.Name, v.Create, v.Engine = r.text(), r.text(), r.text(), r.text(), r.text()
			v.Rows, v.DataBytes, v.IndexBytes = r.uint64(), r.uint64(), r.uint64()
			r.json(&v.Indexes)
		},
	}
}

func adviceTable() table[kasoku.Advice] {
	return table[kasoku.Advice]{
		name: "advice",
		columns: cols(`host check_id area title variable value proposed formula measured threshold window
			confidence holds of_signals conf_note set_global conf_line risk gain price note`),
		put: func(v *kasoku.Advice) []any {
			return []any{v.Host, v.ID, v.Area, v.Title, v.Variable, v.Value, v.Proposed, v.Formula, v.Measured,
				v.Threshold, v.Window,
				string(v.Confidence.Level), v.Confidence.Holds, v.Confidence.Of, v.Confidence.Note,
				v.SetGlobal, v.ConfLine, string(v.Risk), v.Gain, v.Price, v.Note}
		},
		get: func(r *row, v *kasoku.Advice) {
			v.Host, v.ID, v.Area, v.Title, v.Variable = r.text(), r.text(), r.text(), r.text(), r.text()
			v.Value, v.Proposed, v.Formula, v.Measured, v.Threshold, v.Window = r.text(), r.text(), r.text(), r.text(),
				r.text(), r.text()
			c := &v.Confidence
			c.Level, c.Holds, c.Of, c.Note = kasoku.Level(r.text()), r.int(), r.int(), r.text()
			v.SetGlobal, v.ConfLine, v.Risk = r.text(), r.text(), kasoku.Risk(r.text())
			v.Gain, v.Price, v.Note = r.text(), r.text(), r.text()
		},
	}
}

func rawStatementTable() table[rawText] { return rawTable("raw_statement", "text") }
func rawURITable() table[rawText]       { return rawTable("raw_uri", "uri") }
func rawPlanTable() table[rawText]      { return rawTable("raw_plan", "text") }

// queryTriple and querySecond turn a second into [calls,ns,rows] and back. Before
// schema 5 there were no rows.
func queryTriple(q kasoku.QuerySecond) [3]uint64 { return [3]uint64{q.Calls, uint64(q.Total), q.Rows} }
func querySecond(p [3]uint64) kasoku.QuerySecond {
	return kasoku.QuerySecond{Calls: p[0], Total: time.Duration(p[1]), Rows: p[2]}
}
