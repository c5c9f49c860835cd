package indexes

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// TestPropose_Dialects: statements are read whose masked values the grammar wants as texts, or that
// one server alone has, as ORMs write them; their writes count.
func TestPropose_Dialects(t *testing.T) {
	for _, s := range []string{
		"SELECT id FROM orders WHERE note->>'$.a' = 'x' AND customer_id = 17",
		"SELECT id, note -> '$.a' FROM orders WHERE customer_id = 17",
		"SELECT GROUP_CONCAT(DISTINCT state ORDER BY state SEPARATOR ', ') FROM orders WHERE customer_id = 17",
		"SELECT id FROM orders WHERE customer_id = 17 AND state LIKE 'a|_b%' ESCAPE '|'",
		"SELECT id AS 'my id' FROM orders WHERE customer_id = 17",
		"SELECT o1_0.id from orders o1_0 where o1_0.customer_id=17 offset 0 rows fetch first 20 rows only",
		"SELECT o1_0.id from orders o1_0 where o1_0.customer_id=17 fetch next 1 row only",
		"DELETE FROM orders WHERE customer_id = 17 RETURNING id",
		"INSERT INTO orders (id) SELECT id FROM orders AS o WHERE o.customer_id = 17 ON DUPLICATE KEY UPDATE price = 3",
	} {
		masked := string(sqlshape.AppendMasked(nil, []byte(s), 4096))
		for _, text := range []string{s, masked} {
			if got := proposals("9.7.0", text); !strings.HasPrefix(got, "equality (customer_id") {
				t.Errorf("%s: proposed %q", text, got)
			}
		}
	}
	for _, s := range []string{
		"INSERT INTO orders (id, price) VALUES (?, ?) RETURNING id, price",
		"INSERT INTO orders (id, price) VALUES (?, ?) AS new ON DUPLICATE KEY UPDATE price = new.price",
		"INSERT INTO orders (id, price) VALUES (?, ?) AS new(a, b) ON DUPLICATE KEY UPDATE price = b",
	} {
		if _, err := newGrammar().query(&kasoku.Query{Sample: s, Total: time.Second}); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}
