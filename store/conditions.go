package store

import (
	"database/sql"

	"github.com/kasoku/kasoku"
)

// Conditions reads under which conditions a run was made: its description, hosts,
// settings, configuration and what was changed on servers. The rest of the recording
// is empty. It takes milliseconds where [Open] may take a second, and is as careful.
func Conditions(path string) (*kasoku.Recording, error) {
	s, err := currentSchema()
	if err != nil {
		return nil, stepError("open run file", path, err)
	}
	o, at := opener{s}, target(path)
	f, err := look(at)
	if err != nil {
		return nil, stepError("open run file", path, err)
	}
	if !f.left && f.version == s.version() {
		if rec, err := o.conditions(at); err == nil {
			return rec, nil
		}
	}
	return Open(path) // which recovers, migrates and salvages
}

func (o opener) conditions(path string) (*kasoku.Recording, error) {
	db, err := connect(path, reading)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rec := &kasoku.Recording{}
	err = inView(db, func(tx *sql.Tx) error {
		if _, err := o.schema.check(tx, reading); err != nil {
			return err
		}
		rd, err := newReader(tx)
		if err != nil {
			return err
		}
		defer rd.close()
		rd.readSums()
		rec.Run = rd.run(path).Run
		rec.Settings, rec.Configs, rec.Changes = values(settingTable().read(rd)), rd.configs(),
			values(changeTable().read(rd))
		rec.Damage = rd.damage
		return nil
	})
	return rec, err
}
