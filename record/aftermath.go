package record

import (
	"context"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
)

// schemaWithin bounds the reading of the definitions at the end.
const schemaWithin = 5 * time.Second

// saveConfigs stores the texts of the configuration; it replaces what was stored.
func (s *session) saveConfigs() error {
	return s.store.SaveConfigs(slices.Concat(s.o.Configs, s.taken.Configs))
}

// takeAftermath takes again what a run may have changed of the configuration: the
// tables' definitions, and the states of the units that are watched.
func (s *session) takeAftermath(ctx context.Context) {
	if s.o.Capture == nil {
		return
	}
	for _, name := range s.o.Capture.Units {
		if state := capture.UnitState(ctx, name); state != "" {
			s.settings = append(s.settings, kasoku.Setting{Host: s.host(), Scope: capture.ScopeUnit, Name: name, Value: state})
		}
	}
	if s.db == nil || !slices.ContainsFunc(s.taken.Configs, func(c kasoku.Config) bool { return c.Kind == capture.KindSchema }) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, schemaWithin)
	defer cancel()
	tables, _, err := s.db.reader.Definitions(ctx, capture.MostTables)
	if err != nil {
		return // the database is gone; what reads it says so
	}
	for _, t := range tables {
		text, masked := capture.Mask(capture.KindSchema, t.Create)
		s.taken.Configs = append(s.taken.Configs, kasoku.Config{
			Host: s.host(), Kind: capture.KindSchemaAfter, Name: t.Schema + "." + t.Name, Text: text + "\n", Masked: masked,
		})
	}
}
