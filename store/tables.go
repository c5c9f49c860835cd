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
	summary  *kasoku.Summary // of table summary; only Describe reads it, as what follows
	targets  []string
	steps    []kasoku.Step
	entries  []string
}

func runTable() table[runRow] {
	return tableOf("run", func(v *runRow) []column {
		at, zone, offset := wallCells(&v.Started)
		return []column{
			{"run_id", textOf(&v.ID)}, {"project", textOf(&v.Project)}, {"label", textOf(&v.Label)},
			{"note", textOf(&v.Note)}, {"started_unix_ns", at}, {"zone", zone},
			{"zone_offset_s", offset}, {"length_ns", numberOf(&v.Length)}, {"state", textOf(&v.State)},
			{"stop_reason", textOf(&v.StopReason)}, {"version", textOf(&v.Version)}, {"revision", textOf(&v.Revision)},
			{"dirty", flagOf(&v.Dirty)}, {"load", textOf(&v.Load)}, {"verdict", textOf(&v.verdict)},
			{"recorder_pid", numberOf(&v.recorder.pid)}, {"recorder_start", numberOf(&v.recorder.start)},
			{"recorder_boot_id", textOf(&v.recorder.bootID)}, {"run_group", textOf(&v.Group)},
			{"repeat", numberOf(&v.Repeat)}, {"observers", textOf(&v.Observers)},
			{"price_per_hour", realOf(&v.Price.PerHour)}, {"currency", textOf(&v.Price.Currency)},
			{"base", textOf(&v.Base)},
		}
	})
}

// wallCells are the three columns of a wall time; the last of them sets it.
func wallCells(p *time.Time) (at, zone, offset cell) {
	var unixNS int64
	var name string
	at = formOf(func() any { n, _, _ := wallColumns(*p); return n }, func(r *row) { unixNS = r.int64() })
	zone = formOf(func() any { _, z, _ := wallColumns(*p); return z }, func(r *row) { name = r.text() })
	offset = formOf(func() any { _, _, s := wallColumns(*p); return s },
		func(r *row) { *p = wallTime(unixNS, name, r.int()) })
	return at, zone, offset
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
	return tableOf("host", func(v *kasoku.Host) []column {
		return []column{
			{"name", textOf(&v.Name)}, {"cores", numberOf(&v.Cores)}, {"memory_bytes", numberOf(&v.MemoryBytes)},
			{"os", textOf(&v.OS)}, {"kernel", textOf(&v.Kernel)}, {"arch", textOf(&v.Arch)},
			{"boot_id", textOf(&v.BootID)}, {"clock_offset_ns", numberOf(&v.ClockOffset)},
			{"clock_error_ns", numberOf(&v.ClockError)}, {"clock_note", textOf(&v.ClockNote)},
		}
	})
}

func commandTable() table[kasoku.Command] {
	return tableOf("command", func(v *kasoku.Command) []column {
		return []column{
			{"args", jsonOf(&v.Args)}, {"exit_code", numberOf(&v.ExitCode)}, {"signal", textOf(&v.Signal)},
			{"wall_ns", numberOf(&v.Wall)}, {"user_ns", numberOf(&v.User)}, {"system_ns", numberOf(&v.System)},
			{"max_rss_bytes", numberOf(&v.MaxRSSBytes)}, {"voluntary_switch", numberOf(&v.VoluntarySwitch)},
			{"forced_switch", numberOf(&v.ForcedSwitch)}, {"output_truncated", flagOf(&v.OutputTruncated)},
		}
	})
}

func stepTable() table[kasoku.Step] {
	return tableOf("step", func(v *kasoku.Step) []column {
		return []column{
			{"number", numberOf(&v.Number)}, {"per_sec", realOf(&v.PerSec)}, {"from_ns", numberOf(&v.Interval.From)},
			{"to_ns", numberOf(&v.Interval.To)}, {"planned_ns", numberOf(&v.Planned)},
			{"per_sec_to", realOf(&v.PerSecTo)},
		}
	})
}

func interval(r *row) kasoku.Interval { return kasoku.Interval{From: r.dur(), To: r.dur()} }

