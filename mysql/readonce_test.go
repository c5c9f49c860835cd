package mysql

import (
	"errors"
	"testing"
	"time"
)

// TestRunOnce_Refused: what may do more than return rows is not sent, whatever the server is.
func TestRunOnce_Refused(t *testing.T) {
	for _, statement := range []string{"SELECT SLEEP(1)", "SELECT a FROM t FOR UPDATE", "SELECT get_lock('a', 1)", "DELETE FROM t",
		"SELECT a INTO OUTFILE 'x' FROM t", "SELECT 1; SELECT 2", "SELECT NEXTVAL(s)", "SELECT NEXT VALUE FOR s", "SELECT `load_file`('x')",
		"SELECT a FROM t LOCK IN SHARE MODE", "CALL p()", "SELECT sys_exec('id')", "SELECT own(1)", "SELECT own (1)", "SELECT `count`(1)", "SELECT shop.count(1)",
		"SELECT a FROM t WHERE id IN (SELECT f(1))", "SELECT s.nextval", "SELECT CONNECT (1)", "SELECT master_pos_wait('a', 1)",
		"SELECT a FROM t PROCEDURE ANALYSE()"} {
		if _, err := RunOnce(t.Context(), nil, "", statement, time.Second); !errors.Is(err, ErrUnexpected) {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// TestActsOtherwise: what computes alone is run.
func TestActsOtherwise(t *testing.T) {
	for _, statement := range []string{"SELECT COUNT(*) FROM t WHERE id IN (1, 2) AND (a = 1 OR NOT (b = 2))",
		"SELECT t.a, MAX(b) OVER (PARTITION BY c) FROM t JOIN (SELECT 1 AS x) d USING (x) WHERE EXISTS (SELECT 1 FROM u FORCE INDEX (i))",
		"SELECT a FROM t WHERE MATCH (a) AGAINST ('b') AND DATE(c) > NOW() - INTERVAL (1) DAY",
		"SELECT CAST(a AS CHAR(10)), CONVERT(b, DECIMAL(10, 2)) FROM `t`", "SELECT next, `value` FROM t", "select if(a, 1, 2) from t"} {
		if actsOtherwise([]byte(statement)) {
			t.Errorf("refused: %s", statement)
		}
	}
}
