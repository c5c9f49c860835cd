package play

import (
	"context"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/digger"
	"github.com/kasoku/kasoku/load/scenario"
)

// An Asker asks a server.
type Asker interface {
	// Ask returns the answer; its status is 0 where none came.
	Ask(ctx context.Context, r goldrush.Request) goldrush.Answer
	// CPU returns what the server shows of its virtual CPU; ok is false where it shows nothing.
	CPU(ctx context.Context) (used [goldrush.Calls]time.Duration, ok bool)
}

// Played configures a game on the real clock.
type Played struct {
	Asker  Asker
	Rules  goldrush.Rules
	Params digger.Params
	Lasts  time.Duration
	// FirstByte sends the next request when the first byte of an answer comes, where net/http asks.
	FirstByte bool
	OnSecond  func(Second) // is called with each second, which no one keeps; nil: not
	// Sink is passed what was sent and answered, as a benchmark passes it to a recording; nil: no one is.
	Sink scenario.Sink
	Vars *Vars // shows how the client stands; nil: nothing does
}

// Run plays a game until it is over or the context ends.
func Run(ctx context.Context, o Played) *Result {
	ctx, end := context.WithCancel(ctx)
	r := &real{o: o, digger: digger.New(o.Params, o.Rules), begin: time.Now(),
		arrived: make(chan arrival, 64), used: make(chan [goldrush.Calls]time.Duration, 1)}
	r.reporter = newReporter(o.Sink, r.begin)
	before, _ := o.Asker.CPU(ctx) // of games before this one
	r.served.cpu = before
	r.play(ctx)
	lasted := min(r.now(), o.Lasts)
	bounded, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	cpu, ok := o.Asker.CPU(bounded)
	done()
	if ok {
		r.look(cpu)
	}
	cpu = r.served.cpu
	for c := range cpu {
		cpu[c] = max(cpu[c]-before[c], 0)
	}
	end()
	r.drain()
	if o.Vars != nil {
		o.Vars.last = r.shown()
		close(o.Vars.over)
	}
	out := &Result{Lasted: lasted, Counts: r.digger.Counts(), CPU: cpu}
	r.reporter.flush(lasted, &scenario.Result{Pass: out.Counts.All() > out.Counts.Of(0), Score: int64(out.Coins())})
	return out
}

// A real is a game that is played on the real clock.
type real struct {
	o        Played
	digger   *digger.Digger
	begin    time.Time
	reporter *reporter

	asking  sync.WaitGroup
	arrived chan arrival
	used    chan [goldrush.Calls]time.Duration
	served  served
}

type arrival struct {
	sent   digger.Sent
	answer goldrush.Answer
	begins bool // it only begins to come
}

func (r *real) now() time.Duration { return time.Since(r.begin) }

// play goes on as answers come.
func (r *real) play(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var asked chan chan shown // nil: no one asks
	if r.o.Vars != nil {
		asked = r.o.Vars.ask
	}
	for second := time.Second; ; {
		now := r.now()
		if now >= second || now >= r.o.Lasts {
			r.endSecond(ctx, min(second, r.o.Lasts))
			second += time.Second
		}
		if now >= r.o.Lasts {
			return
		}
		for sent, ok := r.digger.Next(now); ok; sent, ok = r.digger.Next(now) {
			r.ask(ctx, sent)
		}
		wait := min(second, r.o.Lasts) - now
		if at, ok := r.digger.Wake(); ok {
			wait = min(wait, at-now)
		}
		timer.Reset(wait)
		select {
		case a := <-r.arrived:
			r.take(a)
		case cpu := <-r.used:
			r.look(cpu)
		case reply := <-asked:
			reply <- r.shown()
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// shown is how the client stands now.
func (r *real) shown() shown {
	r.digger.Pass(r.now())
	return shown{r.digger.Counts(), r.served, r.o.Rules.Active}
}

// look notes what the server shows of its CPU.
func (r *real) look(cpu [goldrush.Calls]time.Duration) {
	counts := r.digger.Counts()
	r.served.add(cpu, &counts)
}

// take hands in an answer, and those that came with it.
func (r *real) take(a arrival) {
	for {
		now := r.now()
		if a.begins {
			r.digger.Answering(now, &a.sent)
		} else {
			r.digger.Take(now, &a.sent, &a.answer)
			r.reporter.note(&a.sent, a.answer.Status, now, r.digger.InFlight()+1)
		}
		select {
		case a = <-r.arrived:
		default:
			return
		}
	}
}

// ask sends a request without waiting for its answer.
func (r *real) ask(ctx context.Context, sent digger.Sent) {
	r.asking.Go(func() {
		var begun atomic.Bool
		if r.o.FirstByte {
			ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() {
				if !begun.Swap(true) {
					r.arrived <- arrival{sent: sent, begins: true}
				}
			}})
		}
		answer := r.o.Asker.Ask(ctx, sent.Request)
		sent.Freed = begun.Swap(true)
		r.arrived <- arrival{sent: sent, answer: answer}
	})
}

// endSecond keeps how the client stands, and asks how the server does.
func (r *real) endSecond(ctx context.Context, at time.Duration) {
	s := Second{at, r.digger.Counts(), r.served.cpu}
	r.reporter.flush(at, nil)
	if r.o.OnSecond != nil {
		r.o.OnSecond(s)
	}
	r.asking.Go(func() {
		if used, ok := r.o.Asker.CPU(ctx); ok {
			select {
			case r.used <- used:
			default: // the one before was not taken yet
			}
		}
	})
}

// drain waits for what was asked, and takes none of it: the game is over.
func (r *real) drain() {
	all := make(chan struct{})
	go func() { r.asking.Wait(); close(all) }()
	for {
		select {
		case <-r.arrived:
		case <-all:
			return
		}
	}
}
