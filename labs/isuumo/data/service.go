package data

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// The files of the database, in the order in which a service runs them.
const (
	schemaFile    = "0_Schema.sql"
	estateSQLFile = "1_DummyEstateData.sql"
	chairSQLFile  = "2_DummyChairData.sql"

	chairConditionFile  = "chair_condition.json"
	estateConditionFile = "estate_condition.json"
)

// Schema drops and creates the database isuumo with its two tables. They have no
// index but the primary keys. The collation is the one that the contest's server
// had by default, and that all servers know.
const Schema = `DROP DATABASE IF EXISTS isuumo;
CREATE DATABASE isuumo CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;

CREATE TABLE isuumo.estate
(
    id          INTEGER             NOT NULL PRIMARY KEY,
    name        VARCHAR(64)         NOT NULL,
    description VARCHAR(4096)       NOT NULL,
    thumbnail   VARCHAR(128)        NOT NULL,
    address     VARCHAR(128)        NOT NULL,
    latitude    DOUBLE PRECISION    NOT NULL,
    longitude   DOUBLE PRECISION    NOT NULL,
    rent        INTEGER             NOT NULL,
    door_height INTEGER             NOT NULL,
    door_width  INTEGER             NOT NULL,
    features    VARCHAR(64)         NOT NULL,
    popularity  INTEGER             NOT NULL
);

CREATE TABLE isuumo.chair
(
    id          INTEGER         NOT NULL PRIMARY KEY,
    name        VARCHAR(64)     NOT NULL,
    description VARCHAR(4096)   NOT NULL,
    thumbnail   VARCHAR(128)    NOT NULL,
    price       INTEGER         NOT NULL,
    height      INTEGER         NOT NULL,
    width       INTEGER         NOT NULL,
    depth       INTEGER         NOT NULL,
    color       VARCHAR(64)     NOT NULL,
    features    VARCHAR(64)     NOT NULL,
    kind        VARCHAR(64)     NOT NULL,
    popularity  INTEGER         NOT NULL,
    stock       INTEGER         NOT NULL
);
`

// WriteService writes what a service needs: the statements that /initialize runs
// into dir/sql, the choices of the searches into dir/fixture.
//
// A statement ends with a semicolon at the end of a line. No other line ends with
// one, since text has its line breaks escaped.
func WriteService(dir string, d *isuumo.Data) error {
	sql, fixture := filepath.Join(dir, "sql"), filepath.Join(dir, "fixture")
	if err := makeDirectories(sql, fixture); err != nil {
		return err
	}
	if err := writeText(filepath.Join(sql, schemaFile), Schema); err != nil {
		return err
	}
	if err := writeRows(sql, d); err != nil {
		return err
	}
	return writeConditions(fixture, d)
}

// writeRows writes the rows after /initialize as statements.
func writeRows(dir string, d *isuumo.Data) error {
	if err := writeSQL(filepath.Join(dir, estateSQLFile), estateTable(), d.Estates); err != nil {
		return err
	}
	return writeSQL(filepath.Join(dir, chairSQLFile), chairTable(), d.Chairs)
}

func writeConditions(dir string, d *isuumo.Data) error {
	if err := writeJSON(filepath.Join(dir, chairConditionFile), d.ChairCondition); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, estateConditionFile), d.EstateCondition)
}

// insertRows is how many rows one statement inserts.
const insertRows = 500

func writeSQL[T any](path string, t *table[T], rows []T) error {
	var out []byte
	for part := range slices.Chunk(rows, insertRows) {
		out = appendInsert(out, t, part)
	}
	return writeBytes(path, out)
}

// appendInsert appends one statement that inserts the rows.
func appendInsert[T any](dst []byte, t *table[T], rows []T) []byte {
	dst = fmt.Appendf(dst, "INSERT INTO isuumo.%s (", t.name)
	for i, c := range t.columns {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, c...)
	}
	dst = append(dst, ") VALUES\n"...)
	for i := range rows {
		dst = append(dst, '(')
		for j, field := range t.fields(&rows[i]) {
			if j > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendField(dst, field, appendSQLText)
		}
		dst = append(dst, "),\n"...)
	}
	return append(dst[:len(dst)-2], ";\n"...)
}

// appendSQLText appends a string literal. Escapes are those of MySQL's manual,
// "String Literals", with NO_BACKSLASH_ESCAPES off.
func appendSQLText(dst []byte, s string) []byte {
	dst = append(dst, '\'')
	for i := range len(s) {
		switch c := s[i]; c {
		case '\'', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case 0:
			dst = append(dst, '\\', '0')
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '\'')
}

// writeJSON writes a value for people to read.
func writeJSON(path string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return writeBytes(path, b.Bytes())
}

func writeText(path, s string) error { return writeBytes(path, []byte(s)) }

// writeBytes writes a file that a server of another user may read.
func writeBytes(path string, b []byte) error {
	if err := os.WriteFile(path, b, 0o644); err != nil {
		return fmt.Errorf("write data: %w", err)
	}
	return nil
}

func makeDirectories(dirs ...string) error {
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("write data: %w", err)
		}
	}
	return nil
}
