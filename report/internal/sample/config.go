package sample

import (
	"strings"

	"github.com/kasoku/kasoku"
)

// Configured returns two runs with nothing but the configuration that they were kept
// with, hostile lines in it.
func Configured() (before, after *kasoku.Recording) {
	const nginx = "worker_processes 1;\nevents {}\nhttp {\n\tserver {\n\t\tproxy_set_header Authorization \"‹masked›\";\n\t}\n}\n"
	const users = "CREATE TABLE `users` (\n  `id` int(11) NOT NULL,\n  `mail` varchar(255) DEFAULT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB\n"
	make := func(label, note string, configs ...kasoku.Config) *kasoku.Recording {
		r := &kasoku.Recording{Configs: configs}
		r.Run = kasoku.Run{
			ID: "20261120-140211-" + label, Project: "shop", Label: label, Note: note, Started: Started,
			Length: Length, State: kasoku.Finished,
			Version: "0.3.0", Hosts: []kasoku.Host{{Name: "web1", Cores: 2, MemoryBytes: 4 << 30}},
		}
		r.Settings = []kasoku.Setting{{Host: "web1", Scope: "sysctl", Name: "net.core.somaxconn", Value: "4096"}}
		return r
	}
	file := func(kind, name, text string, masked int) kasoku.Config {
		c := kasoku.Config{Host: "web1", Kind: kind, Name: name, Text: text, Masked: masked}
		if kind != "schema" {
			c.Mode = 0o644
		}
		return c
	}
	large := file("file", "/srv/app/large.json", "", 0)
	large.Note = "larger than 1.00 MiB"
	before = make("before", "",
		file("file", "/srv/app/env", "MODE=a\n", 0), large,
		file("nginx", "/etc/nginx/nginx.conf", nginx, 1),
		file("schema", "shop.users", users, 0))
	after = make("after", "index on users.mail",
		file("file", "/srv/app/env", "MODE=b # \x1b[31m</pre><script>alert(1)</script> ```\n", 0),
		file("file", "/srv/app/large.json", "{}\n", 0),
		file("nginx", "/etc/nginx/nginx.conf", strings.Replace(nginx, "worker_processes 1;", "worker_processes auto;",
			1)+"# end\n", 1),
		file("schema", "shop.users", strings.Replace(users, "(`id`)\n", "(`id`),\n  KEY `idx_mail` (`mail`)\n", 1), 0))
	return before, after
}
