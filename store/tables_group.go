package store

import "github.com/kasoku/kasoku"

// The tables that schema 2 added: what a run was worth, how its traffic went, and
// the configuration that it ran under.

func scoreTable() table[kasoku.Score] {
	return table[kasoku.Score]{
		name:    "score",
		columns: cols("value outcome source requests failures"),
		put: func(v *kasoku.Score) []any {
			return []any{v.Value, string(v.Outcome), v.Source, u64(v.Requests), u64(v.Failures)}
		},
		get: func(r *row, v *kasoku.Score) {
			v.Value, v.Outcome, v.Source = r.real(), kasoku.Outcome(r.text()), r.text()
			v.Requests, v.Failures = r.uint64(), r.uint64()
		},
	}
}

func summaryTable() table[kasoku.Summary] {
	return table[kasoku.Summary]{
		name:    "summary",
		columns: cols("source requests succeeded per_sec asked p50_ns p99_ns cpu_ns load_time_ns bottleneck"),
		put: func(v *kasoku.Summary) []any {
			return []any{v.Source, u64(v.Requests), u64(v.Succeeded), v.PerSec, v.Asked, ns(v.P50), ns(v.P99),
				ns(v.CPU), ns(v.LoadTime), v.Bottleneck}
		},
		get: func(r *row, v *kasoku.Summary) {
			v.Source, v.Requests, v.Succeeded, v.PerSec, v.Asked = r.text(), r.uint64(), r.uint64(), r.real(), r.real()
			v.P50, v.P99, v.CPU, v.LoadTime, v.Bottleneck = r.dur(), r.dur(), r.dur(), r.dur(), r.text()
		},
	}
}

func phaseTable() table[kasoku.Phase] {
	return table[kasoku.Phase]{
		name:    "phase",
		columns: cols("kind from_ns to_ns why"),
		put: func(v *kasoku.Phase) []any {
			return []any{string(v.Kind), ns(v.Interval.From), ns(v.Interval.To), v.Why}
		},
		get: func(r *row, v *kasoku.Phase) {
			v.Kind, v.Interval, v.Why = kasoku.PhaseKind(r.text()), interval(r), r.text()
		},
	}
}

// configTable holds what a text of the configuration is; the text itself lies in
// [rawConfigTable].
func configTable() table[kasoku.Config] {
	return table[kasoku.Config]{
		name:    "config",
		columns: cols("host kind name mode uid gid masked note"),
		put: func(v *kasoku.Config) []any {
			return []any{v.Host, v.Kind, v.Name, int64(v.Mode), v.UID, v.GID, v.Masked, v.Note}
		},
		get: func(r *row, v *kasoku.Config) {
			v.Host, v.Kind, v.Name, v.Mode = r.text(), r.text(), r.text(), uint32(r.int64())
			v.UID, v.GID, v.Masked, v.Note = r.int(), r.int(), r.int(), r.text()
		},
	}
}

func rawConfigTable() table[rawText] { return rawTable("raw_config", "text") }
