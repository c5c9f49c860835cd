package store

import (
	"time"

	"github.com/kasoku/kasoku"
)

// The tables that describe the run and its load. Each column is listed once and
// written and read in that order.

// runRow is the one row of table run.
type runRow struct {
	kasoku.Run
	verdict  string
	recorder recorder
	summary  *kasoku.Summary // of table summary; only Describe reads it
}

func runTable() table[runRow] {
	return table[runRow]{
		name: "run",
		columns: cols(`run_id project label note started_unix_ns zone zone_offset_s length_ns state stop_reason
			version revision dirty load verdict recorder_pid recorder_start recorder_boot_id
			run_group repeat observers price_per_hour currency`),
		put: func(v *runRow) []any {
			at, zone, offset := wallColumns(v.Started)
			return []any{v.ID, v.Project, v.Label, v.Note, at, zone, offset, ns(v.Length), string(v.State),
				v.StopReason,
				v.Version, v.Revision, asInt(v.Dirty), v.Load, v.verdict, v.recorder.pid, v.recorder.start,
				v.recorder.bootID,
				v.Group, v.Repeat, v.Observers, v.Price.PerHour, v.Price.Currency}
		},
		get: func(r *row, v *runRow) {
			v.ID, v.Project, v.Label, v.Note = r.text(), r.text(), r.text(), r.text()
			v.Started = wallTime(r.int64(), r.text(), r.int())
			v.Length, v.State, v.StopReason = r.dur(), kasoku.RunState(r.text()), r.text()
			v.Version, v.Revision, v.Dirty, v.Load = r.text(), r.text(), r.bool(), r.text()
			v.verdict = r.text()
			v.recorder = recorder{pid: r.int64(), start: r.int64(), bootID: r.text()}
			v.Group, v.Repeat, v.Observers = r.text(), r.int(), r.text()
			v.Price = kasoku.Price{PerHour: r.real(), Currency: r.text()}
		},
	}
}

// wallColumns splits a wall time into what the file keeps of it; the zero time
// is kept as 0.
func wallColumns(t time.Time) (unixNS int64, zone string, offset int64) {
	if t.IsZero() {
		return 0, "UTC", 0
	}
	name, sec := t.Zone()
	return t.UnixNano(), name, int64(sec)
}

func wallTime(unixNS int64, zone string, offset int) time.Time {
	if unixNS == 0 {
		return time.Time{}
	}
	if offset == 0 && zone == "UTC" {
		return time.Unix(0, unixNS).UTC()
	}
	return time.Unix(0, unixNS).In(time.FixedZone(zone, offset))
}

func hostTable() table[kasoku.Host] {
	return table[kasoku.Host]{
		name:    "host",
		columns: cols("name cores memory_bytes os kernel arch boot_id clock_offset_ns clock_error_ns clock_note"),
		put: func(v *kasoku.Host) []any {
			return []any{v.Name, v.Cores, u64(v.MemoryBytes), v.OS, v.Kernel, v.Arch, v.BootID, ns(v.ClockOffset),
				ns(v.ClockError), v.ClockNote}
		},
		get: func(r *row, v *kasoku.Host) {
			v.Name, v.Cores, v.MemoryBytes = r.text(), r.int(), r.uint64()
			v.OS, v.Kernel, v.Arch, v.BootID = r.text(), r.text(), r.text(), r.text()
			v.ClockOffset, v.ClockError, v.ClockNote = r.dur(), r.dur(), r.text()
		},
	}
}

func commandTable() table[kasoku.Command] {
	return table[kasoku.Command]{
		name: "command",
		columns: cols(`args exit_code signal wall_ns user_ns system_ns max_rss_bytes voluntary_switch forced_switch
			output_truncated`),
		put: func(v *kasoku.Command) []any {
			return []any{jsonText(v.Args), v.ExitCode, v.Signal, ns(v.Wall), ns(v.User), ns(v.System),
				u64(v.MaxRSSBytes),
				u64(v.VoluntarySwitch), u64(v.ForcedSwitch), asInt(v.OutputTruncated)}
		},
		get: func(r *row, v *kasoku.Command) {
			r.json(&v.Args)
			v.ExitCode, v.Signal, v.Wall, v.User, v.System = r.int(), r.text(), r.dur(), r.dur(), r.dur()
			v.MaxRSSBytes, v.VoluntarySwitch, v.ForcedSwitch = r.uint64(), r.uint64(), r.uint64()
			v.OutputTruncated = r.bool()
		},
	}
}

func stepTable() table[kasoku.Step] {
	return table[kasoku.Step]{
		name:    "step",
		columns: cols("number per_sec from_ns to_ns planned_ns per_sec_to"),
		put: func(v *kasoku.Step) []any {
			return []any{v.Number, v.PerSec, ns(v.Interval.From), ns(v.Interval.To), ns(v.Planned), v.PerSecTo}
		},
		get: func(r *row, v *kasoku.Step) {
			v.Number, v.PerSec, v.Interval, v.Planned, v.PerSecTo = r.int(), r.real(), interval(r), r.dur(), r.real()
		},
	}
}

func interval(r *row) kasoku.Interval { return kasoku.Interval{From: r.dur(), To: r.dur()} }

