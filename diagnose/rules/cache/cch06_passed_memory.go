package cache

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/varnish"
)

// PassedMemory is the rule CCH-06.
type PassedMemory struct{}

// Thresholds of CCH-06.
const (
	// passedMost is the part of Varnish's requests from which most of what it does is to pass them on.
	passedMost = 0.5
	// leastHeld is less than what a Varnish takes for itself.
	leastHeld = 16 << 20
	// encodings is how many forms of an answer are kept at most as a rule: plain and packed.
	encodings = 2
)

// ID returns CCH-06.
func (PassedMemory) ID() string { return "CCH-06" }

// Doc describes the rule.
func (PassedMemory) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a Varnish whose memory is taken by answers that it only passes on.`,
		Evidence: `Varnish passed on half of the requests that came to it and more; its transient storage, where it
			holds what it does not keep, had 16 MiB or more at once, more than the storage of what it keeps
			(SMA.Transient.g_bytes, SMA.s0.g_bytes) and more than twice of all the answers that the VCL may keep for
			a short time, of which it holds one for each path there.`,
		Cause: `Varnish takes a whole answer into memory as fast as the application sends it, and keeps it until the
			client has all of it, also of what it passes on. The size of its storage (-s) does not bound that.`,
		Fix: `send only paths through Varnish whose answers it keeps, and all others past it.`,
		Silent: `below the thresholds, where nothing hits (CCH-02), where the access log does not say how large the
			answers are, and under 100 requests; blind without these counters and without the captured VCL. It is a
			remark: whether memory is short is HW-06's.`,
	}
}

// Check sets what passing takes against what is kept.
func (r PassedMemory) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	whole := evidence.WholeRun(c)
	came, hits, err := lookedUp(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	key := func(name string) kasoku.Key { return kasoku.Key{Source: varnish.Name, Name: name} }
	passes, err := whole.Counters().Grown(key(varnish.Passes))
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	held, err := whole.Counters().Gauge(key(varnish.TransientBytes))
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	storage, err := whole.Counters().Gauge(key(varnish.StorageBytes))
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	vcl := vclOf(c.Recording)
	if vcl == nil || vcl.Text == "" {
		return nil, diagnose.Blind(r.ID(), errNoVCL)
	}
	passed, hit := webserver.Ratio(passes.By, came), webserver.Ratio(hits, came)
	switch {
	case came < webserver.FewWebRequests:
		return nil, diagnose.Quiet(r.ID(), came/webserver.FewWebRequests,
			"%s requests came to Varnish; the threshold is %d", diagnose.Whole(came), webserver.FewWebRequests)
	case passed < passedMost:
		return nil, diagnose.Quiet(r.ID(), passed/passedMost, "%s of the requests were passed on; the threshold is %s",
			unit.Percent(passed), unit.Percent(passedMost))
	case passed >= passedShare && hit < hitShare:
		return nil, diagnose.Quiet(r.ID(), 0.5, "%s of the requests hit: what is of no use is the cache (CCH-02)",
			unit.Percent(hit))
	}
	short, ok := shortKept(c, vcl)
	if !ok {
		return nil, diagnose.Quiet(r.ID(), 0,
			"the access log does not say how large the answers are that Varnish keeps for a short time")
	}
	if least := max(leastHeld, storage.Max, encodings*short); held.Max < least {
		return nil, diagnose.Quiet(r.ID(), min(held.Max/least, 0.99),
			"answers that are not kept took %s of Varnish's memory at once, the kept ones %s, and short-lived ones %s at most; "+
				"the threshold is %s", bytesOf(held.Max), bytesOf(storage.Max), bytesOf(encodings*short),
			bytesOf(least))
	}
	return []kasoku.Finding{r.finding(c, passes, held, storage, passed, came)}, nil
}

func bytesOf(v float64) string { return unit.BytesIEC(uint64(min(max(v, 0), 1e18))) }

