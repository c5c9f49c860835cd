package export

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs"
)

// Nothing of a damaged run that acts on a terminal is in any textual export.
func TestExportsArePrintable(t *testing.T) {
	bad := "a\x00b\x07c\x1b]0;d\u009be\u202ef\ng\u2028h\u007fi"
	rec := &kasoku.Recording{Run: kasoku.Run{Length: time.Second}, Series: []kasoku.Series{{
		Key: kasoku.Key{Host: bad, Source: "host" + bad, Name: "cpu" + bad, Instance: bad}, Unit: bad,
		Points: []kasoku.Point{{At: 0, Value: 1}, {At: time.Second, Value: 2}},
	}}}
	var csv, lines, metrics bytes.Buffer
	for _, out := range []Output{NewCSV(&csv, time.Unix(0, 0)), NewJSON(&lines, time.Unix(0, 0))} {
		if err := Recording(context.Background(), rec, Raw, nil, out); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if err := OpenMetrics(&metrics, rec, nil); err != nil {
		t.Fatal(err)
	}
	var row struct{ Host string }
	if err := json.Unmarshal(bytes.SplitAfter(lines.Bytes(), []byte("\n"))[0], &row); err != nil || row.Host != "abc]0;def ghi" {
		t.Errorf("host %q, %v", row.Host, err)
	}
	for name, out := range map[string]string{"csv": csv.String(), "json": lines.String(), "openmetrics": metrics.String()} {
		if !strings.Contains(out, "abc]0;def ghi") {
			t.Errorf("%s without the host:\n%s", name, out)
		}
		if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && logs.ActsOnTerminal(r) }); i >= 0 {
			t.Errorf("%s: %q", name, out[i:])
		}
	}
}
