// Package mysqlflags is what every command-line tool that talks to MySQL or
// MariaDB needs: connection flags, my.cnf, a DSN, and SHOW … read into structs.
//
// [MyOpts] carries tags of github.com/jessevdk/go-flags and is filled from the
// command line. [CreateDSN] and [OpenDB] complete it: a flag beats the extra
// file, that beats my.cnf, and that beats the defaults (root at localhost:3306).
// So it is with the settings of TLS.
// [Query] runs a statement and [QueryMap.Scan] puts its rows into tagged structs:
//
//	type threads struct {
//		Running   int64 `mysqlvar:"Threads_running"`
//		Connected int64 `mysqlvar:"Threads_connected"`
//	}
//	var t threads
//	err := mysqlflags.Query(db, `SHOW GLOBAL STATUS LIKE 'Threads\_%'`).Scan(&t)
//
// [ReplicaStatus] says how replication goes, in the same words on MySQL and MariaDB,
// old and new.
//
// my.cnf is read by this package itself, !include and !includedir with it; no
// my_print_defaults is needed. Errors of connecting carry a hint: they have a
// method Hint() string. No error and no log line holds a password.
//
// The names and types are those of github.com/kazeburo/go-mysqlflags 0.1.
// Sources: the option file format of the MySQL 9.7 manual, "Using Option
// Files"; MariaDB's "Configuring MariaDB with Option Files".
package mysqlflags

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log"
	"net"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// The defaults of last resort.
const (
	DefaultUser = "root"
	DefaultHost = "localhost"
	DefaultPort = "3306"
)

// DialTimeout bounds the dialling of [OpenDSN] when the DSN names no timeout.
const DialTimeout = 5 * time.Second

// MyOpts is what can be said about a connection on a command line. The zero
// value means: whatever my.cnf says.
//
// The flags have no defaults of their own, for go-flags would fill them in and
// my.cnf could never be heard. So an empty field was not set, and one that holds
// "localhost" was: it beats my.cnf.
type MyOpts struct {
	MySQLDefaultsExtraFile string            `long:"defaults-extra-file" description:"path to defaults-extra-file"`
	MySQLSocket            string            `long:"mysql-socket" description:"path to the mysql unix socket"`
	MySQLHost              string            `short:"H" long:"host" description:"hostname (default: my.cnf, localhost)"`
	MySQLPort              string            `short:"p" long:"port" description:"port (default: my.cnf, 3306)"`
	MySQLUser              string            `short:"u" long:"user" description:"username (default: my.cnf, root)"`
	MySQLPass              *string           `short:"P" long:"password" unquote:"false" description:"password"`
	MySQLDBName            string            `long:"database" description:"database name"`
	MySQLDSNParams         map[string]string // further parameters of the driver's DSN; they win
	MySQLSSLMode           string            `long:"ssl-mode" description:"DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY (default: my.cnf)"`
	MySQLSSLCA             string            `long:"ssl-ca" description:"path to the certificates of authorities, PEM"`
	MySQLSSLCert           string            `long:"ssl-cert" description:"path to the client's certificate, PEM"`
	MySQLSSLKey            string            `long:"ssl-key" description:"path to the client's key, PEM"`
	MySQLSSLVerify         bool              `long:"ssl-verify-server-cert" description:"the server's certificate must be for its host, as ssl-mode VERIFY_IDENTITY"`
}

// CreateDSN returns the DSN that the options, the option files and the
// defaults make together. Its parameters are sorted and escaped, so equal
// options give equal DSNs. A timeout above 0 bounds dialling. With debug the
// DSN is logged, its password masked.
func CreateDSN(opts MyOpts, timeout time.Duration, debug bool) (string, error) {
	d, err := readAll(opts)
	if err != nil {
		return "", err
	}
	dsn, err := d.DSN(opts, timeout)
	if err != nil {
		return "", err
	}
	if debug {
		log.Printf("DSN: %s", Redact(dsn))
	}
	return dsn, nil
}

