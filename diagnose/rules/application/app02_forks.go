package application

import (
	"fmt"
	"math"
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
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/process"
)

// Forks is the rule APP-02.
type Forks struct{}

// Thresholds of APP-02.
const (
	forksPerSecond  = 5
	forksPerRequest = 0.05
	forksOfEndpoint = 0.5
	// fewRequests of an endpoint say too little of what starts with them.
	fewRequests = 20
	// forksFollow is the correlation by the second from which requests explain starts,
	// and forksLead how much more that of the endpoint must be than the next one's:
	// under a load that only rises and falls, all endpoints go with it.
	forksFollow = 0.9
	forksLead   = 0.1
	// childCPU is the least CPU, in cores, of children that a program waited for that counts:
	// at forksPerSecond it is 0.4 ms for each, less than the start of one costs.
	childCPU = 0.002
	// forksStretch is the length of the stretches of which four in five must have a start, and
	// waitFollow the least correlation by the second of requests with the CPU of children, for
	// a program to start others for requests.
	forksStretch = 3 * time.Second
	waitFollow   = 0.5
	// forkCost is an estimate of starting a small program and waiting for its end.
	forkCost = time.Millisecond
)

// ID returns APP-02.
func (Forks) ID() string { return "APP-02" }

// Doc describes the rule.
func (Forks) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds requests that start programs.`,
		Evidence: `the host starts at least 5 processes or threads a second under load and at least one
			for every twenty requests. A trace shows the endpoint whose requests start 5 programs a second, and
			which programs; else a program of the service waits for them (the CPU of its children grows
			all the time, and with the requests); where no process was recorded, an endpoint's requests go
			with them by the second.`,
		Cause: `the handler runs cp, zip or a shell for each file; each costs a fork, an exec and its end,
			and copies what a hard link would share.`,
		Fix: `do it in the process: a link for a copy, the language's zip for zip; where the endpoint's name says
			that people log in there, the language's own hash of what they type.`,
		Silent: `below the thresholds, and when none waits, or does so without requests too: builds and
			jobs beside the service start programs as well; blind where the host's count was not recorded, no
			requests were counted, or the processes of the service are not known.`,
		Host: []diagnose.Pressure{diagnose.OnCPU},
	}
}