func loadTable() table[kasoku.LoadSummary] {
	return tableOf("load", func(v *kasoku.LoadSummary) []column {
		return []column{
			{"engine", textOf(&v.Engine)}, {"engine_why", textOf(&v.EngineWhy)}, {"model", textOf(&v.Model)},
			{"targets", jsonOf(&v.Targets)}, {"max_in_flight", numberOf(&v.MaxInFlight)},
			{"peak_in_flight", numberOf(&v.PeakInFlight)}, {"cpu_ns", numberOf(&v.CPU)},
			{"wall_ns", numberOf(&v.Wall)}, {"peak_cores", realOf(&v.PeakCores)}, {"cores", numberOf(&v.Cores)},
			{"stopped", textOf(&v.Stopped)}, {"pacing", textOf(&v.Pacing)}, {"shards", numberOf(&v.Shards)},
			{"connections", numberOf(&v.Connections)}, {"resent", numberOf(&v.Resent)},
			{"redirected", numberOf(&v.Redirected)}, {"stopped_at_ns", numberOf(&v.StoppedAt)},
		}
	})
}

// secondRow is a second with the host whose generator counted it.
type secondRow struct {
	host string
	kasoku.LoadSecond
}

func secondTable() table[secondRow] {
	return tableOf("load_second", func(v *secondRow) []column {
		p50, p99, most := spreadOf(v.Latency)
		errors := formOf(func() any { return jsonText(validKeys(v.Errors)) }, func(r *row) { r.json(&v.Errors) })
		return []column{
			{"host", textOf(&v.host)}, {"second", numberOf(&v.Second)}, {"step", numberOf(&v.Step)},
			{"target", textOf(&v.Target)}, {"asked", numberOf(&v.Asked)}, {"bytes_in", numberOf(&v.BytesIn)},
			{"bytes_out", numberOf(&v.BytesOut)}, {"codes", jsonOf(&v.Codes)}, {"errors", errors},
			{"latency_p50_ns", p50}, {"latency_p99_ns", p99},
			{"latency_max_ns", most}, {"latency", encodedOf(&v.Latency)},
			{"send_delay", encodedOf(&v.SendDelay)}, {"service", encodedOf(&v.Service)},
			{"expected", numberOf(&v.Expected)},
		}
	})
}

func gapTable() table[kasoku.Gap] {
	return tableOf("gap", func(v *kasoku.Gap) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"source", textOf(&v.Source)}, {"from_ns", numberOf(&v.Interval.From)},
			{"to_ns", numberOf(&v.Interval.To)}, {"reason", textOf(&v.Reason)},
		}
	})
}

func eventTable() table[kasoku.Event] {
	return tableOf("event", func(v *kasoku.Event) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"at_ns", numberOf(&v.At)}, {"kind", textOf(&v.Kind)}, {"text", textOf(&v.Text)},
		}
	})
}

func changeTable() table[kasoku.Change] {
	return tableOf("change", func(v *kasoku.Change) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"object", textOf(&v.Object)}, {"name", textOf(&v.Name)},
			{"before", textOf(&v.Before)}, {"during", textOf(&v.During)}, {"restored", flagOf(&v.Restored)},
			{"note", textOf(&v.Note)},
		}
	})
}

func settingTable() table[kasoku.Setting] {
	return tableOf("setting", func(v *kasoku.Setting) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"scope", textOf(&v.Scope)}, {"name", textOf(&v.Name)},
			{"value", textOf(&v.Value)},
		}
	})
}

func rowCheckTable() table[kasoku.RowCheck] {
	return tableOf("row_check", func(v *kasoku.RowCheck) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"table_name", textOf(&v.Table)}, {"rows_before", numberOf(&v.Before)},
			{"rows_after", numberOf(&v.After)}, {"successes", numberOf(&v.Successes)},
		}
	})
}

func warningTable() table[kasoku.Warning] {
	return tableOf("warning", func(v *kasoku.Warning) []column {
		return []column{
			{"code", textOf(&v.Code)}, {"text", textOf(&v.Text)}, {"hint", textOf(&v.Hint)},
			{"host", textOf(&v.Host)},
		}
	})
}
