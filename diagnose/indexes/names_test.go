package indexes

import "testing"

// TestParseStatement_Names: what the grammar reserves, and MariaDB does not, is a name without
// quotes; called, it is a function.
func TestParseStatement_Names(t *testing.T) {
	for _, word := range grammarWords {
		for _, text := range []string{
			"SELECT main.* FROM " + word + " main JOIN " + word + " x_1 ON ( x_1.id = main.id ) WHERE main.a = ? AND main.b IN (?+)",
			"SELECT x." + word + " FROM x WHERE x." + word + " = '" + word + " (?)' ORDER BY x." + word,
		} {
			if _, err := ParseStatement(text); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	for _, text := range []string{
		"SELECT RANK() OVER (ORDER BY a) FROM t",
		"SELECT a FROM Groups WHERE FIRST_VALUE(b) OVER w = ? WINDOW w AS (ORDER BY c)",
	} {
		if _, err := ParseStatement(text); (err == nil) != (text[7] == 'R') {
			t.Errorf("%s: %v", text, err)
		}
	}
}