// Check sets the host's forks against the requests.
func (r Forks) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	g, err := c.Counters().Grown(kasoku.Key{Source: diagnose.Host, Name: host.Forks})
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if !c.Knows(g.Key.Host) {
		return nil, diagnose.Blind(r.ID(), diagnose.ErrNoService)
	}
	n, err := c.Requests(g.Interval)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	perSec, perRequest := g.By/g.Interval.Len().Seconds(), webserver.Ratio(g.By, float64(n.Count))
	if perSec < forksPerSecond || perRequest < forksPerRequest {
		return nil, diagnose.Quiet(r.ID(), min(perSec/forksPerSecond, perRequest/forksPerRequest),
			"the host started %s processes or threads a second, %s for each request; the thresholds are %d and %s",
			unit.Sig3(perSec), unit.Sig3(perRequest), forksPerSecond, unit.Plain(forksPerRequest))
	}
	parent, err := forkingProgram(c, c.RequestsBySecond(n.Source))
	e, follow := forkingEndpoint(c, g, parent)
	traced, logged := startsOf(c), true
	if traced != nil {
		e, logged = traced.endpoint(c)
	}
	switch {
	case traced != nil:
	case err == nil && parent.Key.Name == "":
		return nil, diagnose.Quiet(r.ID(), forksFollow,
			"the host started %s processes or threads a second, but no program of the service waits for them, more with "+
				"more requests", unit.Sig3(perSec))
	case err != nil && e == nil:
		return nil, diagnose.Quiet(r.ID(), forksFollow,
			"the host started %s processes or threads a second; %v, and no endpoint's requests go with them",
			unit.Sig3(perSec), err)
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "process", Name: programOf(parent)}, Title: "Requests start programs",
		Severity: kasoku.Problem,
		Impact:   webserver.SavedTime(c, startCost(g, parent, traced, e), true),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: parent.Key.Name != "" || traced != nil,
				Lacks: "no program of the service waits for them"},
			diagnose.Signal{Holds: e != nil,
				Lacks: "its requests do not go with the starts by the second, as under a load that does not change"},
			r.counted(perRequest, traced)),
		Evidence: []kasoku.Evidence{c.Quote().Counted(g, true), {
			Source: "host", Text: "processes and threads started a second",
			Note: unit.Sig3(perRequest) + " for each request", Value: unit.Sig3(perSec), Number: perSec, Strong: true,
			Series: []kasoku.Key{g.Key}, Interval: c.Focus.Interval,
		}},
		Cause: fmt.Sprintf("%s the host started %s processes or threads a second, %s for each request. A program that "+
			"is run for a file costs about a millisecond of CPU beside its work.",
			wording.Capital(c.At()), unit.Sig3(perSec), unit.Sig3(perRequest)),
		Fixes:  []kasoku.Fix{r.fix(c, e, traced)},
		Expect: "no process is started for a request", Verify: "repeat the load: forks of the host stay near zero",
		Interval: c.Focus.Interval,
	}
	if parent.Key.Name != "" {
		x := c.Quote().Counted(parent, true)
		x.Text, x.Value = "CPU of programs that "+wording.Process(parent.Key.Instance)+" waited for",
			unit.Sig3(parent.By)+" s"
		f.Evidence = append(f.Evidence, x)
	}
	if e != nil {
		f.Object, f.Title = kasoku.Object{Kind: "endpoint", Name: webserver.EndpointName(e)},
			"A handler starts programs for its requests"
		if logged {
			f.Evidence = append(f.Evidence, webserver.RequestCount(c, e))
		}
	}
	switch {
	case traced != nil:
		f.Evidence, f.Cause = append([]kasoku.Evidence{traced.evidence()}, f.Evidence...), traced.cause()
	case e != nil:
		f.Evidence = append(f.Evidence, kasoku.Evidence{
			Source: "access", Text: "correlation of its requests with the starts, by the second",
			Value: unit.Sig3(follow), Number: follow, Interval: c.Focus.Interval,
		})
	}
	return []kasoku.Finding{f}, nil
}

// inProcess is how a program links a file where it ran cp, by language.
//
// Sources: Go, os.Link; PHP manual, link; Python, os.link; Ruby, File.link; Node.js, fsPromises.link;
// Java, Files.createLink.
var inProcess = map[string]kasoku.Fix{
	language.Go: {Lang: "go", Code: "- exec.Command(\"cp\", from, to).Run()\n+ os.Link(from, to) // no copy; the " +
		"file must not be changed in place",
		Note: "For archives: archive/zip with Store for what is packed already, made once and kept where the files do " +
			"not change."},
	language.PHP: {Lang: "php", Code: "- exec('cp ' . escapeshellarg($from) . ' ' . escapeshellarg($to));\n+ " +
		"link($from, $to); // no copy; the file must not be changed in place",
		Note: "For archives: ZipArchive."},
	language.Python: {Lang: "python", Code: "- subprocess.run([\"cp\", source, target])\n+ os.link(source, target)  " +
		"# no copy; the file must not be changed in place",
		Note: "For archives: zipfile with ZIP_STORED for what is packed already."},
	language.Ruby: {Lang: "ruby", Code: "- system(\"cp\", from, to)\n+ File.link(from, to) # no copy; the file must " +
		"not be changed in place",
		Note: "For archives: rubyzip."},
	language.JavaScript: {Lang: "javascript", Code: "- execFileSync(\"cp\", [from, to])\n+ await " +
		"fs.promises.link(from, to) // no copy; the file must not be changed in place",
		Note: "For archives: a library such as yazl, without compression for what is packed already."},
	language.Java: {Lang: "java", Code: "- new ProcessBuilder(\"cp\", from, to).start().waitFor();\n+ " +
		"Files.createLink(Path.of(to), Path.of(from)); // no copy; the file must not be changed in place",
		Note: "For archives: ZipOutputStream."},
	language.Unknown: {Note: "A link for a copy, the language's own library for an archive."},
}

