package store

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
)

// Write makes a run file of a whole recording, as if it had been recorded: the
// way to change a run with Go, and to make one for a test. The file must not
// exist. Damage is not stored; what was lost is lost.
func Write(path string, rec *kasoku.Recording) (err error) {
	w, err := Create(path, rec.Run)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := w.Close(); err == nil {
			err = closeErr
		}
	}()
	for _, f := range frames(rec.Series) {
		if err := w.Frame(f); err != nil {
			return err
		}
	}
	for _, g := range rec.Gaps {
		if err := w.Gap(g); err != nil {
			return err
		}
	}
	for _, e := range rec.Events {
		if err := w.Event(e); err != nil {
			return err
		}
	}
	err = errors.Join(w.SaveSummary(rec.Summary), Save(w, rec.Phases), Save(w, rec.Configs),
		Save(w, rec.Steps), w.SaveLoad(rec.Load), w.AddSeconds(rec.Seconds),
		Save(w, rec.Settings), Save(w, rec.Changes), Save(w, rec.RowChecks),
		Save(w, rec.Logs), Save(w, rec.Endpoints), Save(w, rec.Queries),
		Save(w, rec.Slowest), Save(w, rec.Transactions), Save(w, rec.Plans),
		Save(w, rec.Tables), Save(w, rec.Advice),
		Save(w, rec.Joins), Save(w, rec.Callers), Save(w, rec.LockWaits),
		Save(w, rec.Deadlocks), Save(w, rec.Profiles), Save(w, rec.Traces), w.SaveService(rec.Service),
		Save(w, rec.Saves), Save(w, rec.Messages), Save(w, rec.Warnings), w.SaveDiagnosis(rec.Diagnosis))
	if err != nil {
		return err
	}
	return w.Finish(rec.Run)
}

// frames turns series back into the frames of which they were made, by time.
func frames(series []kasoku.Series) []*kasoku.Frame {
	type moment struct {
		sourceKey
		at time.Duration
	}
	byMoment := map[moment]*kasoku.Frame{}
	var out []*kasoku.Frame
	for i := range series {
		s := &series[i]
		for _, p := range s.Points {
			m := moment{sourceKey{s.Key.Host, s.Key.Source}, p.At}
			f := byMoment[m]
			if f == nil {
				f = &kasoku.Frame{Host: m.host, Source: m.source, At: m.at}
				byMoment[m] = f
				out = append(out, f)
			}
			f.Samples = append(f.Samples, kasoku.Sample{
				Name: s.Key.Name, Instance: s.Key.Instance, Unit: s.Unit, Kind: s.Kind, Value: p.Value})
		}
	}
	slices.SortStableFunc(out, func(a, b *kasoku.Frame) int { return cmp.Compare(a.At, b.At) })
	return out
}
