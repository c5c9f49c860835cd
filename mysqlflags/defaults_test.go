package mysqlflags

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestReadDefaults_Files(t *testing.T) {
	f := func(file string, want Defaults) {
		t.Helper()
		path := filepath.Join("testdata", file)
		want.Files = []string{path}
		got, err := ReadDefaults(path)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", file, err, got, want)
		}
	}
	f("debian-mariadb-10.11.cnf", Defaults{Socket: "/run/mysqld/mysqld.sock"})
	f("host-and-socket.cnf", Defaults{Host: "db.example", Port: "3306"})
	f("tricky.cnf", Defaults{User: "", Password: ptr(`sp#am" \x`), Host: "db2", Port: "", Database: "two words"})
}

func TestUnquote(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := unquoteValue(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	f(``, ``)
	f(` a b `, `a b`)
	f("\u3000", "\u3000")
	f(`'it\'s'`, `it's`)
	f(`"open`, `"open`)
	f(`"`, `"`)
	f(`""`, ``)
	f(`"a"b`, `"a"b`)
	f(`"a"b"`, `a"b`)
	f(`'it''s'`, `it''s`)
	f(`"a'`, `"a'`)
	f(`\t\n\r\b\s\\`, "\t\n\r\b \\")
	f(`C:\dir`, `C:\dir`)
	f(`a\`, `a\`)
}

func TestCutComment(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := cutComment(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	f(`a # b`, `a `)
	f(`a\#b`, `a\`)
	f(`"a # b" # c`, `"a # b" `)
	f(`"a\" # b" # c`, `"a\" # b" `)
	f(`it's #1`, `it's #1`)
	f(`it's' #1`, `it's' `)
	f(`'"#"' # c`, `'"#"' `)
	f(`\"#`, `\"#`) // a backslash hides a quote within quotes alone
}

// TestParseOptions_MyPrintDefaults compares the lines of an option file with what the
// servers' own reader makes of them.
func TestParseOptions_MyPrintDefaults(t *testing.T) {
	bin, err := exec.LookPath("my_print_defaults")
	switch {
	case err != nil && testing.Short():
		t.Skip("there is no my_print_defaults here")
	case err != nil:
		t.Fatal(err)
	}
	pieces := []string{"password", "user", "=", "=", " ", "\t", "#", ";", `"`, "'", `\`, `\\`, `\s`, `\t`, `\b`, `\"`, `\'`, `\#`, `\x`, "a", "ä", "[", "]", "[client]", "--", "_", "-"}
	r := rand.New(rand.NewPCG(1, 2))
	var text, want strings.Builder
	text.WriteString("[client]\n")
	for n := range 3000 {
		line := "password="
		for range 1 + r.IntN(8) {
			line += pieces[r.IntN(len(pieces))]
		}
		fmt.Fprintf(&text, "line=%d\n%s\n", n, line)
	}
	for _, o := range ParseOptions([]byte(text.String())) {
		fmt.Fprintf(&want, "--%s=%s\n", o.Name, o.Value)
	}
	out, err := exec.Command(bin, "--defaults-file="+writeFile(t, filepath.Join(t.TempDir(), "my.cnf"), text.String()), "client").Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := strings.Split(string(out), "\n"), strings.Split(want.String(), "\n")
	if len(theirs) != len(ours) {
		t.Fatalf("%d options, they have %d", len(ours), len(theirs))
	}
	for i := range ours {
		if ours[i] != theirs[i] {
			t.Errorf("got %q, they have %q", ours[i], theirs[i])
		}
	}
}

// TestReadDefaults_Loop: what includes itself is read some times, and said; the rest is
// read.
func TestReadDefaults_Loop(t *testing.T) {
	dir := t.TempDir()
	path := writeFile(t, filepath.Join(dir, "my.cnf"), "!include "+dir+"/my.cnf\n[client]\nuser=a\n")
	d, err := ReadDefaults(path)
	if err != nil || d.User != "a" || len(d.Files) != 11 || len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "my.cnf:1: ") || !strings.Contains(d.Notes[0], "more than 10 deep") {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestReadDefaults_Protocol: it says which of host and socket counts.
func TestReadDefaults_Protocol(t *testing.T) {
	f := func(text string, want string) {
		t.Helper()
		d, err := ReadDefaults(writeFile(t, filepath.Join(t.TempDir(), "my.cnf"), "[client]\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.DSN(MyOpts{}, 0); got != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	f("socket=/s\n", "root@unix(/s)/")
	f("socket=/s\nhost=localhost\n", "root@unix(/s)/")
	f("socket=/s\nprotocol=tcp\n", "root@tcp(localhost:3306)/")
	f("socket=/s\nhost=localhost\nprotocol=TCP\n", "root@tcp(localhost:3306)/")
	f("socket=/s\nhost=db\n", "root@tcp(db:3306)/")
	f("socket=/s\nhost=db\nprotocol=socket\n", "root@unix(/s)/")
}

func TestReadDefaults_Include(t *testing.T) {
	dir := t.TempDir()
	main := writeFile(t, filepath.Join(dir, "my.cnf"), "[client]\nuser=a\nhost=h\n!include\t"+dir+"/one.cnf\n!includedir "+dir+"/conf.d/\n[client]\nport=9\n!include\n!unknown x\n")
	one := writeFile(t, filepath.Join(dir, "one.cnf"), "[client]\nuser=b\n")
	second := writeFile(t, filepath.Join(dir, "conf.d/20.cnf"), "[client]\nuser=d\n")
	first := writeFile(t, filepath.Join(dir, "conf.d/10.cnf"), "[client]\nuser=c\nport=1\n")
	writeFile(t, filepath.Join(dir, "conf.d/30.txt"), "[client]\nuser=e\n")
	d, err := ReadDefaults(main)
	want := Defaults{User: "d", Host: "h", Port: "9", Files: []string{main, one, first, second}}
	if err != nil || !reflect.DeepEqual(d, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, d, want)
	}
}

func TestReadDefaults_Failure(t *testing.T) {
	dir := t.TempDir()
	f := func(text, want string) {
		t.Helper()
		path := writeFile(t, filepath.Join(dir, "my.cnf"), strings.ReplaceAll(text, "DIR", dir))
		_, err := ReadDefaults(path)
		if err == nil || !strings.Contains(err.Error(), want) || hintOf(err) == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
	f("\n!includedir DIR/none", "my.cnf:2: include directory")
	f("!include DIR", "it is a directory")
	f(strings.Repeat("#", maxFile+1), "larger than 1 MiB")
	if _, err := ReadDefaults(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestReadDefaults_WorldWritable(t *testing.T) {
	path := writeFile(t, filepath.Join(t.TempDir(), "my.cnf"), "[client]\nuser=a\n")
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := ReadDefaults(path)
	if err != nil || d.User != "" || len(d.Notes) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestReadExisting(t *testing.T) {
	dir := t.TempDir()
	a := writeFile(t, filepath.Join(dir, "a.cnf"), "[client]\nuser=a\nhost=h\n")
	b := writeFile(t, filepath.Join(dir, "b.cnf"), "[client]\nuser=b\n")
	var d Defaults
	if d.readExisting([]string{a, filepath.Join(dir, "none"), b}); d.User != "b" || d.Host != "h" || d.Notes != nil {
		t.Errorf("%+v", d)
	}
	// A later file's port means TCP, though an earlier one names a socket.
	socket := writeFile(t, filepath.Join(dir, "socket.cnf"), "[client]\nport=1\nsocket=/s\n")
	port := writeFile(t, filepath.Join(dir, "port.cnf"), "[client]\nport=2\n")
	d = Defaults{}
	if d.readExisting([]string{socket}); d.Socket != "/s" {
		t.Errorf("%+v", d)
	}
	if d.readExisting([]string{port}); d.Socket != "" || d.Port != "2" {
		t.Errorf("%+v", d)
	}
}

// What a standard file includes and cannot be read is noted, and the rest is read.
func TestReadExisting_Include(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "conf.d/20.cnf"), "[client]\nport=9\n")
	if err := os.Symlink(filepath.Join(dir, "none"), filepath.Join(dir, "conf.d/10.cnf")); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll("[client]\nuser=a\n!include DIR/none\n!includedir DIR/none\n!include DIR\n!includedir DIR/conf.d\n[client]\nhost=h\n", "DIR", dir)
	file := writeFile(t, filepath.Join(dir, "my.cnf"), text)
	var d Defaults
	d.readExisting([]string{dir, file})
	if d.User != "a" || d.Host != "h" || d.Port != "9" || len(d.Notes) != 5 || !strings.HasPrefix(d.Notes[1], file+":3: option file: ") {
		t.Errorf("%+v", d)
	}
	// One that includes itself: what was read counts.
	loop := writeFile(t, filepath.Join(dir, "loop.cnf"), "[client]\nuser=b\n!include "+filepath.Join(dir, "loop.cnf"))
	d = Defaults{}
	if d.readExisting([]string{loop}); d.User != "b" || len(d.Notes) != 1 {
		t.Errorf("%+v", d)
	}
	// A named file goes on without a file that it includes.
	named := writeFile(t, filepath.Join(dir, "named.cnf"), "!include "+dir+"/none\n[client]\nuser=c\n")
	if d, err := ReadDefaults(named); err != nil || d.User != "c" || len(d.Notes) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

// An option file may be a pipe of the shell's <(…), and a device.
func TestReadDefaults_NoPlainFile(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = w.WriteString("[client]\nuser=a\n")
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if d, err := ReadDefaults(fmt.Sprintf("/dev/fd/%d", r.Fd())); err != nil || d.User != "a" {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := ReadDefaults(os.DevNull); err != nil || d.Notes != nil {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := ReadDefaults("/dev/zero"); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Error(err)
	}
}

func TestStandardFiles(t *testing.T) {
	t.Setenv("HOME", "/h")
	t.Setenv("MYSQL_HOME", "/m")
	t.Setenv("MARIADB_HOME", "")
	want := []string{"/etc/my.cnf", "/etc/mysql/my.cnf", "/m/my.cnf", "/h/.my.cnf"}
	if got := StandardFiles(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestParseOptions(t *testing.T) {
	got := ParseOptions([]byte("# x\n!includedir /etc/mysql/conf.d/\n[mysqld]\nslow_query_log_file = \"a b\" # c\nskip-name-resolve\nport=1#2\n[bad\nloose_x=1\n"))
	want := []Option{
		{Directive: "includedir", Line: 2, Value: "/etc/mysql/conf.d/"},
		{Line: 4, Group: "mysqld", Name: "slow-query-log-file", Value: "a b", HasValue: true},
		{Line: 5, Group: "mysqld", Name: "skip-name-resolve"},
		{Line: 6, Group: "mysqld", Name: "port", Value: "1", HasValue: true},
		{Line: 8, Name: "x", Value: "1", HasValue: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func FuzzParseOptions(f *testing.F) {
	files, err := filepath.Glob("testdata/*.cnf")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("!include x\n!includedir\ty\n[a]\r\nb = 'c\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := strings.Split(string(data), "\n")
		for _, o := range ParseOptions(data) {
			if o.Line < 1 || o.Line > len(lines) {
				t.Fatalf("line %d of %d", o.Line, len(lines))
			}
			if len(o.Value) > len(lines[o.Line-1]) {
				t.Fatalf("%q grew out of %q", o.Value, lines[o.Line-1])
			}
			if strings.ContainsAny(o.Name, "_\n") || o.Group != strings.ToLower(o.Group) {
				t.Fatalf("%+v", o)
			}
		}
	})
}