// readAll reads the standard files and, over them, the extra one.
func readAll(opts MyOpts) (Defaults, error) {
	d, err := ReadDefaults("")
	if err != nil || opts.MySQLDefaultsExtraFile == "" {
		return d, err
	}
	extra, err := ReadDefaults(opts.MySQLDefaultsExtraFile)
	return d.override(extra), err
}

// Notes returns what of the option files [CreateDSN] leaves out, and why, as
// [Defaults] has it: to be printed when connecting failed, for the user or password
// may be in there.
func Notes(opts MyOpts) []string {
	d, _ := readAll(opts) // what was read until then counts
	return d.Notes
}

// OpenDB opens the database that [CreateDSN] describes. It does not connect yet.
func OpenDB(opts MyOpts, timeout time.Duration, debug bool) (*sql.DB, error) {
	dsn, err := CreateDSN(opts, timeout, debug)
	if err != nil {
		return nil, err
	}
	return OpenDSN(dsn)
}

// OpenDBContext is [OpenDB] and connects: what is wrong is known at once, and has a
// hint.
func OpenDBContext(ctx context.Context, opts MyOpts, timeout time.Duration, debug bool) (*sql.DB, error) {
	db, err := OpenDB(opts, timeout, debug)
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close() // it never worked
		return nil, Explain(err)
	}
	return db, nil
}

// DSN returns the DSN of the options over these defaults alone; no other file
// is read.
func (d Defaults) DSN(opts MyOpts, timeout time.Duration) (string, error) {
	flags := Defaults{
		User: opts.MySQLUser, Password: opts.MySQLPass, Host: opts.MySQLHost, Port: opts.MySQLPort,
		Socket: opts.MySQLSocket, Database: opts.MySQLDBName,
		TLS: TLS{Mode: opts.MySQLSSLMode, CA: opts.MySQLSSLCA, Cert: opts.MySQLSSLCert, Key: opts.MySQLSSLKey},
	}
	if opts.MySQLSSLVerify {
		flags.TLS.verify(true)
	}
	d = Defaults{User: DefaultUser, Host: DefaultHost, Port: DefaultPort}.override(d).override(flags)
	cfg := mysql.NewConfig()
	cfg.User, cfg.DBName = d.User, d.Database
	if d.Password != nil {
		cfg.Passwd = *d.Password
	}
	if inner, ok := strings.CutPrefix(d.Host, "["); ok {
		d.Host = strings.TrimSuffix(inner, "]") // as an address of IPv6 is written in front of a port
	}
	cfg.Net, cfg.Addr = "tcp", net.JoinHostPort(d.Host, d.Port)
	if d.Socket != "" {
		cfg.Net, cfg.Addr = "unix", d.Socket
	}
	cfg.Params = opts.MySQLDSNParams
	if _, ok := cfg.Params["timeout"]; !ok {
		cfg.Timeout = max(timeout, 0)
	}
	if _, ok := cfg.Params["tls"]; !ok {
		if err := d.TLS.apply(cfg, d.Host); err != nil {
			return "", &Error{Err: fmt.Errorf("TLS: %w", err), hint: tlsHint}
		}
	}
	return formatDSN(cfg)
}

// FormatDSN returns the DSN of one user at one address, escaped: a socket when
// the address starts with a slash, else host:port.
func FormatDSN(user, password, address, database string, params map[string]string) (string, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName, cfg.Params = user, password, "tcp", address, database, params
	if strings.HasPrefix(address, "/") {
		cfg.Net = "unix"
	}
	return formatDSN(cfg)
}

