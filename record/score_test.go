package record

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/logs/score"
)

func TestCommandScore(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	f := func(script string, want *kasoku.Score, warning string, change func(*Options)) {
		t.Helper()
		o := quick(t)
		o.For, o.Command = 0, []string{"sh", "-c", script}
		change(&o)
		rec := mustRecord(t, o)
		got := rec.Run.Score
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
		if w := warned(rec, "no-score"); !strings.Contains(w.Text, warning) || (w.Text == "") != (warning == "") {
			t.Errorf("%s: warning %q, want %q", script, w.Text, warning)
		}
	}
	plain := func(*Options) {}
	js := func(o *Options) { o.Score, o.Pass = score.Pattern{JSON: "score"}, score.Pattern{JSON: "ok"} }
	f("echo hello", nil, "", plain)
	f("printf 'Requests/sec: 12.5\\n'", &kasoku.Score{Value: 12.5, Source: "wrk, Requests/sec"}, "", plain)
	f("printf 'Requests/sec: 12.5\\n'; exit 1", &kasoku.Score{Value: 12.5, Outcome: kasoku.Failed, Source: "wrk, Requests/sec"}, "", plain)
	f(`echo log >&2; echo '{"score":5,"ok":true}'; echo log >&2`, &kasoku.Score{Value: 5, Outcome: kasoku.Passed, Source: "output, JSON score"}, "", js)
	f(`echo '{"score":5,"ok":false}' >&2; echo bye`, &kasoku.Score{Value: 5, Outcome: kasoku.Failed, Source: "output, JSON score"}, "", js)
	f(`echo '{"score":5,"ok":false}' >&2; echo '{"score":6,"ok":true}'`, &kasoku.Score{Value: 6, Outcome: kasoku.Passed, Source: "output, JSON score"}, "", js)
	f("echo crashed", nil, `no score by JSON score: there is no JSON in it; the output ends with "crashed"`, js)
	f(`printf '{"score":%s}' "$WORTH"`, &kasoku.Score{Value: 9, Source: "output, JSON score"}, "", func(o *Options) {
		o.Score, o.Env = score.Pattern{JSON: "score"}, []string{"WORTH=9"}
	})
}
