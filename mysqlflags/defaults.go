package mysqlflags

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxInclude is how deep option files may include each other; MySQL's own limit.
const maxInclude = 10

// maxFile is the size above which a file is no option file.
const maxFile = 1 << 20

// Defaults is what option files say about connecting. Empty fields were not given.
type Defaults struct {
	User     string
	Password *string // nil when none is given; it may be given as empty
	Host     string
	Port     string
	Socket   string
	Protocol string // TCP or SOCKET, in any case: which of host and socket counts
	Database string
	TLS      TLS
	Files    []string // that were read, in that order
	Notes    []string // files that were left out, and why
}

// clientGroup reports whether clients read a section; the last three are MariaDB's.
func clientGroup(name string) bool {
	switch name {
	case "client", "mysql", "client-mariadb", "client-server", "mariadb-client":
		return true
	}
	return false
}

// StandardFiles lists where MySQL's and MariaDB's clients on Debian look for
// options, in order; later files win.
func StandardFiles() []string {
	files := []string{"/etc/my.cnf", "/etc/mysql/my.cnf"}
	for _, dir := range []string{os.Getenv("MYSQL_HOME"), os.Getenv("MARIADB_HOME")} {
		if dir != "" {
			files = append(files, filepath.Join(dir, "my.cnf"))
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".my.cnf"))
	}
	return files
}

// ReadDefaults reads one option file with what it includes or, for an empty
// path, all of [StandardFiles] that exist and may be read. A named file that
// cannot be read is an error; one that it includes and that is missing is a note,
// for MySQL's clients go on without it. Whatever cannot be read of the standard
// files is a note.
func ReadDefaults(path string) (Defaults, error) {
	var d Defaults
	if path != "" {
		err := d.read(path, place{})
		if err != nil {
			err = &Error{Err: err, hint: "an option file has a section [client] with user=, password=, host=, port= or socket="}
		}
		return d.settle(), err
	}
	d.readExisting(StandardFiles())
	return d, nil
}

// ReadDSN returns the address of the server that an option file names, and the notes
// of its [Defaults]: what was left out of the file may have named another server.
func ReadDSN(path string) (dsn string, notes []string, err error) {
	d, err := ReadDefaults(path)
	if err != nil {
		return "", d.Notes, err
	}
	dsn, err = d.DSN(MyOpts{}, 0)
	return dsn, d.Notes, err
}

// readExisting adds what those of the files say that exist and may be read.
func (d *Defaults) readExisting(files []string) {
	for _, file := range files {
		var one Defaults
		err := one.read(file, place{standard: true})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			one.Notes = append(one.Notes, err.Error())
		}
		*d = d.override(one.settle())
	}
}

// A place is where a file is named.
type place struct {
	from     string // file:line that includes it, empty for the first one
	depth    int    // of including
	standard bool   // the first one is a standard file
}

// read adds what a file says.
func (d *Defaults) read(path string, p place) error {
	if p.depth > maxInclude {
		d.Notes = append(d.Notes, fmt.Sprintf("%s: option file %s: left out, included more than %d deep", p.from, path,
			maxInclude))
		return nil
	}
	data, writable, err := readFile(path)
	switch {
	case err != nil && p.from != "" && (p.standard || errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, fs.ErrPermission)):
		d.Notes = append(d.Notes, fmt.Sprintf("%s: %v", p.from, err))
		return nil
	case err != nil:
		return err
	case writable:
		// MySQL and MariaDB do the same.
		d.Notes = append(d.Notes, fmt.Sprintf("option file %s: ignored, everybody may write to it; chmod o-w", path))
		return nil
	}
	d.Files = append(d.Files, path)
	for _, o := range ParseOptions(data) {
		next := place{fmt.Sprintf("%s:%d", path, o.Line), p.depth + 1, p.standard}
		switch o.Directive {
		case "include":
			err = d.read(o.Value, next)
		case "includedir":
			err = d.readDir(o.Value, next)
		default:
			d.set(o)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", next.from, err)
		}
	}
	return nil
}

// readFile returns the text of an option file, a pipe or a device among them, or
// that it is a plain file to which everybody may write.
func readFile(path string) (data []byte, writable bool, err error) {
	f, err := openFile(path)
	if err != nil {
		return nil, false, fmt.Errorf("option file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, fmt.Errorf("option file: %w", err)
	}
	if info.IsDir() {
		return nil, false, fmt.Errorf("option file %s: it is a directory", path)
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o002 != 0 {
		return nil, true, nil
	}
	data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, false, fmt.Errorf("option file: %w", err)
	}
	if len(data) > maxFile {
		return nil, false, fmt.Errorf("option file %s: larger than 1 MiB", path)
	}
	return data, false, nil
}

// How long a writer of a pipe is waited for, and what it writes. One of a shell's
// process substitution is there at once, and may ask for a password.
const (
	writerWithin = time.Second
	pipeWithin   = time.Minute
)

// openFile opens a file; a pipe that has no writer does not hang it.
func openFile(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return os.Open(path)
	}
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(path)
		done <- opened{f, err}
	}()
	limit := time.NewTimer(writerWithin)
	defer limit.Stop()
	select {
	case o := <-done:
		if o.err == nil {
			_ = o.f.SetReadDeadline(time.Now().Add(pipeWithin)) // a system without them waits
		}
		return o.f, o.err
	case <-limit.C:
		go func() {
			if o := <-done; o.err == nil {
				_ = o.f.Close() // it came too late
			}
		}()
		return nil, fmt.Errorf("open %s: a pipe that no program writes to", path)
	}
}

