package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const ms = time.Millisecond

// parts is a scenario made of functions.
type parts struct {
	prepare, load, validate func(context.Context, *Step) error
}

func (p parts) Prepare(ctx context.Context, s *Step) error  { return p.call(p.prepare, ctx, s) }
func (p parts) Load(ctx context.Context, s *Step) error     { return p.call(p.load, ctx, s) }
func (p parts) Validate(ctx context.Context, s *Step) error { return p.call(p.validate, ctx, s) }

func (parts) call(f func(context.Context, *Step) error, ctx context.Context, s *Step) error {
	if f == nil {
		return nil
	}
	return f(ctx, s)
}

// loading is a scenario that only loads.
func loading(f func(context.Context, *Step)) parts {
	return parts{load: func(ctx context.Context, s *Step) error {
		f(ctx, s)
		return nil
	}}
}

// runAll runs scenarios.
func runAll(t testing.TB, ctx context.Context, o Options, all ...Scenario) *Result {
	t.Helper()
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		b.Add(s)
	}
	return b.Run(ctx)
}

// onBubble runs a test on a clock of its own.
func onBubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }

func TestRun(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		var did []string
		word := func(w string) func(context.Context, *Step) error {
			return func(ctx context.Context, s *Step) error {
				did = append(did, fmt.Sprintf("%s %s", s.Phase(), w))
				time.Sleep(time.Second)
				s.Score(Tag(w))
				return nil
			}
		}
		r := runAll(t, t.Context(), Options{Seed: 7, Language: "php"},
			parts{prepare: word("a"), validate: word("a")},
			parts{prepare: func(ctx context.Context, s *Step) error {
				s.SetLanguage("go\x1b[31m")
				return word("b")(ctx, s)
			}, load: word("b")},
			parts{validate: word("c")})
		want := []string{"prepare a", "prepare b", "load b", "validate a", "validate c"}
		if !slices.Equal(did, want) {
			t.Errorf("did %q, want %q", did, want)
		}
		if !r.Pass || r.Score != 5 || r.Reason != "OK" || r.Language != "go" || r.Seed != 7 || r.Duration != 5 {
			t.Errorf("%+v", r)
		}
		if got := fmt.Sprint(r.Phases); got != "[{prepare 0 2} {load 2 3} {validate 3 5}]" {
			t.Errorf("phases %s", got)
		}
		if got := fmt.Sprint(r.Breakdown); got != "[{a 2 2} {b 2 2} {c 1 1}]" {
			t.Errorf("breakdown %s", got)
		}
	})
}

