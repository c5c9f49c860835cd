package store

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// SaveRun stores the run's own description. The verdict stays, and so does the
// host that counts the load: that is the first host at [Create].
func (w *Writer) SaveRun(run kasoku.Run) error {
	return w.write("save run", func(db *sql.DB) error {
		return inTx(db, func(tx *sql.Tx) error { return updateRun(tx, run) })
	})
}

// A Kept is what a run file has many of.
type Kept interface {
	kasoku.Step | // the steps of the load
		kasoku.Setting | // the configuration in force
		kasoku.Change | // what the recording altered on servers
		kasoku.Phase | // the phases of the traffic
		kasoku.RowCheck | // the comparisons of rows with answers
		kasoku.Warning | // the warnings that belong to the result
		kasoku.Endpoint | // the routes that the access logs saw
		kasoku.Transaction | // the classes of transactions of the slow logs
		kasoku.TableDef | // the tables that plans read
		kasoku.Advice | // what the checks of a server's settings say
		kasoku.Join | // how well it is known which endpoint runs which statements
		kasoku.Caller | // which endpoint runs which statements
		kasoku.LockWait | // who waited for whose locks
		kasoku.Deadlock | // the deadlocks that servers reported
		kasoku.Config | // the texts of the configuration in force
		kasoku.LogWindow | // which part of which log was read
		kasoku.Query | // the classes of statements, of slow logs or statement digests
		kasoku.SaveShape | // the trails of ORM saves
		kasoku.SlowRequest | // the slowest requests of the access logs
		kasoku.Plan | // how the server runs statements
		kasoku.Message | // the classes of lines of the application's logs
		kasoku.Profile | // the profiles of programs
		kasoku.Trace // what the kernel showed of the service
}

// Save makes rows all that the file has of their kind.
func Save[T Kept](w *Writer, rows []T) error {
	switch rows := any(rows).(type) {
	case []kasoku.Step:
		return saveAll(w, stepTable(), rows)
	case []kasoku.Setting:
		return saveAll(w, settingTable(), rows)
	case []kasoku.Change:
		return saveAll(w, changeTable(), rows)
	case []kasoku.Phase:
		return saveAll(w, phaseTable(), rows)
	case []kasoku.RowCheck:
		return saveAll(w, rowCheckTable(), rows)
	case []kasoku.Warning:
		return saveAll(w, warningTable(), rows)
	case []kasoku.Endpoint:
		return saveAll(w, endpointTable(), rows)
	case []kasoku.Transaction:
		return saveAll(w, txnTable(), rows)
	case []kasoku.TableDef:
		return saveAll(w, tableDefTable(), rows)
	case []kasoku.Advice:
		return saveAll(w, adviceTable(), rows)
	case []kasoku.Join:
		return saveAll(w, joinTable(), rows)
	case []kasoku.Caller:
		return saveAll(w, callerTable(), rows)
	case []kasoku.LockWait:
		return saveAll(w, lockWaitTable(), rows)
	case []kasoku.Deadlock:
		return saveAll(w, deadlockTable(), rows)
	case []kasoku.Config:
		return w.saveTx("config", func(tx *sql.Tx) error { return saveConfigs(tx, rows) })
	case []kasoku.LogWindow:
		return w.saveTx("log_window", func(tx *sql.Tx) error { return saveLogs(tx, rows) })
	case []kasoku.Query:
		return w.saveTx("query", func(tx *sql.Tx) error { return saveQueries(tx, rows) })
	case []kasoku.SaveShape:
		return w.saveTx("save_shape", func(tx *sql.Tx) error { return saveSaves(tx, rows) })
	case []kasoku.SlowRequest:
		return w.saveTx("slow_request", func(tx *sql.Tx) error { return saveSlowest(tx, rows) })
	case []kasoku.Plan:
		return w.saveTx("plan", func(tx *sql.Tx) error { return savePlans(tx, rows) })
	case []kasoku.Message:
		return w.saveTx("message", func(tx *sql.Tx) error { return saveMessages(tx, rows) })
	case []kasoku.Profile:
		return w.saveTx("profile", func(tx *sql.Tx) error { return saveProfiles(tx, rows) })
	case []kasoku.Trace:
		return saveAll(w, traceTable(), rows)
	}
	panic("store: a kind of rows without a table") // Kept has no other
}

// SaveLoad stores what is known of the generator; nil removes it.
func (w *Writer) SaveLoad(l *kasoku.LoadSummary) error {
	return w.saveTx("load", func(tx *sql.Tx) error { return loadTable().replaceOne(tx, l) })
}