// readDir reads the *.cnf files of a directory in the order of their names.
func (d *Defaults) readDir(dir string, p place) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		err = fmt.Errorf("include directory: %w", err)
		if p.standard {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: %v", p.from, err))
			return nil
		}
		return err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".cnf" || e.IsDir() {
			continue
		}
		if err := d.read(filepath.Join(dir, e.Name()), p); err != nil {
			return err
		}
	}
	return nil
}

func (d *Defaults) set(o Option) {
	if !clientGroup(o.Group) {
		return
	}
	switch o.Name {
	case "user":
		d.User = o.Value
	case "password":
		if o.HasValue {
			d.Password = &o.Value
		}
	case "host":
		d.Host = o.Value
	case "port":
		d.Port = o.Value
	case "socket":
		d.Socket = o.Value
	case "protocol":
		d.Protocol = o.Value
	case "database":
		d.Database = o.Value
	default:
		d.TLS.set(o)
	}
}

// settle resolves what one file says as the servers' own clients do: a host
// other than localhost is reached by TCP, whatever socket is named beside it, unless
// the protocol is named too.
func (d Defaults) settle() Defaults {
	far := d.Host != "" && d.Host != "localhost"
	if strings.EqualFold(d.Protocol, "tcp") || far && !strings.EqualFold(d.Protocol, "socket") {
		d.Socket = ""
	}
	return d
}

// override returns d with what top says in its place. A host or port on top
// means TCP, whatever socket lies below, and so does the protocol of that name;
// localhost alone does not.
func (d Defaults) override(top Defaults) Defaults {
	if (top.Host != "" && top.Host != "localhost") || top.Port != "" || strings.EqualFold(top.Protocol, "tcp") {
		d.Socket = ""
	}
	for _, f := range []struct {
		to   *string
		from string
	}{{&d.User, top.User}, {&d.Host, top.Host}, {&d.Port, top.Port}, {&d.Socket, top.Socket},
		{&d.Protocol, top.Protocol}, {&d.Database, top.Database}} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	if top.Password != nil {
		d.Password = top.Password
	}
	d.TLS = d.TLS.override(top.TLS)
	d.Files = append(append([]string(nil), d.Files...), top.Files...)
	d.Notes = append(append([]string(nil), d.Notes...), top.Notes...)
	return d
}

// An Option is one line of an option file that says something.
type Option struct {
	Directive string // "include" or "includedir", with the path as Value; empty for an option
	Line      int    // from 1
	Group     string // the section, lower case
	Name      string // as [OptionName] writes it
	Value     string // unquoted
	HasValue  bool   // there was a =
}

// ParseOptions reads the text of an option file. Lines that say nothing it
// knows are left out, as the servers' own clients do.
//
// Source: MySQL 9.7 manual, "Using Option Files".
func ParseOptions(data []byte) []Option {
	var out []Option
	group := ""
	for i, raw := range bytes.Split(data, []byte("\n")) {
		line := strings.Trim(string(raw), space)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			name, _, closed := strings.Cut(line[1:], "]")
			if !closed {
				name = "" // no section's name; what follows belongs to none
			}
			group = strings.ToLower(strings.TrimSpace(name))
		case line[0] == '!':
			word := strings.Fields(line + " x")[0][1:]
			path := strings.TrimSpace(line[1+len(word):])
			if path != "" && (word == "include" || word == "includedir") {
				out = append(out, Option{Directive: word, Line: i + 1, Value: path})
			}
		default:
			name, value, has := strings.Cut(cutComment(line), "=")
			out = append(out, Option{Line: i + 1, Group: group, Name: OptionName(name), Value: unquoteValue(value),
				HasValue: has})
		}
	}
	return out
}

// OptionName writes the name of an option in one way: with - for _ and without
// loose-.
func OptionName(name string) string {
	return strings.TrimPrefix(strings.ReplaceAll(strings.Trim(name, space), "_", "-"), "loose-")
}

// space is what the servers' clients trim.
const space = " \t\r\n\v\f"

// cutComment removes the comment of a line: what follows a # that no quote hides. A
// quote may open and close anywhere in the line; within quotes a backslash hides the
// next one.
func cutComment(s string) string {
	quote, escaped := byte(0), false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case (c == '"' || c == '\'') && !escaped:
			switch quote {
			case 0:
				quote = c
			case c:
				quote = 0
			}
		case c == '#' && quote == 0:
			return s[:i]
		}
		escaped = quote != 0 && c == '\\' && !escaped
	}
	return s
}

// unquoteValue returns the value of an option, without the quotes that it begins and ends
// with, and with the escapes \b \t \n \r \\ \s \" \' resolved.
func unquoteValue(s string) string {
	s = strings.Trim(s, space)
	if last := len(s) - 1; last > 0 && (s[0] == '"' || s[0] == '\'') && s[0] == s[last] {
		s = s[1:last]
	}
	return unescapeValue(s)
}

// unescapeValue resolves the escapes of an option value; others stay as they are.
func unescapeValue(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	const letters, meanings = `btnrs\"'`, "\b\t\n\r \\\"'"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if k := strings.IndexByte(letters, s[i+1]); k >= 0 {
				b.WriteByte(meanings[k])
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
