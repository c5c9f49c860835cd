package data

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// Emit writes the data as the contest laid it out, so that its own benchmark and
// its own applications can use it:
//
//	initial-data/result/                 rows as SQL and as JSON lines, choices of the searches
//	initial-data/result/draft_data/      rows to upload under load, one file an upload
//	initial-data/result/verification_data/  requests with their answers, see [Snapshots]
//	webapp/mysql/db/                     what /initialize runs
//	webapp/fixture/                      choices of the searches
//
// The benchmark takes initial-data as -data-dir and webapp/fixture as -fixture-dir.
func Emit(dir string, d *isuumo.Data) error {
	result := filepath.Join(dir, "initial-data", "result")
	db := filepath.Join(dir, "webapp", "mysql", "db")
	fixture := filepath.Join(dir, "webapp", "fixture")
	if err := makeDirectories(result, db, fixture); err != nil {
		return err
	}
	if err := writeText(filepath.Join(db, schemaFile), Schema); err != nil {
		return err
	}
	for _, dir := range []string{db, result} {
		if err := writeRows(dir, d); err != nil {
			return err
		}
	}
	for _, dir := range []string{fixture, result} {
		if err := writeConditions(dir, d); err != nil {
			return err
		}
	}
	if err := writeLines(result, "chair", d.Chairs, d.VerifyChairs, d.DraftChairs); err != nil {
		return err
	}
	if err := writeLines(result, "estate", d.Estates, d.VerifyEstates, d.DraftEstates); err != nil {
		return err
	}
	return writeSnapshots(filepath.Join(result, "verification_data"), Snapshots(d, DefaultSeed))
}

// The places of JSON lines below result, for one kind of rows.
func rowsFile(kind string) string   { return kind + "_json.txt" }
func verifyFile(kind string) string { return "verify_draft_" + kind + ".txt" }
func draftDir(kind string) string   { return filepath.Join("draft_data", kind) }

// writeLines writes all rows of one kind as JSON lines.
func writeLines[T any](result, kind string, rows, verify []T, drafts [][]T) error {
	if err := writeJSONLines(filepath.Join(result, rowsFile(kind)), rows); err != nil {
		return err
	}
	if err := writeJSONLines(filepath.Join(result, verifyFile(kind)), verify); err != nil {
		return err
	}
	dir := filepath.Join(result, draftDir(kind))
	if err := makeDirectories(dir); err != nil {
		return err
	}
	for i, draft := range drafts {
		if err := writeJSONLines(filepath.Join(dir, strconv.Itoa(i)+".txt"), draft); err != nil {
			return err
		}
	}
	return nil
}

func writeJSONLines[T any](path string, rows []T) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write data: %w", err)
	}
	if err := errors.Join(encodeLines(f, rows), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func encodeLines[T any](w io.Writer, rows []T) error {
	b := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for i := range rows {
		if err := enc.Encode(&rows[i]); err != nil {
			return err
		}
	}
	return b.Flush()
}

func writeSnapshots(dir string, all []SnapshotDir) error {
	for _, s := range all {
		sub := filepath.Join(dir, s.Name)
		if err := makeDirectories(sub); err != nil {
			return err
		}
		for i := range s.Snapshots {
			if err := writeJSONLines(filepath.Join(sub, strconv.Itoa(i)+".json"), s.Snapshots[i:i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}
