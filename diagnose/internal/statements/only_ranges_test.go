package statements_test

import (
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
)

func TestOnlyRanges(t *testing.T) {
	for text, want := range map[string]bool{
		"select a from b where t >= ?":                                    true,
		"select a from b where t <= ? order by t limit ?, ?":              true,
		"select a from b where t < ? and u > ? limit ? offset ?":          true,
		"select a from b where t BETWEEN ? AND ?":                         true,
		"select a - c from b where t > ? and d is not null and e IS NULL": true,
		"select a from b where t > ? and u = ?":                           false,
		"select a from p left join l on l.u = ? where p.t > ?":            false,
		"select if(u = ?, a, b) from p where p.t > ?":                     false,
		"select a, ? as me from p where p.t > ?":                          false,
		"select a from b where u <=> ? and t > ?":                         false,
		"select a from b where u <> ? and t > ?":                          false,
		"select a from b where u != ? and t > ?":                          false,
		"select a from b where u like ? and t > ?":                        false,
		"select a from b where u regexp ? and t > ?":                      false,
		"select a from b where ? = u and t > ?":                           false,
		"select a from b where ? < u":                                     false,
		"select a from b where u in(?+) and t > ?":                        false,
		"select a from b where match(x) against (?) and t > ?":            false,
		"select a from b where c->? = d and t > ?":                        false,
		"select a from b where c->>? = d and t > ?":                       false,
		"select a from b where a & ? and t > ?":                           false,
		"select a from b where a >> ? and t > ?":                          false,
		"select a from b where u = null and t > ?":                        false,
		"select a from b where t > ? and ?":                               false,
		"select a from b where t between ? and u and v = ?":               false,
		"select a from b where t > ? …":                                   false,
		"select a from b where t > ?...":                                  false,
		"select a from b":                                                 false,
		"":                                                                false,
		"select a from b where t > '2026-01-01' and u < 5":                true,
		"select a from b where t > '2026-01-01' and u = 5":                false,
	} {
		if got := statements.OnlyRanges(&kasoku.Query{Verb: "SELECT", Fingerprint: text}); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	// A fingerprint has a sign for a minus between two names; the sample has the minus.
	q := &kasoku.Query{Verb: "SELECT", Fingerprint: "select a ? c from b where t >= ?", Sample: "SELECT a - c FROM b WHERE t >= ?"}
	if !statements.OnlyRanges(q) {
		t.Error("a minus")
	}
}
