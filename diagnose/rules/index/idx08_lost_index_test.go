package index

import (
	"slices"
	"testing"
)

func TestKeysOf(t *testing.T) {
	f := func(lines string, want ...string) {
		t.Helper()
		text := "CREATE TABLE `t` (\n  `id` int NOT NULL COMMENT 'KEY `fake` (`x`)',\n  PRIMARY KEY (`id`)" + lines + "\n) ENGINE=InnoDB\n"
		if got := keysOf(text); !slices.Equal(got, want) {
			t.Errorf("%q\n got %q\nwant %q", lines, got, want)
		}
	}
	f("")
	f(",\n  KEY `a` (`x`,`y`),\n  UNIQUE KEY `b` (`z`)", "KEY `a` (`x`,`y`)", "UNIQUE KEY `b` (`z`)")
	f(",\n  KEY `a` (`x`(10)) USING HASH,\n  FULLTEXT KEY `f` (`t`) /*!50100 WITH PARSER `ngram` */ ", "KEY `a` (`x`(10))", "FULLTEXT KEY `f` (`t`)")
	f(",\n  KEY `e` (((`a` + 1))) /*!80000 INVISIBLE */,\n  SPATIAL KEY `s` (`p`)", "KEY `e` (((`a` + 1)))", "SPATIAL KEY `s` (`p`)")
	f(",\n  KEY `odd ) name` (`x`) COMMENT 'b)',\n  CONSTRAINT `c` FOREIGN KEY (`x`) REFERENCES `u` (`id`)", "KEY `odd ) name` (`x`)")
}