func loadTable() table[kasoku.LoadSummary] {
	return table[kasoku.LoadSummary]{
		name: "load",
		columns: cols(`engine engine_why model targets max_in_flight peak_in_flight cpu_ns wall_ns peak_cores cores stopped
			pacing shards connections resent redirected stopped_at_ns`),
		put: func(v *kasoku.LoadSummary) []any {
			return []any{v.Engine, v.EngineWhy, v.Model, jsonText(v.Targets), v.MaxInFlight, v.PeakInFlight,
				ns(v.CPU), ns(v.Wall), v.PeakCores, v.Cores, v.Stopped,
				v.Pacing, v.Shards, u64(v.Connections), u64(v.Resent), u64(v.Redirected), ns(v.StoppedAt)}
		},
		get: func(r *row, v *kasoku.LoadSummary) {
			v.Engine, v.EngineWhy, v.Model = r.text(), r.text(), r.text()
			r.json(&v.Targets)
			v.MaxInFlight, v.PeakInFlight, v.CPU, v.Wall = r.int(), r.int(), r.dur(), r.dur()
			v.PeakCores, v.Cores, v.Stopped = r.real(), r.int(), r.text()
			v.Pacing, v.Shards, v.Connections, v.Resent, v.Redirected = r.text(), r.int(), r.uint64(), r.uint64(),
				r.uint64()
			v.StoppedAt = r.dur()
		},
	}
}

// secondRow is a second with the host whose generator counted it.
type secondRow struct {
	host string
	kasoku.LoadSecond
}

func secondTable() table[secondRow] {
	return table[secondRow]{
		name: "load_second",
		columns: cols(`host second step target asked bytes_in bytes_out codes errors
			latency_p50_ns latency_p99_ns latency_max_ns latency send_delay service`),
		put: func(v *secondRow) []any {
			p50, p99, most := spread(v.Latency)
			return []any{v.host, v.Second, v.Step, v.Target, u64(v.Asked), u64(v.BytesIn), u64(v.BytesOut),
				jsonText(v.Codes), jsonText(validKeys(v.Errors)), p50, p99, most,
				blobOf(v.Latency), blobOf(v.SendDelay), blobOf(v.Service)}
		},
		get: func(r *row, v *secondRow) {
			v.host, v.Second, v.Step, v.Target = r.text(), r.int(), r.int(), r.text()
			v.Asked, v.BytesIn, v.BytesOut = r.uint64(), r.uint64(), r.uint64()
			r.json(&v.Codes)
			r.json(&v.Errors)
			r.skip(3)
			r.hist(&v.Latency)
			r.hist(&v.SendDelay)
			r.hist(&v.Service)
		},
	}
}

func gapTable() table[kasoku.Gap] {
	return table[kasoku.Gap]{
		name:    "gap",
		columns: cols("host source from_ns to_ns reason"),
		put: func(v *kasoku.Gap) []any {
			return []any{v.Host, v.Source, ns(v.Interval.From), ns(v.Interval.To), v.Reason}
		},
		get: func(r *row, v *kasoku.Gap) {
			v.Host, v.Source, v.Interval, v.Reason = r.text(), r.text(), interval(r), r.text()
		},
	}
}

func eventTable() table[kasoku.Event] {
	return table[kasoku.Event]{
		name:    "event",
		columns: cols("host at_ns kind text"),
		put:     func(v *kasoku.Event) []any { return []any{v.Host, ns(v.At), v.Kind, v.Text} },
		get: func(r *row, v *kasoku.Event) {
			v.Host, v.At, v.Kind, v.Text = r.text(), r.dur(), r.text(), r.text()
		},
	}
}

func changeTable() table[kasoku.Change] {
	return table[kasoku.Change]{
		name:    "change",
		columns: cols("host object name before during restored note"),
		put: func(v *kasoku.Change) []any {
			return []any{v.Host, v.Object, v.Name, v.Before, v.During, asInt(v.Restored), v.Note}
		},
		get: func(r *row, v *kasoku.Change) {
			v.Host, v.Object, v.Name, v.Before, v.During = r.text(), r.text(), r.text(), r.text(), r.text()
			v.Restored, v.Note = r.bool(), r.text()
		},
	}
}

func settingTable() table[kasoku.Setting] {
	return table[kasoku.Setting]{
		name:    "setting",
		columns: cols("host scope name value"),
		put:     func(v *kasoku.Setting) []any { return []any{v.Host, v.Scope, v.Name, v.Value} },
		get: func(r *row, v *kasoku.Setting) {
			v.Host, v.Scope, v.Name, v.Value = r.text(), r.text(), r.text(), r.text()
		},
	}
}

func rowCheckTable() table[kasoku.RowCheck] {
	return table[kasoku.RowCheck]{
		name:    "row_check",
		columns: cols("host table_name rows_before rows_after successes"),
		put: func(v *kasoku.RowCheck) []any {
			return []any{v.Host, v.Table, v.Before, v.After, u64(v.Successes)}
		},
		get: func(r *row, v *kasoku.RowCheck) {
			v.Host, v.Table, v.Before, v.After, v.Successes = r.text(), r.text(), r.int64(), r.int64(), r.uint64()
		},
	}
}

func warningTable() table[kasoku.Warning] {
	return table[kasoku.Warning]{
		name:    "warning",
		columns: cols("code text hint"),
		put:     func(v *kasoku.Warning) []any { return []any{v.Code, v.Text, v.Hint} },
		get: func(r *row, v *kasoku.Warning) {
			v.Code, v.Text, v.Hint = r.text(), r.text(), r.text()
		},
	}
}
