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
		"SELECT a FROM t LOCK IN SHARE MODE", "CALL p()", "SELECT a FROM t PROCEDURE ANALYSE()"} {
		if _, err := RunOnce(t.Context(), nil, "", statement, time.Second); !errors.Is(err, ErrUnexpected) {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
