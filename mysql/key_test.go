package mysql

import (
	"slices"
	"strings"
	"testing"
)

const usersTable = "CREATE TABLE `users` (\n" +
	"  `id` int(11) NOT NULL AUTO_INCREMENT,\n" +
	"  `mail` varchar(255) DEFAULT NULL COMMENT 'KEY `x`, AUTO_INCREMENT=7',\n" +
	"  PRIMARY KEY (`id`),\n" +
	"  UNIQUE KEY `mail` (`mail`(20) DESC,`id`) USING BTREE COMMENT 'one, two',\n" +
	"  KEY `low``er` ((lower(`mail`))) /*!80000 INVISIBLE */,\n" +
	"  FULLTEXT KEY `body` (`mail`),\n" +
	"  KEY `odd` (`id`) WITH SOMETHING,\n" +
	"  CONSTRAINT `fk` FOREIGN KEY (`id`) REFERENCES `b` (`id`)\n" +
	") ENGINE=InnoDB AUTO_INCREMENT=4711 DEFAULT CHARSET=utf8mb4 COMMENT='AUTO_INCREMENT=3'"

func TestParseKeys(t *testing.T) {
	var got []string
	for _, k := range ParseKeys(usersTable) {
		sound := "sound"
		if !k.Sound {
			sound = "odd"
		}
		got = append(got, strings.Join([]string{k.Kind, k.Name, strings.Join(k.Columns, "+"), sound}, " "))
	}
	want := []string{"PRIMARY PRIMARY id sound", "UNIQUE mail mail+id sound", " low`er  sound", "FULLTEXT body mail sound", " odd id odd"}
	if !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
}

// What comes from a file must not smuggle anything into ALTER TABLE.
func TestParseKeysUnsound(t *testing.T) {
	for _, text := range []string{
		"KEY `a` (`b`), DROP COLUMN `c`",
		"KEY `a` (`b`) COMMENT 'x', DROP COLUMN `c`",
		"KEY `a` (`b`) COMMENT 'x\\', DROP COLUMN `c`, COMMENT 'y'",
		"KEY `a` ((1)), DROP COLUMN `c`, ADD KEY `d` ((1))",
		"KEY `a` (('x\\'),(1), DROP COLUMN `c`, ADD KEY `d` (('y')))",
		"KEY `a` ((1 /* ) */ + 1))",
		"KEY `a` ((1 -- )\n))",
		"KEY `a` ((1 # )\n))",
		"KEY `a` (`b`) /*!80000 INVISIBLE */ ; DROP TABLE x",
		"KEY `a` (`b`(20)",
		"KEY `a` (`b`(x))",
		"KEY `` (`b`)",
		"KEY `a (`b`)",
	} {
		for _, k := range ParseKeys("CREATE TABLE `t` (\n  " + text + "\n) ENGINE=InnoDB") {
			if k.Sound {
				t.Errorf("%q is sound", k.Text)
			}
		}
	}
}

func TestWithoutCounter(t *testing.T) {
	got := withoutCounter(usersTable)
	if want := strings.Replace(usersTable, " AUTO_INCREMENT=4711", "", 1); got != want {
		t.Errorf("%s", got)
	}
	for _, same := range []string{"", "CREATE TABLE `a`", "CREATE TABLE `a` (\n  `b` int\n) ENGINE=InnoDB COMMENT=' AUTO_INCREMENT=3'"} {
		if got := withoutCounter(same); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
}

func FuzzParseKeys(f *testing.F) {
	f.Add(usersTable)
	f.Add("  KEY `a` ((cast(`b` as char(10) array)))\n  KEY (`x`\n  PRIMARY KEY `")
	f.Fuzz(func(t *testing.T, create string) {
		for _, k := range ParseKeys(create) {
			if k.Text == "" || !strings.Contains(create, k.Text) {
				t.Fatalf("text %q is not of the definition", k.Text)
			}
			if !k.Sound {
				continue
			}
			// A sound key stays one, and is one, in a definition of its own.
			again := ParseKeys("  " + k.Text + "\n")
			if len(again) != 1 || !again[0].Sound || again[0].Name != k.Name {
				t.Fatalf("%q became %+v", k.Text, again)
			}
			if strings.Contains(k.Text, ";") && !strings.ContainsAny(k.Text, "`'\"") {
				t.Fatalf("sound: %q", k.Text)
			}
		}
	})
}
