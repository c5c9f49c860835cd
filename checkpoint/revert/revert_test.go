package revert

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
)

// tree makes files below a root and captures them.
func tree(t *testing.T, files map[string]string) (root string, taken *capture.Taken) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return root, take(t, root)
}

func take(t *testing.T, root string) *capture.Taken {
	t.Helper()
	return capture.Take(t.Context(), capture.Options{Root: root, Host: "web1", Files: []string{"/etc/*.conf", "/etc/*.env"}})
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, root, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func run(taken *capture.Taken) *kasoku.Recording {
	return &kasoku.Recording{Run: kasoku.Run{ID: "then"}, Configs: taken.Configs}
}

func options(root string) Options {
	return Options{Root: root, Host: "web1", Globs: []string{"/etc/*.conf", "/etc/*.env"}}
}

// failed lists what could not be put back.
func failed(outcomes []Outcome) (out []string) {
	for _, o := range outcomes {
		if o.Err != nil {
			out = append(out, o.What+": "+o.Err.Error())
		}
	}
	return out
}

func TestPutBack(t *testing.T) {
	root, then := tree(t, map[string]string{
		"/etc/app.conf":  "workers = 1\n[db]\npassword = first\npool = 2\n",
		"/etc/same.conf": "same\n",
		"/etc/gone.env":  "MODE=fast\n",
	})
	// The password has changed, too: the new one stays.
	write(t, root, "/etc/app.conf", "workers = 8\n[db]\npassword = second\npool = 2\nextra = 1\n")
	if err := os.Chmod(filepath.Join(root, "/etc/app.conf"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, "/etc/gone.env")); err != nil {
		t.Fatal(err)
	}
	write(t, root, "/etc/new.conf", "new\n")
	p := Make(run(then), take(t, root), options(root))
	var got []string
	for _, f := range p.Files {
		got = append(got, f.Path+" "+f.Refused)
		if strings.Contains(f.Diff, "first") || strings.Contains(f.Diff, "second") {
			t.Errorf("the diff shows a secret:\n%s", f.Diff)
		}
	}
	if want := []string{"/etc/app.conf ", "/etc/gone.env "}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	if want := []string{"/etc/new.conf is new since that run; it is not removed"}; !slices.Equal(p.Notes, want) {
		t.Errorf("notes %q, want %q", p.Notes, want)
	}
	if f := failed(p.Apply(t.Context(), nil)); f != nil {
		t.Errorf("failed: %q", f)
	}
	if got := read(t, root, "/etc/app.conf"); got != "workers = 1\n[db]\npassword = second\npool = 2\n" {
		t.Errorf("app.conf is %q", got)
	}
	if got := read(t, root, "/etc/gone.env"); got != "MODE=fast\n" {
		t.Errorf("gone.env is %q", got)
	}
	if st, err := os.Stat(filepath.Join(root, "/etc/app.conf")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v: want that of the present file", st.Mode(), err)
	}
	if again := Make(run(then), take(t, root), options(root)); !again.Empty() {
		t.Errorf("still differs: %+v", again.Files)
	}
	if left, _ := filepath.Glob(filepath.Join(root, "etc", ".*")); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

// A run file does not decide what is written.
func TestRefused(t *testing.T) {
	root, _ := tree(t, map[string]string{"/etc/app.conf": "a\n", "/root/.ssh/authorized_keys": "mine\n"})
	config := func(kind, name, text string) kasoku.Config {
		return kasoku.Config{Host: "web1", Kind: kind, Name: name, Text: text, Mode: 0o644}
	}
	foreign := config("file", "/etc/other.conf", "x\n")
	foreign.Host = "db1"
	printed := config("nginx", "/etc/printed.conf", "x\n")
	printed.Mode = 0
	hostile := &kasoku.Recording{Configs: []kasoku.Config{
		config("file", "/root/.ssh/authorized_keys", "theirs\n"),
		config("file", "/etc/../root/.ssh/authorized_keys", "theirs\n"),
		config("file", "/etc/app.conf", "b\n"), config("file", "/etc/empty.conf", ""),
		config("git", "/etc/app.conf", "c\n"), config("file", "relative", "d\n"), foreign, printed,
	}}
	now := take(t, root)
	p := Make(hostile, now, options(root))
	outcomes := p.Apply(t.Context(), nil)
	want := []string{
		"/root/.ssh/authorized_keys: nothing here names it: --only /root/.ssh/authorized_keys allows it to be written",
		`/etc/../root/.ssh/authorized_keys: "/etc/../root/.ssh/authorized_keys" is no plain path`,
	}
	if got := failed(outcomes); !slices.Equal(got, want) || p.Refused() != 2 {
		t.Errorf("refused %q, want %q", got, want)
	}
	if read(t, root, "/root/.ssh/authorized_keys") != "mine\n" || read(t, root, "/etc/app.conf") != "b\n" {
		t.Error("a file that is not named was written, or one that is was not")
	}
	if len(p.Notes) != 3 {
		t.Errorf("notes %q", p.Notes)
	}
	o := options(root)
	o.Only = []string{"/root/.ssh/authorized_keys"}
	p = Make(hostile, now, o)
	if len(p.Files) != 1 || p.Files[0].Refused != "" {
		t.Errorf("named by the caller: %+v", p.Files)
	}
}

func TestChangedMeanwhile(t *testing.T) {
	root, then := tree(t, map[string]string{"/etc/a.conf": "a\n", "/etc/b.conf": "a\n"})
	write(t, root, "/etc/a.conf", "b\n")
	write(t, root, "/etc/b.conf", "b\n")
	p := Make(run(then), take(t, root), options(root))
	write(t, root, "/etc/a.conf", "c\n")
	if got, want := failed(p.Apply(t.Context(), nil)), []string{"/etc/a.conf: it has changed meanwhile"}; !slices.Equal(got, want) {
		t.Errorf("failed %q, want %q", got, want)
	}
	if read(t, root, "/etc/a.conf") != "c\n" || read(t, root, "/etc/b.conf") != "a\n" {
		t.Error("the wrong file was written")
	}
}

// A link stays one: what it points to is written.
func TestLink(t *testing.T) {
	root, _ := tree(t, map[string]string{"/etc/available/site": "a\n"})
	if err := os.Symlink("available/site", filepath.Join(root, "/etc/site.conf")); err != nil {
		t.Fatal(err)
	}
	then := take(t, root)
	write(t, root, "/etc/available/site", "b\n")
	if f := failed(Make(run(then), take(t, root), options(root)).Apply(t.Context(), nil)); f != nil {
		t.Errorf("failed: %q", f)
	}
	if st, err := os.Lstat(filepath.Join(root, "/etc/site.conf")); err != nil || st.Mode()&os.ModeSymlink == 0 || read(t, root, "/etc/available/site") != "a\n" {
		t.Errorf("%v %v, target %q", st.Mode(), err, read(t, root, "/etc/available/site"))
	}
}

func TestFill(t *testing.T) {
	const m = kasoku.MaskedSecret
	for _, x := range []struct{ recorded, present, want, refused string }{
		{"a = 1\npassword = " + m + "\n", "password = x\n", "a = 1\npassword = x\n", ""},
		{"password = " + m + "\n[b]\npassword = " + m + "\n", "password = x\n[c]\npassword = y\n", "password = x\n[b]\npassword = y\n", ""},
		{"password = " + m + "\n", "password = x\npassword = x\n", "password = x\n", ""},
		{"password = " + m + "\n", "password = x\npassword = y\n", "", "line 1 holds a secret that the run does not know, and the present file has 2 such lines: password = " + m},
		{"b\ntoken = " + m + "\n", "password = x\n", "", "line 2 holds a secret that the run does not know, and the present file has no such line: token = " + m},
		{"none\n", "password = x\n", "none\n", ""},
		{"password = " + m, "password = x\n", "password = x", ""},
	} {
		got, err := fill(capture.KindFile, x.recorded, x.present)
		switch {
		case x.refused != "" && (err == nil || err.Error() != x.refused):
			t.Errorf("fill(%q): %v, want %q", x.recorded, err, x.refused)
		case x.refused == "" && (err != nil || got != x.want):
			t.Errorf("fill(%q) is %q, %v; want %q", x.recorded, got, err, x.want)
		}
	}
}

// Whatever lines a file has and whatever is done to the others, its secrets come back.
func TestFillProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"port = 1", "password = s3cret", "api_key: \"k k\"", "url = redis://:pw@h/0", "", "# x"})
		then := strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "then"), "\n") + "\n"
		added := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"port = 2", "y"}), 0, 3).Draw(t, "added"), "\n")
		masked, _ := capture.Mask(capture.KindFile, then)
		got, err := fill(capture.KindFile, masked, added+"\n"+then)
		if err != nil || got != then {
			t.Fatalf("filled %q, %v; want %q", got, err, then)
		}
	})
}

