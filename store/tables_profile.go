package store

import (
	"database/sql"

	"github.com/kasoku/kasoku"
)

// The tables that schema 6 added: profiles of programs, and their functions.

func profileTable() table[kasoku.Profile] {
	return table[kasoku.Profile]{
		name:    "profile",
		columns: cols("host program address kind unit from_ns to_ns total stacks note data"),
		put: func(v *kasoku.Profile) []any {
			return []any{v.Host, v.Program, v.Address, string(v.Kind), v.Unit, ns(v.Interval.From), ns(v.Interval.To),
				v.Total, v.Stacks, v.Note, v.Data}
		},
		get: func(r *row, v *kasoku.Profile) {
			v.Host, v.Program, v.Address, v.Kind, v.Unit = r.text(), r.text(), r.text(), kasoku.ProfileKind(r.text()),
				r.text()
			v.Interval, v.Total, v.Stacks, v.Note, v.Data = interval(r), r.int64(), r.int(), r.text(), r.blob()
		},
	}
}

// A profileFunction is one with the id of its profile.
type profileFunction struct {
	profile int64
	kasoku.ProfileFunction
}

func profileFunctionTable() table[profileFunction] {
	return table[profileFunction]{
		name:    "profile_function",
		columns: cols("profile name file line flat cum"),
		put: func(v *profileFunction) []any {
			return []any{v.profile, v.Name, v.File, v.Line, v.Flat, v.Cum}
		},
		get: func(r *row, v *profileFunction) {
			v.profile, v.Name, v.File, v.Line, v.Flat, v.Cum = r.int64(), r.text(), r.text(), r.int(), r.int64(),
				r.int64()
		},
	}
}

// SaveProfiles stores the profiles of programs.
func (w *Writer) SaveProfiles(profiles []kasoku.Profile) error {
	return w.saveTx("profile", func(tx *sql.Tx) error {
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
	})
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