// shortKept is what one answer for each path takes of those that the VCL may keep for a short time, which transient
// storage holds as well; false where that is not known. Where the VCL sets no ttl the answer's headers may.
func shortKept(c *diagnose.Case, vcl *kasoku.Config) (sum float64, ok bool) {
	_, endpoints := c.FrontLog()
	kept := keptAnswersOf(c, endpoints)
	for i := range endpoints {
		e := &endpoints[i]
		if e.Method != "GET" && e.Method != "HEAD" || e.Count == 0 || kept.to != "" && !kept.comesBy(e) {
			continue
		}
		k, err := webserver.KeepingOf(vcl.Text, examplePath(e.Route))
		if err == nil && k.SetTTL && k.TTL <= 0 {
			continue
		}
		if e.Paths == 0 || e.MaxBytes == 0 && e.Bytes > 0 {
			return 0, false
		}
		sum += float64(e.Paths) * float64(e.MaxBytes)
	}
	return sum, len(endpoints) > 0
}

func (r PassedMemory) finding(c *diagnose.Case, passes diagnose.Grown, held, storage diagnose.Gauge, passed,
	came float64,
) kasoku.Finding {
	whole := evidence.WholeRun(c)
	resident := residentOf(c)
	size := diagnose.Signal{Holds: resident >= held.Max, Lacks: "the memory of its processes is less than that"}
	if resident == 0 {
		size = diagnose.Signal{Blind: "the memory of Varnish's processes was not recorded"}
	}
	gauge := func(g diagnose.Gauge, text, note string) kasoku.Evidence {
		return kasoku.Evidence{Source: varnish.Name, Text: text, Note: note, Value: bytesOf(g.Max), Number: g.Max,
			Strong: true, Series: []kasoku.Key{g.Key}, Interval: c.Whole()}
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "cache", Name: "varnish"},
		Title:      "Varnish holds " + bytesOf(held.Max) + " of answers that it only passes on",
		Clause:     "most of Varnish's memory is of answers that it only passes on",
		Severity:   kasoku.Info,
		Impact:     kasoku.Impact{Share: passed * partOfAll(c, came), Of: "of requests", Estimate: true},
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}, size),
		Evidence: []kasoku.Evidence{
			whole.Quote().Counted(passes, true),
			gauge(held, varnish.TransientBytes, "the most at once, "+bytesOf(held.First)+" at the start"),
			gauge(storage, varnish.StorageBytes, "the most, of answers that it keeps"),
		},
		Cause: fmt.Sprintf("Varnish passed on %s of the requests that came to it, and held up to %s for answers that it does "+
			"not keep, beside %s of those that it keeps. It takes a whole answer from the application and has it in memory "+
			"until the client took all of it; the size of the storage (-s) does not bound that.",
			unit.Percent(passed), bytesOf(held.Max), bytesOf(storage.Max)),
		Fixes: []kasoku.Fix{{
			Text:  "Send only paths through Varnish whose answers it keeps",
			Where: "the web server in front of Varnish", Risk: kasoku.RiskNone,
			Note: "In nginx a location for each such path has proxy_pass to Varnish, and location / to the application. A " +
				"size for the transient storage (-s Transient=malloc,64m) is no way: answers fail where it is full.",
		}},
		Expect:   "Varnish takes up to " + bytesOf(held.Max) + " less, and what is passed on takes no detour",
		Verify:   "repeat the load: MAIN.s_pass and SMA.Transient.g_bytes stay near 0",
		Interval: c.Whole(),
	}
	if resident > 0 {
		f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "process", Text: "memory of Varnish's processes",
			Note: "the most of each, together", Value: bytesOf(resident), Number: resident, Interval: c.Whole()})
	}
	return f
}

// residentOf is the most resident memory of the processes of Varnish; 0 where it was not recorded.
func residentOf(c *diagnose.Case) (sum float64) {
	programs, err := c.Processes().Programs()
	if err != nil {
		return 0
	}
	for _, p := range programs {
		if p.Role != diagnose.Neighbour && p.Role != diagnose.Unknown &&
			(strings.Contains(p.Name, "varnish") || p.Name == "cache-main") {
			sum += p.RSS
		}
	}
	return sum
}