// SaveSummary stores what a list of runs says about this one; nil removes it.
func (w *Writer) SaveSummary(s *kasoku.Summary) error {
	return w.saveTx("summary", func(tx *sql.Tx) error { return summaryTable().replaceOne(tx, s) })
}

// SaveDiagnosis stores what the rules said, and its verdict with the run; nil
// removes it.
func (w *Writer) SaveDiagnosis(d *kasoku.Diagnosis) error {
	return w.saveTx("diagnosis", func(tx *sql.Tx) error { return saveDiagnosis(tx, d) })
}

// AddSeconds adds what seconds of the load counted to the seconds of the same
// number, step and target in the file: an answer that comes late belongs to the
// second in which its request was due. All of it is added, or with an error none.
func (w *Writer) AddSeconds(seconds []kasoku.LoadSecond) error {
	return w.saveTx("load_second", func(tx *sql.Tx) error {
		t := secondTable()
		insert := t.insertSQL() + " ON CONFLICT (host, second, step, target) DO NOTHING"
		for i := range seconds {
			row := secondRow{w.host, seconds[i]}
			done, err := tx.Exec(insert, append([]any{nil}, t.put(&row)...)...)
			if err != nil {
				return t.named(err)
			}
			if n, err := done.RowsAffected(); err != nil {
				return t.named(err)
			} else if n > 0 {
				continue
			}
			if err := addSecond(tx, t, &row); err != nil {
				return t.named(err)
			}
		}
		return nil
	})
}

// addSecond adds a second to the row that there is of it.
func addSecond(tx *sql.Tx, t table[secondRow], more *secondRow) error {
	key := t.put(more)[:4]
	vals := make([]any, len(t.columns))
	into := make([]any, len(vals))
	for i := range vals {
		into[i] = &vals[i]
	}
	const where = " WHERE host = ? AND second = ? AND step = ? AND target = ?"
	if err := tx.QueryRow("SELECT "+strings.Join(t.columns, ", ")+" FROM "+t.name+where,
		key...).Scan(into...); err != nil {
		return err
	}
	r := row{vals: vals}
	var all secondRow
	if t.get(&r, &all); r.err != nil {
		return r.err
	}
	all.Add(&more.LoadSecond)
	_, err := tx.Exec("UPDATE "+t.name+" SET "+strings.Join(t.columns[4:], " = ?, ")+" = ?"+where,
		append(t.put(&all)[4:], key...)...)
	return err
}

// saveTx saves in one transaction. What says how the run ended, and what became of a
// server, may take the room that is kept for it.
func (w *Writer) saveTx(what string, do func(tx *sql.Tx) error) error {
	write := w.record
	if what == changeTable().name || what == warningTable().name {
		write = w.write
	}
	return write("save "+what, func(db *sql.DB) error { return inTx(db, do) })
}

func saveAll[T any](w *Writer, t table[T], values []T) error {
	return w.saveTx(t.name, func(tx *sql.Tx) error { return t.replace(tx, values) })
}

// insertRun writes the first row of a new file.
func insertRun(tx *sql.Tx, run kasoku.Run, by recorder) error {
	nameRun(&run)
	if err := runTable().insert(tx, 1, &runRow{Run: run, recorder: by}); err != nil {
		return err
	}
	return saveRunParts(tx, run)
}

// updateRun replaces what Run holds; verdict and recorder stay.
func updateRun(tx *sql.Tx, run kasoku.Run) error {
	nameRun(&run)
	t := runTable()
	own := cols("verdict recorder_pid recorder_start recorder_boot_id") // that Run does not hold
	var set []string
	var args []any
	for i, v := range t.put(&runRow{Run: run}) {
		if !slices.Contains(own, t.columns[i]) {
			set, args = append(set, t.columns[i]+" = ?"), append(args, v)
		}
	}
	if _, err := tx.Exec("UPDATE run SET "+strings.Join(set, ", "), args...); err != nil {
		return t.named(err)
	}
	return saveRunParts(tx, run)
}

func nameRun(run *kasoku.Run) {
	if run.ID == "" {
		run.ID = kasoku.NewRunID(run.Started, run.Label)
	}
}