// ownHash is how a program hashes what it hashed with openssl, by language: the same bytes in,
// the same digits out.
//
// Sources: Go, crypto/sha512; PHP manual, hash; Python, hashlib; Ruby, Digest; Node.js, crypto;
// Java, MessageDigest.
var ownHash = map[string]kasoku.Fix{
	language.Go: {Lang: "go", Code: "- exec.Command(\"/bin/sh\", \"-c\", \"printf %s \"+text+\" | openssl dgst " +
		"-sha512\")\n+ fmt.Sprintf(\"%x\", sha512.Sum512([]byte(text)))"},
	language.PHP: {Lang: "php", Code: "- exec('printf %s ' . escapeshellarg($text) . ' | openssl dgst " +
		"-sha512');\n+ hash('sha512', $text)"},
	language.Python: {Lang: "python", Code: "- subprocess.check_output([\"openssl\", \"dgst\", \"-sha512\"], " +
		"input=text)\n+ hashlib.sha512(text).hexdigest()"},
	language.Ruby: {Lang: "ruby", Code: "- `printf %s #{text} | openssl dgst -sha512`\n+ " +
		"Digest::SHA512.hexdigest(text)"},
	language.JavaScript: {Lang: "javascript", Code: "- execFileSync(\"openssl\", [\"dgst\", \"-sha512\"], { input: " +
		"text })\n+ crypto.createHash(\"sha512\").update(text).digest(\"hex\")"},
	language.Java: {Lang: "java", Code: "- new ProcessBuilder(\"openssl\", \"dgst\", \"-sha512\").start();\n+ " +
		"HexFormat.of().formatHex(MessageDigest.getInstance(\"SHA-512\").digest(text.getBytes(UTF_8)))"},
	language.Unknown: {},
}

// loginWords, as words of a route, say that people log in or register there.
var loginWords = []string{"login", "log_in", "signin", "sign_in", "signup", "sign_up", "register", "session",
	"sessions", "password", "auth"}

// logsIn reports whether a part of a route is one of them.
func logsIn(route string) bool {
	parts := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(route, "-", "_")),
		func(r rune) bool { return r == '/' || r == '.' })
	return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(loginWords, p) })
}

// counted says whether starts are those of requests.
func (Forks) counted(perRequest float64, traced *tracedStarts) diagnose.Signal {
	if traced != nil {
		return diagnose.Signal{Holds: !traced.few, Lacks: "few such requests were traced"}
	}
	return diagnose.Signal{Holds: perRequest >= 4*forksPerRequest,
		Lacks: "threads and other programs of the host count too"}
}

// sameHash is what to mind when a program's hash is made in the process.
const sameHash = "Take the hash that is used now, or no one can log in: compare one with what is stored. A fast hash " +
	"without work is none for passwords; a slow one (bcrypt, Argon2) is meant to cost CPU, and stays."

// fix is what to do instead of starting a program, for the endpoint that starts it where that is
// known.
func (Forks) fix(c *diagnose.Case, e *kasoku.Endpoint, traced *tracedStarts) kasoku.Fix {
	f, where := language.Pick(c, inProcess), "the handler"
	f.Text = "Do in the process what the program does"
	if e != nil {
		where = "the handler of " + webserver.EndpointName(e)
		switch {
		case traced != nil:
			f = traced.fix(c)
		case logsIn(e.Route):
			f = language.Pick(c, ownHash)
			f.Text = "If the program hashes what is typed, hash in the process"
			f.Note = strings.TrimSpace(f.Note + " Which program is started is not in the run. " + sameHash)
		}
	}
	f.Where, f.Risk = where, kasoku.RiskAppRestart
	return f
}

// forkingProgram returns the CPU of the children that a member of the service waited for, of
// the one with the most. Databases, and those that wait as much without requests are left out.
// It has no name when there is none; it fails when no process was recorded, and when no member
// is known.
func forkingProgram(c *diagnose.Case, requests map[int]float64) (most diagnose.Grown, err error) {
	programs, err := c.Processes().Members()
	if err != nil {
		return most, err
	}
	for _, p := range programs {
		if p.Role != diagnose.Other {
			continue
		}
		for _, k := range p.Keys {
			k.Name = process.CPUChildren
			g, err := c.Counters().Grown(k)
			if err == nil && g.By > most.By && g.By >= childCPU*g.Interval.Len().Seconds() &&
				withRequests(c, g, requests) {
				most = g
			}
		}
	}
	return most, nil
}

