package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
)

func configured(note string, configs ...kasoku.Config) *kasoku.Recording {
	return &kasoku.Recording{Run: kasoku.Run{Note: note}, Configs: configs}
}

func config(kind, name, text string) kasoku.Config {
	return kasoku.Config{Host: "web1", Kind: kind, Name: name, Text: text}
}

const users = "CREATE TABLE `users` (\n  `id` int(11) NOT NULL,\n  `mail` varchar(255) DEFAULT NULL,\n  PRIMARY KEY (`id`)%s\n) ENGINE=InnoDB\n"

func usersTable(keys string) string { return strings.Replace(users, "%s", keys, 1) }

func TestDiffConfigs(t *testing.T) {
	before := configured("",
		config("nginx", "/etc/nginx/nginx.conf", "worker_processes 1;\n"),
		config("nginx", "/etc/nginx/old.conf", "a;\n"),
		config("file", "/etc/same.conf", "same\n"),
		config("vcl", "/etc/varnish/default.vcl", "only here\n"),
		config("schema", "shop.users", usersTable("")),
	)
	after := configured("",
		config("nginx", "/etc/nginx/nginx.conf", "worker_processes 2;\ngzip on;\n"),
		config("nginx", "/etc/nginx/new.conf", "b;\nc;\n"),
		config("file", "/etc/same.conf", "same\n"),
		config("schema", "shop.users", usersTable(",\n  KEY `idx_mail` (`mail`)")),
	)
	var got []string
	for _, d := range DiffConfigs(before, after) {
		got = append(got, d.Kind+" "+d.Name+": "+d.String())
	}
	want := []string{
		"nginx /etc/nginx/new.conf: new",
		"nginx /etc/nginx/nginx.conf: +2 −1",
		"nginx /etc/nginx/old.conf: gone",
		"schema shop.users: index idx_mail added, +2 −1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("differences %q, want %q", got, want)
	}
	if d := DiffConfigs(before, after)[1].Diff; d != "@@ -1,1 +1,2 @@\n-worker_processes 1;\n+worker_processes 2;\n+gzip on;\n" {
		t.Errorf("diff %q", d)
	}
}

// Texts that were dropped or not kept are not taken for empty ones.
func TestDiffConfigsWithoutTexts(t *testing.T) {
	before := configured("", config("file", "/a", "x\n"))
	dropped := config("file", "/a", "")
	dropped.Note = kasoku.ScrubbedNote
	if got := DiffConfigs(before, configured("", dropped)); len(got) != 0 {
		t.Errorf("a scrubbed run differs: %v", got)
	}
	large := config("file", "/a", "")
	large.Note = "larger than 1 MiB"
	got := DiffConfigs(before, configured("", large, config("file", "/b", "y")))
	if len(got) != 2 || got[0].Diff != "" || got[0].String() != "changed" {
		t.Errorf("differences %+v", got)
	}
}

func TestDiffIsBounded(t *testing.T) {
	got := DiffConfigs(configured("", config("file", "/a", "x\n")), configured("", config("file", "/a", strings.Repeat("y\n", 5000))))
	if n := strings.Count(got[0].Diff, "\n"); n != mostDiff || got[0].Added != 5000 || got[0].Left != 5003-mostDiff {
		t.Errorf("%d lines, %d added, %d left out", n, got[0].Added, got[0].Left)
	}
}

func TestUnmentioned(t *testing.T) {
	changes := []Changed{
		{SettingChanged, "max_connections", "151", "500"},
		{SettingChanged, "innodb_buffer_pool_size", "134217728", "2147483648"},
		{SettingChanged, "net.core.somaxconn", "128", "4096"},
		{SettingChanged, "pool.max_idle", "2", "100"},
		{ConfigChange, "/etc/nginx/nginx.conf", "", ""},
		{SchemaChange, "shop.users", "", ""},
		{SchemaChange, "shop.posts", "", ""},
		{CodeChange, "", "main@4f2c91e", "main@9b07d3a"},
		{HostChange, "", "a", "b"},
	}
	before := configured("", config("nginx", "/etc/nginx/nginx.conf", "a;\n"), config("schema", "shop.users", usersTable("")), config("schema", "shop.posts", usersTable("")),
		config("git", "HEAD", "commit 4f2c\nsubject first\n"))
	after := configured("", config("nginx", "/etc/nginx/nginx.conf", "a;\nkeepalive 64;\n"), config("schema", "shop.users", usersTable(",\n  KEY `idx_mail` (`mail`)")),
		config("schema", "shop.posts", usersTable(",\n  KEY `idx_author` (`mail`)")), config("git", "HEAD", "commit 9b07\nsubject render the timeline once\n"))
	configs := DiffConfigs(before, after)
	const (
		conns = "max_connections 151 → 500"
		pool  = "innodb_buffer_pool_size 134217728 → 2147483648"
		back  = "net.core.somaxconn 128 → 4096"
		idle  = "pool.max_idle 2 → 100"
		nginx = "/etc/nginx/nginx.conf (+1 −0)"
		mail  = "index shop.users.idx_mail added"
		posts = "index shop.posts.idx_author added"
		code  = "code main@4f2c91e → main@9b07d3a"
	)
	for note, want := range map[string][]string{
		"": {conns, pool, back, idle, nginx, mail, posts, code},
		"max_connections 500, buffer pool 2 GB, somaxconn, pool of 100, upstream keepalive, indexes, timeline rewritten": nil,
		"raise max connections":       {pool, back, idle, nginx, mail, posts, code},
		"index on users":              {conns, pool, back, idle, nginx, posts, code},
		"added indexes":               {conns, pool, back, idle, nginx, code},
		"nginx.conf; kernel; 9b07d3a": {conns, pool, idle, mail, posts},
		"the timeline":                {conns, pool, back, idle, nginx, mail, posts},
	} {
		if got := Unmentioned(note, changes, configs); !slices.Equal(got, want) {
			t.Errorf("not in %q: %q, want %q", note, got, want)
		}
	}
}

func TestUnmentionedWarning(t *testing.T) {
	c := &Comparison{Changes: []Changed{{SettingChanged, "max_connections", "151", "500"}}}
	c.warnUnmentioned([]*kasoku.Recording{configured("buffer pool"), configured("buffer pool")})
	c.warnUnmentioned([]*kasoku.Recording{configured("")})
	c.warnUnmentioned([]*kasoku.Recording{configured("max_connections 500")})
	want := []string{"changed, and not in the note: max_connections 151 → 500", "the note says nothing; these changed: max_connections 151 → 500"}
	var got []string
	for _, w := range c.Warnings {
		got = append(got, w.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}
