package store

import "github.com/kasoku/kasoku"

// The tables that schema 2 added: what a run was worth, how its traffic went, and
// the configuration that it ran under.

func scoreTable() table[kasoku.Score] {
	return tableOf("score", func(v *kasoku.Score) []column {
		return []column{
			{"value", realOf(&v.Value)}, {"outcome", textOf(&v.Outcome)}, {"source", textOf(&v.Source)},
			{"requests", numberOf(&v.Requests)}, {"failures", numberOf(&v.Failures)},
		}
	})
}

func summaryTable() table[kasoku.Summary] {
	return tableOf("summary", func(v *kasoku.Summary) []column {
		return []column{
			{"source", textOf(&v.Source)}, {"requests", numberOf(&v.Requests)}, {"succeeded", numberOf(&v.Succeeded)},
			{"per_sec", realOf(&v.PerSec)}, {"asked", realOf(&v.Asked)}, {"p50_ns", numberOf(&v.P50)},
			{"p99_ns", numberOf(&v.P99)}, {"cpu_ns", numberOf(&v.CPU)}, {"load_time_ns", numberOf(&v.LoadTime)},
			{"bottleneck", textOf(&v.Bottleneck)},
		}
	})
}

func phaseTable() table[kasoku.Phase] {
	return tableOf("phase", func(v *kasoku.Phase) []column {
		return []column{
			{"kind", textOf(&v.Kind)}, {"from_ns", numberOf(&v.Interval.From)}, {"to_ns", numberOf(&v.Interval.To)},
			{"why", textOf(&v.Why)},
		}
	})
}

// configTable holds what a text of the configuration is; the text itself lies in
// [rawConfigTable].
func configTable() table[kasoku.Config] {
	return tableOf("config", func(v *kasoku.Config) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"kind", textOf(&v.Kind)}, {"name", textOf(&v.Name)}, {"mode", numberOf(&v.Mode)},
			{"uid", numberOf(&v.UID)}, {"gid", numberOf(&v.GID)}, {"masked", numberOf(&v.Masked)},
			{"note", textOf(&v.Note)},
		}
	})
}

func rawConfigTable() table[rawText] { return rawTable("raw_config", "text") }