const users = "CREATE TABLE `users` (\n  `id` int NOT NULL,\n  `mail` text,\n  PRIMARY KEY (`id`)%s\n) ENGINE=InnoDB\n"

func table(keys string) kasoku.Config {
	return kasoku.Config{Kind: capture.KindSchema, Name: "shop.users", Text: strings.Replace(users, "%s", keys, 1)}
}

func TestIndexes(t *testing.T) {
	then := []kasoku.Config{table(",\n  KEY `a` (`mail`(10)),\n  UNIQUE KEY `b` (`id`,`mail`),\n  KEY `odd` (`id`) WHATEVER"),
		{Kind: capture.KindSchema, Name: "shop.gone", Text: strings.Replace(users, "%s", "", 1)}}
	now := &capture.Taken{Configs: []kasoku.Config{table(",\n  KEY `b` (`id`),\n  KEY `c``d` (`id`)")}}
	now.Configs[0].Text = strings.Replace(now.Configs[0].Text, "`mail` text", "`mail` longtext", 1)
	p := Make(&kasoku.Recording{Configs: then}, now, Options{})
	var got []string
	for _, i := range p.Indexes {
		got = append(got, i.Statement+" "+i.Refused)
	}
	want := []string{
		"ALTER TABLE `shop`.`users` ADD KEY `a` (`mail`(10)) ",
		"ALTER TABLE `shop`.`users` DROP INDEX `b`, ADD UNIQUE KEY `b` (`id`,`mail`) ",
		"ALTER TABLE `shop`.`users` DROP INDEX `c``d` ",
		"ALTER TABLE `shop`.`users` ADD KEY `odd` (`id`) WHATEVER its definition has parts that kasoku does not know",
	}
	if !slices.Equal(got, want) {
		t.Errorf("statements %q, want %q", got, want)
	}
	if want := []string{"table shop.users differs in more than its indexes; columns and options are left as they are", "table shop.gone is gone; it is not made again"}; !slices.Equal(p.Notes, want) {
		t.Errorf("notes %q, want %q", p.Notes, want)
	}
	if p := Make(&kasoku.Recording{Configs: then}, &capture.Taken{}, Options{}); len(p.Indexes) != 0 || len(p.Notes) != 1 {
		t.Errorf("without a database: %+v", p)
	}
	if got := failed(p.Apply(t.Context(), nil)); len(got) != 4 {
		t.Errorf("applied without a database: %q", got)
	}
}