// TestResultJSON: a contest's tools read the first five keys.
func TestResultJSON(t *testing.T) {
	r := runAll(t, t.Context(), Options{Seed: 1}, parts{prepare: func(_ context.Context, s *Step) error { return Errorf(Application, "no index page") }})
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"pass":false,"score":0,"messages":[{"text":"no index page","count":1}],"reason":"prepare failed","language":"","points":0,`
	if !strings.HasPrefix(string(b), want) {
		t.Errorf("%s\nwant %s…", b, want)
	}
	if strings.Contains(string(b), "null") {
		t.Errorf("a list is null: %s", b)
	}
}

func TestPrepare(t *testing.T) {
	f := func(name, want string, o Options, prepare func(context.Context, *Step) error) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			onBubble(t, func(t *testing.T) {
				o.LoadTime = 10 * time.Second
				loaded := false
				r := runAll(t, t.Context(), o, parts{prepare: func(ctx context.Context, s *Step) error {
					s.Score("early")
					return prepare(ctx, s)
				}, load: func(context.Context, *Step) error {
					loaded = true
					return nil
				}})
				got := fmt.Sprintf("%t %s %v", r.Pass, r.Reason, r.Messages)
				if got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				if loaded != r.Pass || !r.Pass && r.Score != 0 {
					t.Errorf("loaded %t, score %d", loaded, r.Score)
				}
			})
		})
	}
	f("good", "true OK []", Options{}, func(context.Context, *Step) error { return nil })
	f("returned", "false prepare failed [{x 1}]", Options{}, func(context.Context, *Step) error { return errors.New("x") })
	f("reported", "false prepare failed [{x 1}]", Options{}, func(_ context.Context, s *Step) error {
		s.Fail(Errorf(Temporary, "x"))
		return nil
	})
	f("trivial", "true OK []", Options{}, func(_ context.Context, s *Step) error {
		s.Fail(Errorf(Trivial, "x"))
		return nil
	})
	f("critical", "false critical error [{x 1}]", Options{}, func(_ context.Context, s *Step) error { return Errorf(Critical, "x") })
	f("reason", "false not ready [{x 1}]", Options{Reasons: Reasons{Prepare: "not ready"}}, func(context.Context, *Step) error { return errors.New("x") })
	f("late", "false prepare failed [{prepare took more than 5s 1}]", Options{PrepareTimeout: 5 * time.Second}, func(ctx context.Context, _ *Step) error {
		<-ctx.Done()
		return ctx.Err()
	})
	f("cancelled", "false prepare failed []", Options{}, func(ctx context.Context, _ *Step) error { return context.Canceled })
	f("request too late", "false prepare failed [{GET /: context deadline exceeded 1}]", Options{}, func(ctx context.Context, _ *Step) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		<-ctx.Done()
		return fmt.Errorf("GET /: %w", ctx.Err())
	})
	f("helpers", "false prepare failed [{x 1}]", Options{}, func(ctx context.Context, s *Step) error {
		s.Go(ctx, func(ctx context.Context) error {
			time.Sleep(time.Second)
			return errors.New("x")
		})
		return nil
	})
}

func TestValidate(t *testing.T) {
	f := func(want string, validate func(context.Context, *Step) error) {
		t.Helper()
		onBubble(t, func(t *testing.T) {
			r := runAll(t, t.Context(), Options{ValidateTimeout: 5 * time.Second, Scoring: Scoring{Points: map[Tag]int64{"x": 100}, Deduct: map[Code]int64{Application: 30}}},
				parts{load: func(_ context.Context, s *Step) error {
					s.Score("x")
					return nil
				}, validate: validate})
			if got := fmt.Sprintf("%t %d %s %v", r.Pass, r.Score, r.Reason, r.Messages); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	f("true 100 OK []", func(context.Context, *Step) error { return nil })
	f("false 70 validation failed [{a row is lost 1}]", func(context.Context, *Step) error { return errors.New("a row is lost") })
	f("false 100 validation failed [{validate took more than 5s 1}]", func(ctx context.Context, _ *Step) error {
		<-ctx.Done()
		return ctx.Err()
	})
	f("false 100 critical error [{oversold 1}]", func(_ context.Context, s *Step) error {
		s.Fail(Errorf(Critical, "oversold"))
		return nil
	})
}

func TestScoring(t *testing.T) {
	f := func(want string, scoring Scoring, load func(*Step)) {
		t.Helper()
		r := runAll(t, t.Context(), Options{Scoring: scoring}, loading(func(_ context.Context, s *Step) { load(s) }))
		if got := fmt.Sprintf("%t %d %s, %d - %d", r.Pass, r.Score, r.Reason, r.Points, r.Deduction); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	scoring := Scoring{Points: map[Tag]int64{"buy": 5, "look": 0}, Deduct: map[Code]int64{Application: 2, "slow page": 1}}
	f("true 0 OK, 0 - 0", scoring, func(*Step) {})
	f("true 11 OK, 11 - 0", scoring, func(s *Step) {
		s.Score("buy")
		s.Score("buy")
		s.Score("look")
		s.Score("unlisted")
	})
	f("true 2 OK, 5 - 3", scoring, func(s *Step) {
		s.Score("buy")
		s.Fail(errors.New("x"))
		s.Fail(Errorf("slow page", "x"))
		s.Fail(Errorf(Timeout, "x"))
		s.Fail(nil)
	})
	f("true 3 OK, 5 - 2", Scoring{Points: scoring.Points, Deduct: map[Code]int64{Timeout: 1},
		Every: map[Code]uint64{Timeout: 10}}, func(s *Step) {
		s.Score("buy")
		for range 29 {
			s.Fail(Errorf(Timeout, "x"))
		}
	})
	f("false 0 below zero, 1 - 2", scoring, func(s *Step) {
		s.Score("unlisted")
		s.Fail(errors.New("x"))
	})
}

// TestLimit: the run stops in the call that counts the last error that was allowed.
func TestLimit(t *testing.T) {
	f := func(want string, o Options, code Code) {
		t.Helper()
		onBubble(t, func(t *testing.T) {
			o.LoadTime = 59500 * ms
			validated := false
			r := runAll(t, t.Context(), o, parts{load: func(ctx context.Context, s *Step) error {
				for ctx.Err() == nil {
					s.Fail(Errorf(code, "x"))
					w := Worker{}
					_ = w.Sleep(ctx, time.Second)
				}
				return nil
			}, validate: func(context.Context, *Step) error {
				validated = true
				return nil
			}})
			if got := fmt.Sprintf("%t %s %d %g", r.Pass, r.Reason, r.ErrorCount, r.Duration); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if validated != r.Pass {
				t.Errorf("validated %t", validated)
			}
		})
	}
	f("false critical error 1 0", Options{}, Critical)
	f("false 10 or more application errors 10 9", Options{}, Application)
	f("true OK 60 59.5", Options{}, Timeout)
	f("false 3 or more timeout errors 3 2", Options{Scoring: Scoring{Limit: map[Code]int{Timeout: 3}}}, Timeout)
	f("true OK 60 59.5", Options{Scoring: Scoring{Limit: map[Code]int{}}}, Critical)
	f("false 注文が失われた 1 0", Options{Reasons: Reasons{Limit: map[Code]string{Critical: "注文が失われた"}}}, Critical)
}

// TestEndOfLoad: what the end of the load cuts off counts as no fault.
func TestEndOfLoad(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		r := runAll(t, t.Context(), Options{LoadTime: 10 * time.Second}, loading(func(ctx context.Context, s *Step) {
			s.Workers(ctx, Workers{Name: "a", Count: func(int) int { return 3 }, Do: func(ctx context.Context, w *Worker) error {
				request, cancel := context.WithTimeout(ctx, time.Hour)
				defer cancel()
				<-request.Done()
				switch w.Number {
				case 0:
					return Errorf(Critical, "POST /: %w", request.Err())
				case 1:
					return Errorf(Critical, "POST /: %w", context.DeadlineExceeded)
				}
				return Errorf(Application, "wrong, and known to be")
			}})
		}))
		if !r.Pass || r.ErrorCount != 1 || r.Messages[0].Text != "wrong, and known to be" || r.Duration != 10 {
			t.Errorf("%+v", r)
		}
	})
}

// TestLoadEndsWithItsWorkers: nothing more can come, so the run does not wait.
func TestLoadEndsWithItsWorkers(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		r := runAll(t, t.Context(), Options{LoadTime: time.Hour, Levels: []int64{4}}, loading(func(ctx context.Context, s *Step) {
			s.OnLevel(ctx, func(context.Context, int) {})
			s.Workers(ctx, Workers{Name: "a", Count: func(level int) int { return 2 + level }, Loops: 3, Do: func(ctx context.Context, w *Worker) error {
				s.Score("x")
				return w.Sleep(ctx, time.Second)
			}})
		}))
		if !r.Pass || r.Score != 9 || r.Level != 1 || r.Duration != 4 {
			t.Errorf("%+v", r)
		}
	})
}

func TestNoLoad(t *testing.T) {
	r := runAll(t, t.Context(), Options{LoadTime: -1}, loading(func(context.Context, *Step) { t.Error("loaded") }))
	if !r.Pass || len(r.Phases) != 2 {
		t.Errorf("%+v", r)
	}
}

func TestInterrupt(t *testing.T) {
	f := func(want string, after time.Duration) {
		t.Helper()
		onBubble(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(after, cancel)
			work := func(ctx context.Context, s *Step) error {
				for w := (Worker{}); w.Sleep(ctx, 3*time.Second) == nil; {
					s.Score("x")
					return nil
				}
				return ctx.Err()
			}
			r := runAll(t, ctx, Options{}, parts{work, work, work})
			if got := fmt.Sprintf("%t %d %s %g %v", r.Pass, r.Score, r.Reason, r.Duration, r.Messages); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	f("false 0 interrupted 1 []", time.Second)
	f("false 1 interrupted 5 []", 5*time.Second)
	f("false 2 interrupted 8 []", 8*time.Second)
	f("true 3 OK 9 []", 10*time.Second)
}

// TestGrace: workers that do not heed their context cost the run some seconds, and no
// more; what they report later is ignored.
func TestGrace(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		release := make(chan struct{})
		var step *Step
		r := runAll(t, t.Context(), Options{LoadTime: time.Second, Grace: 2 * time.Second}, loading(func(ctx context.Context, s *Step) {
			step = s
			s.Go(ctx, func(context.Context) error {
				<-release
				s.Score("late")
				s.Fail(errors.New("late"))
				s.Record(Record{Step: "late"})
				s.Go(ctx, func(context.Context) error {
					t.Error("started after the end")
					return nil
				})
				return nil
			})
		}))
		close(release)
		synctest.Wait()
		if r.Duration != 3 || len(r.Warnings) != 1 || r.Warnings[0].Code != UnendedWork || !strings.HasPrefix(r.Warnings[0].Text, "1 worker ") {
			t.Errorf("%+v", r)
		}
		if errs, _ := step.run.failures.sums(); step.Points() != 0 || errs != 0 || step.recorder.Tally(0).Asked != 0 {
			t.Error("a success, an error or a request counted after the end")
		}
	})
}

func TestPanic(t *testing.T) {
	f := func(all parts) {
		t.Helper()
		onBubble(t, func(t *testing.T) {
			r := runAll(t, t.Context(), Options{}, all)
			if r.Pass || r.Reason != "internal error" || len(r.Messages) != 1 || !strings.HasPrefix(r.Messages[0].Text, "panic in scenario_test.go:") {
				t.Errorf("%+v", r)
			}
		})
	}
	bad := func(context.Context, *Step) error {
		var list []int
		return fmt.Errorf("%d", list[len(list)])
	}
	f(parts{prepare: bad})
	f(parts{load: bad})
	f(parts{validate: bad})
	f(loading(func(ctx context.Context, s *Step) {
		s.Workers(ctx, Workers{Count: func(int) int { return 1 }, Do: func(ctx context.Context, _ *Worker) error { return bad(ctx, s) }})
	}))
	f(loading(func(ctx context.Context, s *Step) {
		s.Once(ctx, Jobs{Do: func(ctx context.Context, _ *Worker) error { panic(errors.New("x")) }})
	}))
}

func TestMessages(t *testing.T) {
	r := runAll(t, t.Context(), Options{MaxMessages: 3, Scoring: Scoring{Limit: map[Code]int{}}}, loading(func(_ context.Context, s *Step) {
		s.Fail(errors.New("first"))
		for i := range 2 {
			s.Fail(fmt.Errorf("twice, \x1b[2J%s", "\u202e\x00a\nb")) // hostile
			s.Fail(Errorf(Trivial, "crawler %d", i))
		}
		for i := range 10 {
			s.Fail(Errorf("mine", "text %d %s", i, strings.Repeat("x", 1000)))
		}
	}))
	long := strings.Repeat("x", maxText-len("text 0 ")) + "…"
	want := []Message{{"twice, a b", 2}, {"first", 1}, {"text 0 " + long, 1}, {"(others)", 9}}
	if !slices.Equal(r.Messages, want) {
		t.Errorf("messages %+v\nwant     %+v", r.Messages, want)
	}
	var codes []string
	for _, e := range r.Errors {
		codes = append(codes, fmt.Sprintf("%s %d %d", e.Code, e.Count, len(e.Samples)))
	}
	if got := strings.Join(codes, ", "); got != "mine 10 5, application 3 2, trivial 2 2" {
		t.Errorf("codes %s", got)
	}
}

func TestAddPanicsOnWhatIsNoScenario(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a mistyped scenario was taken")
		}
	}()
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.Add(struct{}{})
}

func TestOptions(t *testing.T) {
	f := func(want string, o Options) {
		t.Helper()
		_, err := New(o)
		if got := fmt.Sprint(err); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f("<nil>", Options{Levels: []int64{1, 2}})
	f("benchmark: level 1 begins at 0 points: want more than where the one before does", Options{Levels: []int64{0}})
	f("benchmark: level 3 begins at 2 points: want more than where the one before does", Options{Levels: []int64{1, 2, 2}})
	f(`benchmark: bad limit 0 of "critical" errors: want at least 1`, Options{Scoring: Scoring{Limit: map[Code]int{Critical: 0}}})
	f("benchmark: bad time -1s", Options{PrepareTimeout: -time.Second})
	f("benchmark: bad time -1ns", Options{ValidateTimeout: -1})
	f("benchmark: bad time -1ns", Options{Grace: -1})
	f("benchmark: bad number of messages -1", Options{MaxMessages: -1})
	b, err := New(Options{})
	if err != nil || b.Seed() == 0 {
		t.Errorf("seed %d, %v", b.Seed(), err)
	}
}

func TestCodeOf(t *testing.T) {
	f := func(err error, want Code) {
		t.Helper()
		if got := CodeOf(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
		if wrapped := fmt.Errorf("a: %w", err); err != nil && CodeOf(wrapped) != want {
			t.Errorf("%v: %q, want %q", wrapped, CodeOf(wrapped), want)
		}
		if err != nil && !Is(err, want) || Is(err, "other") {
			t.Errorf("Is(%v)", err)
		}
	}
	f(nil, "")
	f(Fail(Critical, nil), "")
	f(errors.New("x"), Application)
	f(Errorf(Temporary, "x"), Temporary)
	f(Fail("mine", Errorf(Temporary, "x")), "mine")
	f(context.DeadlineExceeded, Timeout)
	f(timeoutError{}, Timeout)
	f(Errorf(Critical, "x: %w", context.DeadlineExceeded), Critical)
	f(Errorf(Critical, "x: %w", context.Canceled), Canceled)
	f(Errorf(Critical, "x: %w", Errorf(Canceled, "y")), Canceled)
	f(errors.Join(errors.New("x"), Errorf(Trivial, "y")), Trivial)
	if err := Errorf(Timeout, "x"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		t.Error("a timeout is not what contexts say")
	}
}

type timeoutError struct{}

func (timeoutError) Error() string { return "i/o timeout" }
func (timeoutError) Timeout() bool { return true }
