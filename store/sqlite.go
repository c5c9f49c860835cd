package store

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"strconv"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/kasoku/kasoku/store/ownlog"
)

// pageBytes is the size of a page of the database. A tick is a few KiB in four
// rows, of which each commit writes whole pages to the log: small pages write
// less. Measured with 700 series, 1024 against 4096: 18 kB rather than 41 kB a
// tick for the same CPU, and 49 kB rather than 156 kB for an empty run.
const pageBytes = 1024

// A mode is a way to connect to a run file.
type mode int

const (
	building  mode = iota // a new, empty file; rollback journal
	recording             // the writer of a run: write-ahead log
	repairing             // alone with a file that was left over; refused while it is recorded
	editing               // a finished file
	reading               // without writing, together with a writer
	immutable             // without writing, locking or looking at a log
	salvaging             // as immutable, and tolerant of a file that was cut short
)

// connect opens one connection. All pragmas are part of the name, so that they
// hold should database/sql ever open the connection anew.
func connect(path string, m mode) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := ownlog.Register(); err != nil {
		return nil, err
	}
	q := url.Values{"vfs": {ownlog.FileSystem}, "mode": {"rw"}, "_txlock": {"immediate"}, "_pragma": pragmas(m)}
	if m.readsOnly() {
		q.Set("mode", "ro")
		q.Set("_txlock", "deferred")
	}
	if m == immutable || m == salvaging {
		q.Set("immutable", "1")
	}
	name := url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := db.Ping(); err != nil {
		_ = db.Close()
		return nil, err
	}
	if m == salvaging {
		// The first query fails with a damaged schema; later ones see what of it
		// could be loaded.
		_, _ = db.Exec("SELECT 1 FROM run")
	}
	return db, nil
}

func (m mode) readsOnly() bool { return m == reading || m == immutable || m == salvaging }

// pragmas returns the settings of a connection. The driver applies them sorted
// by name.
func pragmas(m mode) []string {
	p := []string{
		"cell_size_check(1)", // refuses pages whose cells overlap rather than follow them
		"foreign_keys(1)",
		"mmap_size(0)",
		"trusted_schema(0)",
	}
	if m == repairing {
		// A recorder holds its lock from start to end: waiting only serves against
		// another repair.
		p = append(p, "busy_timeout(1000)", "locking_mode(exclusive)")
	} else {
		p = append(p, "busy_timeout(5000)")
	}
	if m == recording {
		p = append(p,
			"journal_mode(wal)",
			"secure_delete(1)", // what is replaced may be of others
			// With a write-ahead log, normal is safe against a killed process and keeps
			// the file sound when the power fails; the last seconds may then be lost.
			"synchronous(normal)",
			// A checkpoint waits for the disk that the measured server is using.
			"wal_autocheckpoint("+strconv.Itoa(checkpointBytes/pageBytes)+")",
			// Otherwise the log stays as large as a reader made it once, who kept it
			// from beginning anew.
			"journal_size_limit("+strconv.Itoa(checkpointBytes)+")")
	}
	if m == salvaging {
		// Otherwise SQLite refuses any query of a file with fewer pages than its
		// header says, or with a schema of which a part is damaged. It must come
		// before any pragma that reads the schema, as cache_size does.
		p = append(p, "writable_schema(1)")
	} else {
		p = append(p, "cache_size(-512)") // KiB
	}
	if m.readsOnly() {
		p = append(p, "query_only(1)")
	}
	return p
}

// checkpointBytes is how large the write-ahead log grows before its pages are
// moved into the file and it begins anew: some minutes of recording. Each time
// waits for the disk twice, for 4 MiB to be written.
const checkpointBytes = 4 << 20

// inTx runs do in one transaction.
func inTx(db *sql.DB, do func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // the cause is what matters; an error here only repeats it
		return err
	}
	return tx.Commit()
}

// inView runs do in one transaction that only reads. SQLite ends it early on a
// damaged page; what do reads after that is read all the same.
func inView(db *sql.DB, do func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing was changed
	return do(tx)
}

// A queryer is a connection or a transaction on it.
type queryer interface {
	Query(query string, args ...any) (*sql.Rows, error)
	QueryRow(query string, args ...any) *sql.Row
	Exec(query string, args ...any) (sql.Result, error)
}

var (
	_ queryer = (*sql.DB)(nil)
	_ queryer = (*sql.Tx)(nil)
)

func pragmaInt(db queryer, name string) (int64, error) {
	var n int64
	err := db.QueryRow("PRAGMA " + name).Scan(&n)
	return n, err
}