// formatDSN writes a DSN in the driver's own order and checks that the driver
// reads the same from it.
func formatDSN(cfg *mysql.Config) (string, error) {
	dsn := cfg.FormatDSN()
	if list, ok := cfg.Params["charset"]; ok {
		// The driver splits it at its commas and does not unescape them.
		plain := cfg.Clone()
		delete(plain.Params, "charset")
		dsn = WithParam(plain.FormatDSN(), "charset="+strings.ReplaceAll(url.QueryEscape(list), "%2C", ","))
	}
	read, err := parseDSN(dsn)
	if err != nil {
		return "", err
	}
	if read.User != cfg.User || read.Passwd != cfg.Passwd || read.Net != cfg.Net || read.Addr != cfg.Addr ||
		read.DBName != cfg.DBName {
		return "", fmt.Errorf("DSN: user %q, address %q and database %q cannot be written as one", cfg.User, cfg.Addr,
			cfg.DBName)
	}
	return read.FormatDSN(), nil
}

func parseDSN(dsn string) (*mysql.Config, error) {
	if err := checkParameters(dsn); err != nil {
		return nil, &Error{Err: fmt.Errorf("TLS: %w", err), hint: tlsHint}
	}
	if regexp.MustCompile(`[?&]strict=`).MatchString(dsn[strings.LastIndexByte(dsn,
		'/')+1:]) { // the driver would panic
		return nil, &Error{Err: errors.New("DSN: the driver has no parameter strict any more"),
			hint: "sql_mode=STRICT_ALL_TABLES does what it did"}
	}
	cfg, err := mysql.ParseDSN(dsn)
	switch {
	case dsn == "":
		err = errors.New("it is empty")
	case isMisplaced(dsn, cfg, err):
		err = errors.New("there is no address such as @tcp(127.0.0.1:3306)/ in it")
	}
	if err != nil {
		return nil, &Error{
			Err:  fmt.Errorf("DSN: %s", strings.TrimPrefix(err.Error(), "invalid DSN: ")),
			hint: "a DSN looks like user:password@tcp(127.0.0.1:3306)/database or user@unix(/run/mysqld/mysqld.sock)/",
		}
	}
	return cfg, nil
}

// isMisplaced reports whether the driver takes parts of a DSN for others, as it does
// where the @ or the last slash is missing: what it says of it, or reads from it as
// network or database, may be the password.
func isMisplaced(dsn string, cfg *mysql.Config, err error) bool {
	last := dsn[strings.LastIndexByte(dsn, '/')+1:]
	if err != nil {
		return strings.HasPrefix(err.Error(), "default addr") || strings.HasPrefix(err.Error(), "invalid dbname") ||
			strings.Contains(last, "@")
	}
	return strings.ContainsAny(cfg.Net, ":@/") || strings.Contains(cfg.DBName, "@tcp(") ||
		strings.Contains(cfg.DBName, "@unix(")
}

// Address returns the network, tcp or unix, and the address that a DSN names; both are
// empty of one that cannot be read.
func Address(dsn string) (network, address string) {
	cfg, err := parseDSN(dsn)
	if err != nil {
		return "", ""
	}
	return cfg.Net, cfg.Addr
}

// HasPassword reports whether a DSN holds a password.
func HasPassword(dsn string) bool {
	cfg, err := parseDSN(dsn)
	return err == nil && cfg.Passwd != ""
}

// Redact returns the DSN with its password replaced by "xxxx". Nothing is
// shown of a DSN that cannot be parsed, for its password cannot be found.
func Redact(dsn string) string {
	cfg, err := parseDSN(dsn)
	if err != nil {
		return "(unreadable DSN)"
	}
	if cfg.Passwd != "" {
		cfg.Passwd = "xxxx"
	}
	return cfg.FormatDSN()
}

// Database returns the default database that a DSN names, empty without one.
func Database(dsn string) string {
	cfg, err := parseDSN(dsn)
	if err != nil {
		return ""
	}
	return cfg.DBName
}

// User returns the user that a DSN names, empty without one.
func User(dsn string) string {
	cfg, err := parseDSN(dsn)
	if err != nil {
		return ""
	}
	return cfg.User
}

