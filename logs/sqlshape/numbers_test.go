package sqlshape

import (
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		if got := strings.Join(Numbers([]byte(sql)), " "); got != want {
			t.Errorf("%s:\n got %q\nwant %q", sql, got, want)
		}
	}
	f("SELECT * FROM users WHERE phone = 123", "phone")
	f("SELECT * FROM users WHERE phone = '123'", "")
	f("SELECT * FROM users u JOIN t ON t.a = u.b AND t.`c` = 5 WHERE u.phone IN (1, -2, 3.5) AND x<=>7 AND y >= 3", "t.c u.phone x")
	f("SELECT * FROM t WHERE a = 1 OR t.a = '1'", "")
	f("SELECT * FROM t WHERE a IN (1, 'x')", "")
	f("SELECT * FROM t WHERE a = 0x41 AND b = b'1' AND c = ? AND d = 1", "d")
	f("UPDATE t SET a = 5, b = 6 WHERE c = 7", "c")
	f("INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE b = 2", "")
	f("SELECT a = 3, (SELECT 1 FROM s WHERE e = 4) FROM t WHERE LOWER(b) = 5 AND c + 1 = 6 /* d = 7 */", "e")
	f("SELECT 1 FROM t WHERE a = 1 GROUP BY b HAVING n = 3 ORDER BY c = 4 LIMIT 5", "a n")
	f("DELETE FROM t WHERE a =", "")
	f("SELECT 1 FROM t WHERE a = '1", "")
}
