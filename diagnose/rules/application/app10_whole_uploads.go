package application

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/process"
)

// WholeUploads is the rule APP-10.
type WholeUploads struct{}

// Thresholds of APP-10.
const (
	largeUpload = 1 << 20 // bytes of the longest request of an endpoint
	wholeShare  = 0.3     // of what the program allocates
	// wholeBytes is the least part of what was uploaded that the function allocates: what is read whole
	// is allocated once at least, and more often while it grows.
	wholeBytes = 0.9
	fewUploads = 20        // while the profile was taken, too few
	muchGrown  = 128 << 20 // bytes by which the process grew that are more than a remark
)

// ID returns APP-10.
func (WholeUploads) ID() string { return "APP-10" }

// Doc describes the rule.
func (WholeUploads) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds uploads that a program in Go reads whole into memory.`,
		Evidence: `an endpoint takes requests of 1 MiB and more, at least 20 while the profile was taken; of
			what the program allocated meanwhile, io.ReadAll, bytes.Buffer.ReadFrom or the like has 30 % and
			more, and at least as much as came in as uploads.`,
		Cause: `each upload under way is in memory at once, several times while its buffer grows: the process
			grows by size × uploads in flight, and the collector works for it.`,
		Fix: `what comes is copied on as it comes, through a buffer of some kilobytes.`,
		Silent: `below the thresholds; blind without a profile of allocations ([service] pprof), or an access
			log with the length of requests. A remark where the process grew by less than 128 MiB.`,
	}
}

// readers are functions that read all there is into memory. Those that call one another are one.
var readers = []string{"io.ReadAll", "io/ioutil.ReadAll", "bytes.(*Buffer).ReadFrom"}

// A wholeRead is what a program allocates to read uploads.
type wholeRead struct {
	profile  *kasoku.Profile
	reader   kasoku.ProfileFunction
	caller   string           // the program's own function; empty when the profile does not say
	endpoint *kasoku.Endpoint // of the longest uploads
	uploads  float64          // while the profile was taken
	bytes    float64          // of them
}

// share is the part of what the program allocated.
func (w *wholeRead) share() float64 { return min(w.profile.Share(w.reader.Cum), 1) }

// near is how near that is to what counts, 1 and more when it does.
func (w *wholeRead) near() float64 {
	return min(w.share()/wholeShare, float64(w.reader.Cum)/max(wholeBytes*w.bytes, 1), w.uploads/fewUploads)
}

// Check sets what is allocated to read against what was uploaded.
func (r WholeUploads) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	isAllocs := func(p kasoku.Profile) bool { return p.Kind == kasoku.ProfileAllocs && p.Unit == "bytes" }
	if !slices.ContainsFunc(c.Profiles, isAllocs) {
		return nil, diagnose.Blind(r.ID(), errors.New("no profile of a program's allocations was taken"))
	}
	endpoints, _, _, err := webserver.FrontEndpoints(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	e := longestUploads(endpoints)
	if e == nil {
		return nil, diagnose.Blind(r.ID(), errors.New("the access log has no length of a request that sends something"))
	}
	if e.MaxRequestBytes < largeUpload {
		return nil, diagnose.Quiet(r.ID(), float64(e.MaxRequestBytes)/largeUpload,
			"the longest request, of %s, has %s; the threshold is %s", webserver.EndpointName(e),
			unit.Bytes(e.MaxRequestBytes), unit.Bytes(largeUpload))
	}
	var best *wholeRead
	for i := range c.Profiles {
		if p := &c.Profiles[i]; isAllocs(*p) && p.Total > 0 {
			w := wholeReadOf(p, e)
			if best == nil || w.near() > best.near() {
				best = &w
			}
		}
	}
	if best == nil || best.near() < 1 {
		near := 0.0
		if best != nil {
			near = best.near()
		}
		return nil, diagnose.Quiet(r.ID(), near, "%s has requests of up to %s, and what reads all there is into memory is "+
			"%s of what the program allocates; the threshold is %s", webserver.EndpointName(e),
			unit.Bytes(e.MaxRequestBytes), shareOf(best), unit.Percent(wholeShare))
	}
	return []kasoku.Finding{r.finding(c, best)}, nil
}

// shareOf writes the share of what may be none.
func shareOf(w *wholeRead) string {
	if w == nil {
		return "nothing"
	}
	return unit.Percent(w.share())
}

// longestUploads returns the endpoint that takes the longest requests; nil where no length is known.
func longestUploads(endpoints []kasoku.Endpoint) (longest *kasoku.Endpoint) {
	for i := range endpoints {
		e := &endpoints[i]
		sends := slices.Contains([]string{"POST", "PUT", "PATCH"}, e.Method) && webserver.IsPassed(e)
		if sends && e.MaxRequestBytes > 0 && (longest == nil || e.MaxRequestBytes > longest.MaxRequestBytes) {
			longest = e
		}
	}
	return longest
}

func wholeReadOf(p *kasoku.Profile, e *kasoku.Endpoint) wholeRead {
	w := wholeRead{profile: p, endpoint: e}
	inSecond := func(s int) float64 { return float64(e.Seconds[s].Count) }
	w.uploads = requestsBetween(inSecond, p.Interval.From, p.Interval.To)
	w.bytes = w.uploads * float64(e.RequestBytes) / float64(max(e.Count, 1))
	for _, f := range p.Functions {
		if slices.Contains(readers, f.Name) && f.Cum > w.reader.Cum {
			w.reader = f
		}
	}
	least := int64(0)
	for _, f := range p.Functions { // the nearest function that is no library's is the one that calls it
		if f.Cum >= w.reader.Cum && isOwn(f.Name) && (least == 0 || f.Cum < least) {
			w.caller, least = f.Name, f.Cum
		}
	}
	return w
}

// isOwn reports whether a function is of the program's main package or of a module with a host's name, not of
// Go's own library.
func isOwn(name string) bool {
	root, _, more := strings.Cut(name, "/")
	return strings.HasPrefix(name, "main.") || more && strings.Contains(root, ".")
}

// streams copies an upload to a file in a program in Go.
//
// Source: package mime/multipart, "Reader": NextPart; package io, "Copy".
const streams = "- data, err := io.ReadAll(part)\n- err = os.WriteFile(path, data, 0o644)\n" +
	"+ f, err := os.Create(path)\n+ _, err = io.Copy(f, part) // 32 kB at a time\n+ err = errors.Join(err, f.Close())"

func (r WholeUploads) finding(c *diagnose.Case, w *wholeRead) kasoku.Finding {
	name := webserver.EndpointName(w.endpoint)
	grown, key := grownBy(c, w.profile.Program)
	inFlight := w.endpoint.Total.Seconds() / max(c.Whole().Len().Seconds(), 1)
	severity := kasoku.Info
	if grown >= muchGrown {
		severity = kasoku.Problem
	}
	fix := kasoku.Fix{Text: "Copy what is uploaded to where it belongs as it comes", Risk: kasoku.RiskAppRestart,
		Where: evidence.HandlerOf(name),
		Note: "A form's file is a stream before the form is parsed. nginx holds bodies back, on its disk, until they are " +
			"there: with proxy_request_buffering off they come as they are sent."}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: name}, Severity: severity,
		Title:  evidence.EndpointTitle(name, " holds uploads in memory"),
		Impact: kasoku.Impact{Share: w.share(), Of: "of what the program allocates"},
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: w.caller != "", Lacks: "the profile does not say what calls it"},
			diagnose.Signal{Holds: w.uploads >= 2*fewUploads, Lacks: "few came while the profile was taken"}),
		Evidence: []kasoku.Evidence{{
			Source: "profile", Text: "allocated by " + w.reader.Name, Note: unit.Percent(w.share()) + " of all",
			Value: unit.Bytes(uint64(w.reader.Cum)), Number: float64(w.reader.Cum), Strong: true,
			Interval: w.profile.Interval,
		}, {
			Source: "access", Text: "uploaded meanwhile to " + name,
			Note: fmt.Sprintf("%s requests, the longest %s", diagnose.Whole(w.uploads),
				unit.Bytes(w.endpoint.MaxRequestBytes)),
			Value: unit.Bytes(uint64(w.bytes)), Number: w.bytes, Strong: true, Interval: w.profile.Interval,
		}},
		Cause: fmt.Sprintf("While %s were uploaded, %s of %s allocated %s: each upload is in memory as a whole, and again "+
			"while its buffer grows. The process grows by size × uploads in flight, here %s × %s on average.",
			unit.Bytes(uint64(w.bytes)), w.reader.Name, wording.OrMissing(w.profile.Program),
			unit.Bytes(uint64(w.reader.Cum)),
			unit.Bytes(w.endpoint.RequestBytes/max(w.endpoint.Count, 1)), unit.Sig3(inFlight)),
		Fixes:  []kasoku.Fix{language.Snippet(c, fix, language.Go, streams)},
		Expect: fmt.Sprintf("%s less is allocated", unit.Percent(w.share())),
		Verify: "repeat the load: the profile of allocations has no such function, and the process grows less",

		Interval: c.Focus.Interval,
	}
	if w.caller != "" {
		f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "profile", Text: "called by " + w.caller,
			Value: w.profile.Program, Interval: w.profile.Interval})
	}
	if grown > 0 {
		f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "process",
			Text:  "memory of " + key.Instance + ", grown by",
			Value: unit.Bytes(uint64(grown)), Number: grown, Series: []kasoku.Key{key}, Interval: c.Whole()})
	}
	return f
}

// grownBy returns by how much the memory of a program's process grew at most, and its series.
func grownBy(c *diagnose.Case, program string) (most float64, key kasoku.Key) {
	for _, s := range c.FindAll(diagnose.Process, process.RSS) {
		_, name, _ := strings.Cut(s.Key.Instance, " ")
		if name != program || program == "" || c.Processes().MemberOf(s.Key) == nil && c.Service != nil {
			continue
		}
		var first, peak float64
		for i, p := range s.Points {
			if i == 0 || p.At < time.Second && p.Value < first {
				first = p.Value
			}
			peak = max(peak, p.Value)
		}
		if peak-first > most {
			most, key = peak-first, s.Key
		}
	}
	return most, key
}