// withRequests reports whether a counter grew all through its interval, and over the
// whole run by the second as requests came: a build or a job beside the service does
// not. Under a load that never changes only the former can be seen.
func withRequests(c *diagnose.Case, g diagnose.Grown, requests map[int]float64) bool {
	s := c.Find(g.Key)
	var came, grown []float64
	grew := make([]bool, max(int(g.Interval.Len()/forksStretch), 1))
	for k := 1; k < len(s.Points); k++ {
		a, b := s.Points[k-1], s.Points[k]
		by := kasoku.Growth(a.Value, b.Value)
		if a.At >= g.Interval.From && b.At <= g.Interval.To {
			n := min(int((a.At-g.Interval.From)/forksStretch), len(grew)-1)
			grew[n] = grew[n] || by > 0
		}
		took := (b.At - a.At).Seconds()
		came = append(came, requestsBetween(func(s int) float64 { return requests[s] }, a.At, b.At)/took)
		grown = append(grown, by/took)
	}
	missed := 0
	for _, did := range grew {
		if !did {
			missed++
		}
	}
	if missed > len(grew)/5 {
		return false
	}
	unchanged := slices.Min(came) >= slices.Max(came)/2
	return unchanged || correlate(came, grown) >= waitFollow
}

// forkingEndpoint returns the endpoint whose requests by the second go best with
// the CPU of the service's children, where that is not known with what the host
// starts, and the correlation. Under a load that does not change none does.
func forkingEndpoint(c *diagnose.Case, starts, children diagnose.Grown) (best *kasoku.Endpoint, follow float64) {
	of := starts
	if children.Key.Name != "" {
		of = children
	}
	s, next := c.Find(of.Key), 0.0
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		e := &endpoints[i]
		var x, y []float64
		var requests float64
		for k := 1; k < len(s.Points); k++ {
			a, b := s.Points[k-1], s.Points[k]
			came := requestsBetween(func(s int) float64 { return float64(e.Seconds[s].Count) }, a.At, b.At)
			x, y = append(x, came), append(y, kasoku.Growth(a.Value, b.Value))
			requests += came
		}
		if e.Count < fewRequests || webserver.Ratio(starts.By, requests) < forksOfEndpoint {
			continue
		}
		if v := correlate(x, y); len(x) >= evidence.EnoughSeconds && v > follow {
			best, follow, next = e, v, follow
		} else {
			next = max(next, v)
		}
	}
	if follow < forksFollow || follow-next < forksLead {
		return nil, 0
	}
	return best, follow
}

// startCost estimates what the starts cost: not more than the CPU of all programs that a member
// waited for, as the host's count has those of others too.
func startCost(starts, children diagnose.Grown, traced *tracedStarts, e *kasoku.Endpoint) time.Duration {
	cost := time.Duration(starts.By) * forkCost
	if traced != nil {
		cost = traced.cost(e)
	}
	if children.Key.Name == "" {
		return cost
	}
	return min(cost, time.Duration(children.By*float64(time.Second)))
}

// programOf is the name of the program that a figure of a process is of.
func programOf(g diagnose.Grown) string {
	_, name, _ := strings.Cut(g.Key.Instance, " ")
	return name
}

// requestsBetween returns how many requests came between two offsets, of each second
// its part.
func requestsBetween(inSecond func(second int) float64, from, to time.Duration) float64 {
	var n float64
	for s := int(from / time.Second); time.Duration(s)*time.Second < to; s++ {
		in := min(to, time.Duration(s+1)*time.Second) - max(from, time.Duration(s)*time.Second)
		n += in.Seconds() * inSecond(s)
	}
	return n
}

// correlate returns Pearson's coefficient, 0 where one of them does not change.
func correlate(x, y []float64) float64 {
	n := float64(len(x))
	var mx, my, xx, yy, xy float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
		xy += (x[i] - mx) * (y[i] - my)
	}
	if xx*yy <= 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}