// WithParam returns the DSN with one more parameter, such as "parseTime=true". The
// parameters follow the last slash.
func WithParam(dsn, param string) string {
	if strings.Contains(dsn[strings.LastIndexByte(dsn, '/')+1:], "?") {
		return dsn + "&" + param
	}
	return dsn + "?" + param
}

// OpenDSN opens the database of a DSN. It does not connect yet; connecting
// takes at most [DialTimeout] unless the DSN names another timeout, and its
// errors carry a hint. The driver logs nothing: what it would say is in the error.
func OpenDSN(dsn string) (*sql.DB, error) {
	c, err := newConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

func newConnector(dsn string) (*connector, error) {
	cfg, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = DialTimeout
	}
	if err := checkConfig(cfg); err != nil {
		return nil, err
	}
	return &connector{cfg: cfg}, nil
}

// checkConfig finds what the driver would refuse at the first connection.
func checkConfig(cfg *mysql.Config) error {
	if _, err := mysql.NewConnector(cfg); err != nil {
		return fmt.Errorf("DSN: %w", err)
	}
	return nil
}

// describeTarget names the far end as people do: "root@127.0.0.1:3306".
func describeTarget(cfg *mysql.Config) string { return cfg.User + "@" + cfg.Addr }

// A connector explains why a connection could not be made.
type connector struct {
	cfg  *mysql.Config
	long *overlong // nil when answers may be of any length
}

// Connect makes one connection.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	cfg := c.cfg.Clone()
	said := new(causes)
	cfg.Logger = said
	if c.long != nil {
		cfg.DialFunc = c.long.dial
	}
	inner, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("DSN: %w", err)
	}
	// The driver bounds the dialling alone: what listens there may never greet.
	greeted, cancel := context.WithTimeout(ctx, 2*cfg.Timeout)
	defer cancel()
	conn, err := connect(greeted, inner)
	if err == nil {
		return conn, nil
	}
	if cause := said.last(); cause != nil && errors.Is(err, mysql.ErrInvalidConn) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return nil, &Error{Err: fmt.Errorf("connect to %s: %w", describeTarget(cfg), err), hint: hintFor(err)}
}

// connect connects. The driver panics at some answers to a login, such as a public key that is
// none of RSA; database/sql may connect in a goroutine of its own, where no one recovers.
func connect(ctx context.Context, c driver.Connector) (conn driver.Conn, err error) {
	defer func() {
		if r := recover(); r != nil {
			conn, err = nil, fmt.Errorf("%w: %v", errPanic, r)
		}
	}()
	return c.Connect(ctx)
}

var errPanic = errors.New("the driver could not bear the server's answer to the login")

// Driver returns the MySQL driver.
func (c *connector) Driver() driver.Driver {
	if c.long != nil {
		return boundedDriver{long: c.long}
	}
	return mysql.MySQLDriver{}
}

// causes keeps the last error that the driver logged: where it returns
// ErrInvalidConn, the log alone says why.
type causes struct {
	mu  sync.Mutex
	err error
}

// Print is called by the driver.
func (c *causes) Print(v ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range v {
		if err, ok := x.(error); ok {
			c.err = err
		}
	}
}

func (c *causes) last() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// An Error is an error with a hint.
type Error struct {
	Err  error
	hint string
}

// Error returns what is wrong.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns what to do about it; it may be empty.
func (e *Error) Hint() string { return e.hint }

// Explain adds a hint to an error of the server or of the connection that has
// none yet. It returns nil for nil.
func Explain(err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if hint := hintFor(err); hint != "" {
		return &Error{Err: err, hint: hint}
	}
	return err
}

// ErrorNumber returns the number of a server's error, such as 1040, and 0 for
// any other error. After a server's error the connection can still be used;
// after another one, which is the connection's own, it cannot.
func ErrorNumber(err error) int {
	var server *mysql.MySQLError
	if errors.As(err, &server) {
		return int(server.Number)
	}
	return 0
}
