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

// SaveSteps stores the steps of the load.
func (w *Writer) SaveSteps(steps []kasoku.Step) error { return saveAll(w, stepTable(), steps) }

// SaveLoad stores what is known of the generator; nil removes it.
func (w *Writer) SaveLoad(l *kasoku.LoadSummary) error {
	return w.saveTx("load", func(tx *sql.Tx) error { return loadTable().replaceOne(tx, l) })
}

// SaveSettings stores the configuration in force.
func (w *Writer) SaveSettings(s []kasoku.Setting) error { return saveAll(w, settingTable(), s) }

// SaveChanges stores what the recording altered on servers.
func (w *Writer) SaveChanges(c []kasoku.Change) error { return saveAll(w, changeTable(), c) }

// SavePhases stores the phases of the traffic.
func (w *Writer) SavePhases(p []kasoku.Phase) error { return saveAll(w, phaseTable(), p) }

// SaveConfigs stores the texts of the configuration in force.
func (w *Writer) SaveConfigs(c []kasoku.Config) error {
	return w.saveTx("config", func(tx *sql.Tx) error { return saveConfigs(tx, c) })
}

// SaveSummary stores what a list of runs says about this one; nil removes it.
func (w *Writer) SaveSummary(s *kasoku.Summary) error {
	return w.saveTx("summary", func(tx *sql.Tx) error { return summaryTable().replaceOne(tx, s) })
}

// SaveRowChecks stores the comparisons of rows with answers.
func (w *Writer) SaveRowChecks(c []kasoku.RowCheck) error { return saveAll(w, rowCheckTable(), c) }

// SaveWarnings stores the warnings that belong to the result.
func (w *Writer) SaveWarnings(s []kasoku.Warning) error { return saveAll(w, warningTable(), s) }

// SaveEndpoints stores the routes that the access logs saw.
func (w *Writer) SaveEndpoints(e []kasoku.Endpoint) error { return saveAll(w, endpointTable(), e) }

// SaveLogs stores which part of which log was read.
func (w *Writer) SaveLogs(logs []kasoku.LogWindow) error {
	return w.saveTx("log_window", func(tx *sql.Tx) error { return saveLogs(tx, logs) })
}

// SaveQueries stores the classes of statements of the slow logs.
func (w *Writer) SaveQueries(queries []kasoku.Query) error {
	return w.saveTx("query", func(tx *sql.Tx) error { return saveQueries(tx, queries) })
}

// SaveSaves stores the trails of ORM saves.
func (w *Writer) SaveSaves(saves []kasoku.SaveShape) error {
	return w.saveTx("save_shape", func(tx *sql.Tx) error { return saveSaves(tx, saves) })
}

// SaveSlowest stores the slowest requests of the access logs.
func (w *Writer) SaveSlowest(slow []kasoku.SlowRequest) error {
	return w.saveTx("slow_request", func(tx *sql.Tx) error {
		return saveWithText(tx, slowTable(), rawURITable(), slow, func(s *kasoku.SlowRequest) string { return s.URI })
	})
}

// SaveTransactions stores the classes of transactions of the slow logs.
func (w *Writer) SaveTransactions(t []kasoku.Transaction) error { return saveAll(w, txnTable(), t) }

// SavePlans stores how the server runs statements.
func (w *Writer) SavePlans(plans []kasoku.Plan) error {
	return w.saveTx("plan", func(tx *sql.Tx) error { return savePlans(tx, plans) })
}

// SaveTables stores the tables that plans read.
func (w *Writer) SaveTables(t []kasoku.TableDef) error { return saveAll(w, tableDefTable(), t) }

// SaveAdvice stores what the checks of a server's settings say.
func (w *Writer) SaveAdvice(a []kasoku.Advice) error { return saveAll(w, adviceTable(), a) }

// SaveJoins stores how well it is known which endpoint runs which statements.
func (w *Writer) SaveJoins(j []kasoku.Join) error { return saveAll(w, joinTable(), j) }

// SaveCallers stores which endpoint runs which statements.
func (w *Writer) SaveCallers(c []kasoku.Caller) error { return saveAll(w, callerTable(), c) }

// SaveLockWaits stores who waited for whose locks.
func (w *Writer) SaveLockWaits(l []kasoku.LockWait) error { return saveAll(w, lockWaitTable(), l) }

// SaveDeadlocks stores the deadlocks that servers reported.
func (w *Writer) SaveDeadlocks(d []kasoku.Deadlock) error { return saveAll(w, deadlockTable(), d) }

// SaveMessages stores the classes of lines of the application's logs.
func (w *Writer) SaveMessages(messages []kasoku.Message) error {
	return w.saveTx("message", func(tx *sql.Tx) error { return saveMessages(tx, messages) })
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
		run.ID = NewID(run.Started, run.Label)
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