func TestReload(t *testing.T) {
	p := Plan{Files: []File{{Kind: "nginx", Path: "/etc/nginx/nginx.conf"}, {Kind: "nginx", Path: "/etc/nginx/a.conf"}, {Kind: "mysql", Path: "/etc/my.cnf"},
		{Kind: "unit", Path: "/etc/systemd/system/app.service.d/limits.conf"}, {Kind: "vcl", Path: "/etc/x.vcl", Refused: "no"}}}
	want := []string{"nginx -t && nginx -s reload", "systemctl restart mariadb", "systemctl daemon-reload && systemctl restart app.service"}
	if got := p.Reload("10.11.14-MariaDB"); !slices.Equal(got, want) {
		t.Errorf("reload %q, want %q", got, want)
	}
	own := Plan{Files: []File{{Kind: "nginx", Path: "/home/isucon/nginx.conf"}}}
	if got := own.Reload(""); len(got) != 1 || !strings.Contains(got[0], "/home/isucon/nginx.conf") || strings.Contains(got[0], "&&") {
		t.Errorf("an nginx of one's own: %q", got)
	}
}

// TestPlaces: a file is put back where this machine has it, and nowhere else.
func TestPlaces(t *testing.T) {
	f := func(name, want string, set func(dir, path string, f *File)) {
		t.Helper()
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		sub := filepath.Join(dir, "etc")
		path := filepath.Join(sub, "app.conf")
		file := &File{Path: "/etc/app.conf", target: path, old: "old", now: "new", exists: true, mode: 0o4777}
		if err := errors.Join(os.Mkdir(sub, 0o755), os.WriteFile(path, []byte("old"), 0o640),
			os.WriteFile(dir+"/victim", []byte("old"), 0o600)); err != nil {
			t.Fatal(err)
		}
		set(dir, path, file)
		err = file.write()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if b, _ := os.ReadFile(dir + "/victim"); string(b) != "old" {
			t.Errorf("%s: the victim has %q", name, b)
		}
		if st, err := os.Stat(path); want == "" &&
			(err != nil || st.Mode()&^0o755 != 0 || file.exists && st.Mode() != 0o640) {
			t.Errorf("%s: mode %v, %v", name, st.Mode(), err)
		}
		if left, _ := filepath.Glob(sub + "/.*"); len(left) != 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	f("keeps mode", "", func(string, string, *File) {})
	f("left by a killed one", "", func(dir, path string, _ *File) {
		left := fmt.Sprintf("%s/etc/.app.conf.kasoku-", dir)
		must(os.WriteFile(left+"4194304", []byte("half"), 0o600), os.WriteFile(left+strconv.Itoa(os.Getpid()), nil, 0o600))
	})
	f("new", "", func(_, path string, f *File) { must(os.Remove(path)); f.exists, f.mode = false, 0o6777 })
	f("link", "symbolic links", func(dir, path string, _ *File) { must(os.Remove(path), os.Symlink(dir+"/victim", path)) })
	f("hard link", "second name", func(dir, path string, _ *File) { must(os.Remove(path), os.Link(dir+"/victim", path)) })
	f("link to nothing", "made meanwhile", func(dir, path string, f *File) {
		must(os.Remove(path), os.Symlink(dir+"/none", path))
		f.exists = false
	})
	f("directory becomes a link", "symbolic links", func(dir, _ string, _ *File) {
		must(os.Rename(dir+"/etc", dir+"/real"), os.Symlink(dir+"/real", dir+"/etc"))
	})
	f("open to all", "others may write", func(dir, _ string, _ *File) { must(os.Chmod(dir+"/etc", 0o777)) })
	f("pipe", "no regular file", func(_, path string, _ *File) { must(os.Remove(path), syscall.Mkfifo(path, 0o600)) })
	if os.Geteuid() == 0 {
		f("of another user", "another user's", func(dir, _ string, _ *File) { must(os.Chown(dir+"/etc", 4711, 4711)) })
		f("of a group", "a group may write", func(dir, _ string, _ *File) {
			must(os.Chown(dir+"/etc", 0, 4711), os.Chmod(dir+"/etc", 0o775))
		})
	}
}
