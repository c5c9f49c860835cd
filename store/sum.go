package store

import (
	"database/sql"
	"fmt"
)

// A tableSum shows whether a table still holds what was written: how many rows,
// the greatest id, and the sum of the rows' checksums, which does not depend on
// their order.
//
// SQLite keeps no checksums of its own; a byte that flips inside a value would
// otherwise go unnoticed and be reported as a measurement.
type tableSum struct {
	lastID int64
	rows   int64
	sum    int64
}

func (s *tableSum) add(id int64, crc uint32) {
	s.lastID = max(s.lastID, id)
	s.rows++
	s.sum += int64(crc)
}

// A namedSum is one row of table checksum.
type namedSum struct {
	table string
	tableSum
}

func sumTable() table[namedSum] {
	return tableOf("checksum", func(v *namedSum) []column {
		return []column{
			{"table_name", textOf(&v.table)}, {"last_id", numberOf(&v.lastID)}, {"row_count", numberOf(&v.rows)},
			{"sum", numberOf(&v.sum)},
		}
	})
}

// A summed is a table that has a checksum, with the columns that go into it.
type summed struct {
	name    string
	columns []string
}

// allTables lists every table of a run but that of the checksums.
func allTables() []summed {
	return []summed{
		of(runTable()), of(hostTable()), of(commandTable()), of(rawCommandTable()),
		of(scoreTable()), of(summaryTable()), of(stepTable()), of(phaseTable()), of(loadTable()), of(secondTable()),
		of(seriesTable()), {"tail", tailColumns()}, {"chunk", chunkColumns()}, of(gapTable()), of(eventTable()),
		of(changeTable()), of(settingTable()), of(configTable()), of(rawConfigTable()), of(logTable()),
		of(badLineTable()), of(endpointTable()),
		of(slowTable()), of(rawURITable()),
		of(queryTable()), of(rawQueryTable()), of(rawStatementTable()), of(saveTable()), of(rawSaveTable()),
		of(txnTable()), of(planTable()), of(planStepTable()), of(rawPlanTable()), of(tableDefTable()),
		of(adviceTable()),
		of(joinTable()), of(callerTable()), of(lockWaitTable()), of(deadlockTable()),
		of(profileTable()), of(profileFunctionTable()), of(traceTable()),
		of(memberTable()), of(memberEdgeTable()), of(unseenTable()),
		of(messageTable()), of(rawMessageTable()), of(rowCheckTable()), of(warningTable()),
		of(diagnosisTable()), of(findingTable()), of(evidenceTable()), of(quoteTable()), of(silenceTable()),
	}
}

func of[T any](t table[T]) summed { return summed{t.name, t.columns} }

// writeSums writes the checksums of all tables anew.
func writeSums(tx *sql.Tx) error {
	if err := sumTable().replace(tx, nil); err != nil {
		return err
	}
	return renewSums(tx, allTables())
}

// renewSums writes the checksums of some tables anew. It refuses a table that
// cannot be read whole: its old checksum is what reveals the loss.
func renewSums(tx *sql.Tx, tables []summed) error {
	rd, err := newReader(tx)
	if err != nil {
		return err
	}
	defer rd.close()
	for _, t := range tables {
		got := rd.scan(t.name, t.columns, func(int64, *row) error { return nil })
		if len(rd.damage) > 0 {
			return fmt.Errorf("%w: %s", errDamaged, rd.damage[0])
		}
		if _, err := tx.Exec("DELETE FROM checksum WHERE table_name = ?", t.name); err != nil {
			return fmt.Errorf("table checksum: %w", err)
		}
		if err := sumTable().add(tx, &namedSum{t.name, got}); err != nil {
			return err
		}
	}
	return nil
}