func saveRunParts(tx *sql.Tx, run kasoku.Run) error {
	if err := hostTable().replace(tx, run.Hosts); err != nil {
		return err
	}
	if err := scoreTable().replaceOne(tx, run.Score); err != nil {
		return err
	}
	if err := commandTable().replaceOne(tx, run.Command); err != nil {
		return err
	}
	if run.Command == nil || run.Command.Output == "" {
		return nil // with its command, the old output is gone
	}
	return rawCommandTable().insert(tx, 1, &rawText{text: run.Command.Output})
}

func saveLogs(tx *sql.Tx, logs []kasoku.LogWindow) error {
	if err := logTable().replace(tx, logs); err != nil {
		return err
	}
	for i := range logs {
		for _, bad := range logs[i].BadSample {
			if err := badLineTable().add(tx, &badLine{int64(i + 1), bad}); err != nil {
				return err
			}
		}
	}
	return nil
}

func saveQueries(tx *sql.Tx, queries []kasoku.Query) error {
	err := saveWithText(tx, queryTable(), rawQueryTable(), queries, func(q *kasoku.Query) string { return q.Sample })
	if err != nil {
		return err
	}
	return saveTexts(tx, rawStatementTable(), queries, func(q *kasoku.Query) string { return q.Raw })
}

func saveConfigs(tx *sql.Tx, configs []kasoku.Config) error {
	return saveWithText(tx, configTable(), rawConfigTable(), configs, func(c *kasoku.Config) string { return c.Text })
}

func saveMessages(tx *sql.Tx, messages []kasoku.Message) error {
	return saveWithText(tx, messageTable(), rawMessageTable(), messages,
		func(m *kasoku.Message) string { return m.Sample })
}

func savePlans(tx *sql.Tx, plans []kasoku.Plan) error {
	if err := saveWithText(tx, planTable(), rawPlanTable(), plans,
		func(p *kasoku.Plan) string { return p.Text }); err != nil {
		return err
	}
	for i := range plans {
		for _, step := range plans[i].Rows {
			if err := planStepTable().add(tx, &planStep{int64(i + 1), step}); err != nil {
				return err
			}
		}
	}
	return nil
}

// saveWithText makes the values all that the table holds, and their texts all of
// the table beside it. The rows of that one go with those of the first.
func saveWithText[T any](tx *sql.Tx, t table[T], raw table[rawText], values []T, text func(*T) string) error {
	if err := t.replace(tx, values); err != nil {
		return err
	}
	return saveTexts(tx, raw, values, text)
}

// saveTexts stores one raw text for each value that has one, under its id.
func saveTexts[T any](tx *sql.Tx, t table[rawText], values []T, text func(*T) string) error {
	for i := range values {
		if s := text(&values[i]); s != "" {
			if err := t.insert(tx, int64(i+1), &rawText{text: s}); err != nil {
				return err
			}
		}
	}
	return nil
}

func saveSlowest(tx *sql.Tx, slow []kasoku.SlowRequest) error {
	return saveWithText(tx, slowTable(), rawURITable(), slow, func(s *kasoku.SlowRequest) string { return s.URI })
}

func saveSaves(tx *sql.Tx, saves []kasoku.SaveShape) error {
	if err := saveTable().replace(tx, saves); err != nil {
		return err
	}
	for i := range saves {
		for _, s := range saves[i].Sample {
			if err := rawSaveTable().add(tx, &rawText{int64(i + 1), s}); err != nil {
				return err
			}
		}
	}
	return nil
}

func saveDiagnosis(tx *sql.Tx, d *kasoku.Diagnosis) error {
	if d == nil {
		d = &kasoku.Diagnosis{}
		if err := diagnosisTable().replace(tx, nil); err != nil {
			return err
		}
	} else if err := diagnosisTable().replaceOne(tx, &verdict{d.Verdict, d.Rules}); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE run SET verdict = ?", d.Verdict); err != nil {
		return fmt.Errorf("table run: %w", err)
	}
	if err := findingTable().replace(tx, d.Findings); err != nil {
		return err
	}
	if err := saveEvidence(tx, d.Findings); err != nil {
		return err
	}
	return silenceTable().replace(tx, d.Silences)
}

func saveEvidence(tx *sql.Tx, findings []kasoku.Finding) error {
	id := int64(0)
	for i := range findings {
		for _, e := range findings[i].Evidence {
			id++
			if err := evidenceTable().insert(tx, id, &evidenceRow{int64(i + 1), e}); err != nil {
				return err
			}
			if err := quoteTable().insert(tx, id, &quote{e.Text, e.Note}); err != nil {
				return err
			}
		}
	}
	return nil
}
