package store

import (
	"database/sql"

	"github.com/kasoku/kasoku"
)

// The tables that schema 6 added: profiles of programs, and their functions.

func profileTable() table[kasoku.Profile] {
	return tableOf("profile", func(v *kasoku.Profile) []column {
		return []column{
			{"host", textOf(&v.Host)}, {"program", textOf(&v.Program)}, {"address", textOf(&v.Address)},
			{"kind", textOf(&v.Kind)}, {"unit", textOf(&v.Unit)}, {"from_ns", numberOf(&v.Interval.From)},
			{"to_ns", numberOf(&v.Interval.To)}, {"total", numberOf(&v.Total)}, {"stacks", numberOf(&v.Stacks)},
			{"note", textOf(&v.Note)}, {"data", bytesOf(&v.Data)},
		}
	})
}

// A profileFunction is one with the id of its profile.
type profileFunction struct {
	profile int64
	kasoku.ProfileFunction
}

func profileFunctionTable() table[profileFunction] {
	return tableOf("profile_function", func(v *profileFunction) []column {
		return []column{
			{"profile", numberOf(&v.profile)}, {"name", textOf(&v.Name)}, {"file", textOf(&v.File)},
			{"line", numberOf(&v.Line)}, {"flat", numberOf(&v.Flat)}, {"cum", numberOf(&v.Cum)},
		}
	})
}

func saveProfiles(tx *sql.Tx, profiles []kasoku.Profile) error {
	if err := profileTable().replace(tx, profiles); err != nil {
		return err
	}
	if err := profileFunctionTable().replace(tx, nil); err != nil {
		return err
	}
	for i := range profiles {
		for _, f := range profiles[i].Functions {
			if err := profileFunctionTable().add(tx, &profileFunction{int64(i + 1), f}); err != nil {
				return err
			}
		}
	}
	return nil
}

// readProfiles reads the profiles with their functions.
func readProfiles(rd *reader) []kasoku.Profile {
	rows := profileTable().read(rd)
	for _, f := range values(profileFunctionTable().read(rd)) {
		if p := byID(rows, f.profile); p != nil {
			p.Functions = append(p.Functions, f.ProfileFunction)
		}
	}
	return values(rows)
}

// traceTable is the table that schema 13 added: what the kernel showed of a service's processes.
func traceTable() table[kasoku.Trace] {
	return tableOf("trace", func(v *kasoku.Trace) []column {
		n := &v.Counts
		return []column{
			{"host", textOf(&v.Host)}, {"from_ns", numberOf(&v.Interval.From)}, {"to_ns", numberOf(&v.Interval.To)},
			{"members", jsonOf(&v.Members)}, {"attach_ns", numberOf(&v.Attach)}, {"cpu_ns", numberOf(&v.CPU)},
			{"events", numberOf(&v.Events)}, {"lost", numberOf(&v.Lost)}, {"notes", jsonOf(&v.Notes)},
			{"refused", textOf(&v.Refused)}, {"requests", numberOf(&n.Requests)},
			{"unanswered", numberOf(&n.Unanswered)}, {"mixed", numberOf(&n.Mixed)},
			{"statements", numberOf(&n.Statements)}, {"tied", numberOf(&n.Tied)}, {"partial", numberOf(&n.Partial)},
			{"outside", numberOf(&n.Outside)}, {"unresolved", numberOf(&n.Unresolved)}, {"setup", numberOf(&n.Setup)},
			{"after", numberOf(&n.After)}, {"endpoints", jsonOf(&v.Endpoints)}, {"calls", jsonOf(&v.Calls)},
			{"externals", jsonOf(&v.Externals)}, {"syncs", jsonOf(&v.Syncs)},
		}
	})
}
