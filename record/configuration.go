package record

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/store"
)

// schemaWithin bounds the reading of the definitions at the end.
const schemaWithin = 5 * time.Second

// configuration is what was in force when the run was made.
type configuration struct {
	*recorder
	settings []kasoku.Setting // as stored last
	taken    capture.Taken
	members  kasoku.Service    // as known now
	foreign  map[string]string // logs that others write, by who does
	subjects subjects
	narrow   sync.Once // Watched, by the first look: later ones go on while it is read
}

// save stores the configuration in force, what take took among it; it
// replaces what was stored.
func (c *configuration) save(ctx context.Context) error {
	settings := mask.Settings(c.o.Settings)
	if c.db != nil {
		vars, err := c.db.settings(ctx, c.host())
		if err != nil {
			return err
		}
		settings = append(settings, vars...)
	}
	settings = append(settings, c.taken.Settings...)
	c.settings = append(settings, c.clockSettings(ctx)...)
	return errors.Join(store.Save(c.store, c.settings), c.saveTexts(ctx))
}

// saveTexts stores the texts of the configuration but for others'; it replaces what was stored.
func (c *configuration) saveTexts(ctx context.Context) error {
	own := slices.DeleteFunc(slices.Concat(c.o.Configs, c.taken.Configs), func(t kasoku.Config) bool {
		return (t.Kind == capture.KindSchema || t.Kind == capture.KindSchemaAfter) && c.db.tenants.IsOthersTable(t.Name)
	})
	return store.Save(c.store, capture.WithoutOthersSites(ctx, own, &c.members, Places(c.o)))
}

// takeAftermath takes again what a run may have changed of the configuration: the
// tables' definitions, and the states of the units that are watched.
func (c *configuration) takeAftermath(ctx context.Context) {
	if c.o.Capture == nil {
		return
	}
	for _, name := range c.o.Capture.Units {
		if state := capture.UnitState(ctx, name); state != "" {
			c.settings = append(c.settings, kasoku.Setting{Host: c.host(), Scope: capture.ScopeUnit, Name: name, Value: state})
		}
	}
	if c.db == nil || !slices.ContainsFunc(c.taken.Configs, func(t kasoku.Config) bool { return t.Kind == capture.KindSchema }) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, schemaWithin)
	defer cancel()
	tables, _, err := mysql.NewSchema(c.db.reader).Definitions(ctx, capture.MostTables)
	if err != nil {
		return // the database is gone; what reads it says so
	}
	for _, t := range tables {
		text, masked := capture.Mask(capture.KindSchema, t.Create)
		c.taken.Configs = append(c.taken.Configs, kasoku.Config{
			Host: c.host(), Kind: capture.KindSchemaAfter, Name: t.Schema + "." + t.Name, Text: text + "\n", Masked: masked,
		})
	}
}
