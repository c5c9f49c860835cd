package bench

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/load/scenario"
)

// short are options of a run that reaches all kinds of users within a second or two.
func short(target string) Options {
	return Options{
		Target: target, Data: tinyData(), Duration: 1500 * time.Millisecond, Levels: []int64{2, 4, 6}, Verify: 10, Seed: 1,
	}
}

func runBench(t *testing.T, o Options) (*scenario.Result, Figures) {
	t.Helper()
	b, err := New(o)
	if err != nil {
		t.Error(err)
		return &scenario.Result{}, Figures{}
	}
	res, err := b.Run(t.Context())
	if err != nil {
		t.Error(err)
	}
	return res, b.Figures()
}

// TestReference: a service that follows the reference passes, strictly and compatibly,
// with points of both kinds and no message.
func TestReference(t *testing.T) {
	for name, compat := range map[string]bool{"strict": false, "compat": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := short(newReference(nil).serve(t))
			o.Compat, o.Duration = compat, 3*time.Second
			res, figures := runBench(t, o)
			passes(t, res)
			if res.Language != "go" || res.Reason != "OK" {
				t.Errorf("reason %q, language %q", res.Reason, res.Language)
			}
			if res.Level != 3 || len(res.Breakdown) != 2 || figures.HumanRequests == 0 || len(figures.TopLevel) == 0 {
				t.Errorf("level %d, points %v, %d requests, %d steps at the top", res.Level, res.Breakdown, figures.HumanRequests, len(figures.TopLevel))
			}
			t.Logf("score %d, %d human requests, generator %+v", res.Score, figures.HumanRequests, res.Generator)
		})
	}
}

func TestNew_Failure(t *testing.T) {
	f := func(o Options, want string) {
		t.Helper()
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%+v): %v; want %q", o, err, want)
		}
	}
	f(Options{Target: "http://127.0.0.1:1"}, "no data")
	f(Options{Target: "http://127.0.0.1:1", Data: &isuumo.Data{}}, "the data has no ")
	f(Options{Data: smallData()}, "base URL")
	f(Options{Target: "http://127.0.0.1:1", Data: smallData(), Verify: -1}, "want 0 or more")
	f(Options{Target: "http://127.0.0.1:1", Data: smallData(), Levels: []int64{2, 1}}, "level 2 begins at 1 points")
}

// TestUserAgents: what crawlers say is what may be refused, and what people say is not.
func TestUserAgents(t *testing.T) {
	exact, fold := isuumo.BotPatterns()
	robot := regexp.MustCompile(strings.Join(exact, "|") + "|(?i:" + strings.Join(fold, "|") + ")")
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		if a := humanAgent(rng); robot.MatchString(a) {
			t.Fatalf("a person says %q", a)
		}
		if a := crawlerAgent(rng); !robot.MatchString(a) {
			t.Fatalf("a crawler says %q", a)
		}
	}
	for _, a := range []string{initializeAgent, verifyAgent} {
		if robot.MatchString(a) {
			t.Fatalf("%q may be refused", a)
		}
	}
}

// TestWorkers: the numbers of the contest.
func TestWorkers(t *testing.T) {
	f := func(count func(int) int, want ...int) {
		t.Helper()
		for level, n := range want {
			if got := count(level); got != n {
				t.Errorf("level %d: %d, want %d", level, got, n)
			}
		}
	}
	f(rising(0, 3), 3, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
	f(rising(1, 3), 0, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
	f(rising(2, 5), 0, 0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
	f(uploads, 0, 0, 1, 1, 1)
}

// BenchmarkList is what a list of 25 rows costs, without the request: it is read, and
// held against the model at full size.
func BenchmarkList(b *testing.B) {
	d := data.Generate(data.Options{})
	r := newRun(&Options{Data: d})
	c := &client{run: r}
	price := int64(2)
	q := &model.ChairQuery{Price: &price, Color: d.ChairCondition.Color.List[0], Page: 2, PerPage: perPage}
	body, err := json.Marshal(chairList(model.SearchChairs(model.Pointers(d.Chairs), &d.ChairCondition, q)))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		from := r.chairs.Now()
		l, err := read(c, r.chairRows, body, true)
		if err == nil {
			err = r.chairs.Search(q, r.chairs.Since(from), l.Page)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
