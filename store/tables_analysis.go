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
	return tableOf("slow_request", func(v *kasoku.SlowRequest) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"method", textOf(&v.Method)}, {"route", textOf(&v.Route)},
			{"status", numberOf(&v.Status)}, {"at_ns", numberOf(&v.At)}, {"latency_ns", numberOf(&v.Latency)},
			{"upstream_ns", numberOf(&v.Upstream)}, {"bytes", numberOf(&v.Bytes)},
		}
	})
}

func txnTable() table[kasoku.Transaction] {
	return tableOf("txn", func(v *kasoku.Transaction) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"shape", jsonOf(&v.Shape)}, {"tag", textOf(&v.Tag)},
			{"verbs", textOf(&v.Verbs)}, {"count", numberOf(&v.Count)}, {"rolled_back", numberOf(&v.RolledBack)},
			{"read_only", flagOf(&v.ReadOnly)}, {"statements", numberOf(&v.Statements)},
			{"total_ns", numberOf(&v.Total)}, {"max_ns", numberOf(&v.Max)},
		}
	})
}

// planTable holds of what statement a plan is. Its steps, which name no values,
// lie in [planStepTable], the server's answer as it was in [rawPlanTable].
func planTable() table[kasoku.Plan] {
	return tableOf("plan", func(v *kasoku.Plan) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"query_id", textOf(&v.QueryID)}, {"schema_name", textOf(&v.Schema)},
			{"format", textOf(&v.Format)}, {"note", textOf(&v.Note)},
		}
	})
}

// A planStep is a step of the plan with id plan.
type planStep struct {
	plan int64
	kasoku.PlanRow
}

func planStepTable() table[planStep] {
	return tableOf("plan_step", func(v *planStep) []column {
		return []column{
			{"plan", numberOf(&v.plan)}, {"select_type", textOf(&v.Select)}, {"table_name", textOf(&v.Table)},
			{"access", textOf(&v.Access)}, {"possible_keys", textOf(&v.PossibleKeys)}, {"key_name", textOf(&v.Key)},
			{"key_len", textOf(&v.KeyLen)}, {"ref", textOf(&v.Ref)}, {"row_estimate", realOf(&v.Rows)},
			{"filtered", realOf(&v.Filtered)}, {"extra", textOf(&v.Extra)},
		}
	})
}

func tableDefTable() table[kasoku.TableDef] {
	return tableOf("table_def", func(v *kasoku.TableDef) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"schema_name", textOf(&v.Schema)}, {"name", textOf(&v.Name)},
			{"definition", textOf(&v.Create)}, {"engine", textOf(&v.Engine)}, {"row_count", numberOf(&v.Rows)},
			{"data_bytes", numberOf(&v.DataBytes)}, {"index_bytes", numberOf(&v.IndexBytes)},
			{"indexes", jsonOf(&v.Indexes)}, {"columns", jsonOf(&v.Columns)},
			{"checks", jsonOf(&v.Checks)},
		}
	})
}

func adviceTable() table[kasoku.Advice] {
	return tableOf("advice", func(v *kasoku.Advice) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"check_id", textOf(&v.ID)}, {"area", textOf(&v.Area)},
			{"title", textOf(&v.Title)}, {"variable", textOf(&v.Variable)}, {"value", textOf(&v.Value)},
			{"proposed", textOf(&v.Proposed)}, {"formula", textOf(&v.Formula)}, {"measured", textOf(&v.Measured)},
			{"threshold", textOf(&v.Threshold)}, {"window", textOf(&v.Window)},
			{"confidence", textOf(&v.Confidence.Level)}, {"holds", numberOf(&v.Confidence.Holds)},
			{"of_signals", numberOf(&v.Confidence.Of)}, {"conf_note", textOf(&v.Confidence.Note)},
			{"set_global", textOf(&v.SetGlobal)}, {"conf_line", textOf(&v.ConfLine)}, {"risk", textOf(&v.Risk)},
			{"gain", textOf(&v.Gain)}, {"price", textOf(&v.Price)}, {"note", textOf(&v.Note)},
		}
	})
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
