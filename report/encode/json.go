package encode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recording"
)

// Schema is the version of the JSON. A field that is added leaves it as it is; one
// that changes its meaning or goes makes it the next.
const Schema = 1

// RunJSON writes what a run file holds, in summary: everything but the samples of
// the series, which are in TSV.
func RunJSON(w io.Writer, rec *kasoku.Recording, o report.Options) error {
	return JSON(w, newRun(rec, recording.Show(rec, o)))
}

// ComparisonJSON writes a comparison.
func ComparisonJSON(w io.Writer, c *compare.Comparison) error {
	return JSON(w, newComparison(c))
}

// JSON writes v as all commands do: indented, with <, > and & as they are. Characters
// that act on a terminal are written as \u escapes, which readers of JSON undo.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(escapedControls{lossy{w}})
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}

// lossy adds to an object a field lost_parts when parts of the answer are lost to bugs: JSON
// has no comments, and not every answer a place for warnings. An encoder writes whole
// values.
type lossy struct{ io.Writer }

// Write implements io.Writer.
func (w lossy) Write(b []byte) (int, error) {
	lost := lostParts()
	head, object := bytes.CutSuffix(b, []byte("\n}\n"))
	if len(lost) == 0 || !object {
		return w.Writer.Write(b)
	}
	list, err := json.Marshal(lost)
	if err != nil {
		return 0, err
	}
	if _, err := w.Writer.Write(fmt.Appendf(head[:len(head):len(head)], ",\n  \"lost_parts\": %s\n}\n",
		list)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// escapedControls escapes, in JSON, what encoding/json leaves as it is: DEL, C1 and the
// characters that turn the direction of text. Outside of strings there are none. An
// encoder writes whole values.
type escapedControls struct{ io.Writer }

// Write implements io.Writer.
func (w escapedControls) Write(b []byte) (int, error) {
	if !bytes.ContainsFunc(b, escaped) {
		return w.Writer.Write(b)
	}
	out := make([]byte, 0, len(b)+64)
	for _, r := range string(b) {
		if escaped(r) {
			out = fmt.Appendf(out, "\\u%04x", r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	if _, err := w.Writer.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// escaped reports whether a character is escaped; line ends are the encoder's own.
func escaped(r rune) bool { return r >= 0x20 && logs.ActsOnTerminal(r) }

// A Run is one run.
type Run struct {
	Schema       int            `json:"schema"`
	Kind         string         `json:"kind"` // run
	ID           string         `json:"id"`
	Project      string         `json:"project"`
	Label        string         `json:"label"`
	Note         string         `json:"note,omitempty"`
	Started      time.Time      `json:"started"`
	Length       float64        `json:"length_s"`
	State        string         `json:"state"` // running, finished, incomplete
	StopReason   string         `json:"stop_reason,omitempty"`
	Version      string         `json:"version"`
	Revision     string         `json:"revision,omitempty"`
	Dirty        bool           `json:"dirty"`
	Load         string         `json:"load,omitempty"`
	Group        string         `json:"group,omitempty"`
	Repeat       int            `json:"repeat,omitempty"`
	Base         string         `json:"base,omitempty"` // the run that it is a try upon
	Observers    string         `json:"observers,omitempty"`
	Score        *Score         `json:"score,omitempty"`
	Verdict      string         `json:"verdict"`
	Alerts       []string       `json:"alerts"`
	Hosts        []Host         `json:"hosts"`
	Command      *Command       `json:"command,omitempty"`
	Generator    *Generator     `json:"generator,omitempty"`
	Steps        []Step         `json:"steps"`
	Targets      []AttackTarget `json:"targets"`
	Phases       []Phase        `json:"phases"`
	Findings     []Finding      `json:"findings"`
	Silences     []Silence      `json:"silences"`
	Rules        int            `json:"rules"` // that looked
	Endpoints    []Endpoint     `json:"endpoints"`
	Variants     []Variants     `json:"variants,omitempty"`
	Slowest      []SlowRequest  `json:"slowest"`
	Queries      []Query        `json:"queries"`
	Callers      []Caller       `json:"callers"`
	Joins        []Join         `json:"joins"`
	Traces       []Trace        `json:"traces"`
	Transactions []Transaction  `json:"transactions"`
	Plans        []Plan         `json:"plans"`
	Tables       []TableDef     `json:"tables"`
	Advice       []Advice       `json:"advice"`
	Messages     []Message      `json:"messages"`
	Profiles     []Profile      `json:"profiles"`
	Service      *Service       `json:"service,omitempty"`
	Machines     []Machine      `json:"machines"`
	Logs         []LogWindow    `json:"logs"`
	RowChecks    []RowCheck     `json:"row_checks"`
	Settings     []Setting      `json:"settings"`
	Configs      []Config       `json:"configs"`
	Changes      []Change       `json:"changes"`
	Gaps         []Gap          `json:"gaps"`
	Events       []Event        `json:"events"`
	Warnings     []Warning      `json:"warnings"`
	Observer     *Observer      `json:"observer,omitempty"`
	Damage       []string       `json:"damage"`
}

// A Host is one observed machine.
type Host struct {
	Name   string `json:"name"`
	Cores  int    `json:"cores"`
	Memory uint64 `json:"memory_bytes"`
	OS     string `json:"os,omitempty"`
	Kernel string `json:"kernel,omitempty"`
	Arch   string `json:"arch,omitempty"`
	BootID string `json:"boot_id,omitempty"`
}

// A Command is the recorded child process.
type Command struct {
	Args      []string `json:"args"`
	ExitCode  int      `json:"exit_code"`
	Signal    string   `json:"signal,omitempty"`
	Wall      float64  `json:"wall_s"`
	User      float64  `json:"user_s"`
	System    float64  `json:"system_s"`
	MaxRSS    uint64   `json:"max_rss_bytes"`
	Voluntary uint64   `json:"voluntary_switches"`
	Forced    uint64   `json:"forced_switches"`
	Output    string   `json:"output,omitempty"`
}

// A Generator is what made the load.
type Generator struct {
	Engine       string   `json:"engine"`
	EngineWhy    string   `json:"engine_why,omitempty"`
	Model        string   `json:"model"`
	Pacing       string   `json:"pacing,omitempty"`
	Targets      []string `json:"targets"`
	MaxInFlight  int      `json:"max_in_flight"`
	PeakInFlight int      `json:"peak_in_flight"`
	Shards       int      `json:"shards,omitempty"`
	Connections  uint64   `json:"connections,omitempty"`
	Resent       uint64   `json:"resent,omitempty"`
	Redirected   uint64   `json:"redirected,omitempty"`
	CPU          float64  `json:"cpu_s"`
	Wall         float64  `json:"wall_s"`
	Cores        int      `json:"cores,omitempty"`
	PeakCores    float64  `json:"peak_cores,omitempty"`
	Stopped      string   `json:"stopped,omitempty"`
}

// A Step is one step of the load.
type Step struct {
	Number   int      `json:"number"`
	PerSec   *float64 `json:"asked_per_s"`              // null without an asked rate
	PerSecTo *float64 `json:"asked_to_per_s,omitempty"` // of a ramp
	From     float64  `json:"from_s"`
	To       float64  `json:"to_s"`
	Planned  float64  `json:"planned_s"`
	Partial  bool     `json:"partial"`
	Reached  *float64 `json:"reached_per_s"`
	Counts
}

// Counts are what came of requests.
type Counts struct {
	Requests     uint64            `json:"requests"`
	Success      uint64            `json:"success"`
	Failed       uint64            `json:"failed"`
	Refused      uint64            `json:"refused,omitempty"`
	Expected     uint64            `json:"expected,omitempty"`
	SuccessRatio float64           `json:"success_ratio"`
	Codes        map[string]uint64 `json:"codes"`
	Errors       []ErrorCount      `json:"errors"`
	BytesIn      uint64            `json:"bytes_in"`
	BytesOut     uint64            `json:"bytes_out"`
	Latency      *Distribution     `json:"latency"`
	SendDelay    *Distribution     `json:"send_delay"`
	Service      *Distribution     `json:"service"`
}

func newCounts(t *kasoku.Tally) Counts {
	return Counts{
		Requests: t.Asked, Success: t.Success, Failed: t.Failed(), Refused: t.Refused,
		Expected: t.Expected, SuccessRatio: rounded(t.SuccessRatio()), Codes: codes(t.Codes),
		Errors:  list(t.TopErrors(), func(e *kasoku.ErrorCount) ErrorCount { return ErrorCount{e.Message, e.Count} }),
		BytesIn: t.BytesIn, BytesOut: t.BytesOut,
		Latency: distribution(t.Latency), SendDelay: distribution(t.SendDelay), Service: distribution(t.Service),
	}
}

// An ErrorCount is a message and how often it came.
type ErrorCount struct {
	Message string `json:"message"`
	Count   uint64 `json:"count"`
}

// A Distribution summarizes durations.
type Distribution struct {
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean_s"`
	Min   float64 `json:"min_s"`
	P50   float64 `json:"p50_s"`
	P90   float64 `json:"p90_s"`
	P95   float64 `json:"p95_s"`
	P99   float64 `json:"p99_s"`
	P999  float64 `json:"p999_s"`
	Max   float64 `json:"max_s"`
}

func distribution(h *histogram.Histogram) *Distribution {
	if h.Count() == 0 {
		return nil
	}
	q := func(p float64) float64 { return h.Quantile(p).Seconds() }
	return &Distribution{h.Count(), h.Mean().Seconds(), h.Min().Seconds(), q(0.5), q(0.9), q(0.95), q(0.99), q(0.999),
		h.Max().Seconds()}
}

// A Finding is one cause.
type Finding struct {
	Number     int        `json:"number"`
	ID         string     `json:"id"`
	Object     Object     `json:"object"`
	Title      string     `json:"title"`
	Clause     string     `json:"clause,omitempty"`
	Severity   string     `json:"severity"` // finding, info
	Confidence Confidence `json:"confidence"`
	Impact     Impact     `json:"impact"`
	Risk       string     `json:"risk"`
	Cause      string     `json:"cause"`
	Evidence   []Evidence `json:"evidence"`
	Fixes      []Fix      `json:"fixes"`
	Expect     string     `json:"expect,omitempty"`
	Verify     string     `json:"verify,omitempty"`
	Explains   []string   `json:"explains"`
	From       float64    `json:"from_s"`
	To         float64    `json:"to_s"`
}

// An Object is what a finding is about.
type Object struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Confidence is how sure a finding is.
type Confidence struct {
	Level string `json:"level"` // high, medium, low
	Holds int    `json:"holds"`
	Of    int    `json:"of"`
	Note  string `json:"note,omitempty"`
}

// Impact is the share that would go.
type Impact struct {
	Share    float64  `json:"share_ratio"`
	Of       string   `json:"of"`
	Estimate bool     `json:"estimate"`
	Shared   []string `json:"shared"`
}

// Evidence is one quoted fact.
type Evidence struct {
	Source string  `json:"source"`
	Text   string  `json:"text"`
	Note   string  `json:"note,omitempty"`
	Value  string  `json:"value"`
	Number float64 `json:"number"`
	Strong bool    `json:"strong"`
	From   float64 `json:"from_s"`
	To     float64 `json:"to_s"`
}

// A Fix is one thing to do.
type Fix struct {
	Text  string `json:"text,omitempty"`
	Where string `json:"where,omitempty"`
	Code  string `json:"code,omitempty"`
	Lang  string `json:"lang,omitempty"`
	Note  string `json:"note,omitempty"`
	Risk  string `json:"risk"`
}

// A Silence is why a rule did not speak.
type Silence struct {
	ID     string  `json:"id"`
	Reason string  `json:"reason"`
	Near   float64 `json:"near_ratio"`
	Blind  bool    `json:"blind"`
}

// A Message is a class of lines of the application's log.
type Message struct {
	Host    string  `json:"host,omitempty"`
	Path    string  `json:"path"`
	Kind    string  `json:"kind,omitempty"` // nginx: its error log; benchmark: what made the load; else an application
	Pattern string  `json:"pattern"`
	Sample  string  `json:"sample"`
	Level   string  `json:"level,omitempty"`
	Code    string  `json:"code,omitempty"`
	Count   uint64  `json:"count"`
	Bytes   uint64  `json:"bytes"`
	First   float64 `json:"first_s"`
	Last    float64 `json:"last_s"`
}

// A LogWindow is the part of a log that was read.
type LogWindow struct {
	Kind      string `json:"kind"`
	Path      string `json:"path"`
	Format    string `json:"format,omitempty"`
	Lines     uint64 `json:"lines"`
	Records   uint64 `json:"records"`
	Continued uint64 `json:"continued"`
	Blank     uint64 `json:"blank"`
	Dropped   uint64 `json:"dropped"`
	Note      string `json:"note,omitempty"`
}

// A RowCheck compares rows with answers.
type RowCheck struct {
	Table     string `json:"table"`
	Added     int64  `json:"rows_added"`
	Successes uint64 `json:"successes"`
	Matches   bool   `json:"rows_match"`
}

// A Setting is one value in force.
type Setting struct {
	Host  string `json:"host,omitempty"`
	Scope string `json:"scope"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Change is what kasoku altered.
type Change struct {
	Object   string `json:"object"`
	Name     string `json:"name"`
	Before   string `json:"before"`
	During   string `json:"during"`
	Restored bool   `json:"restored"`
	Note     string `json:"note,omitempty"`
}

// A Gap is what a source missed.
type Gap struct {
	Source string  `json:"source"`
	From   float64 `json:"from_s"`
	To     float64 `json:"to_s"`
	Reason string  `json:"reason"`
}

// An Event is a moment.
type Event struct {
	At   float64 `json:"at_s"`
	Kind string  `json:"kind"`
	Text string  `json:"text"`
}

// A Warning limits the result.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

// A Score is what the benchmark, or a person, said that the run was worth.
type Score struct {
	Value   float64 `json:"value"`
	Outcome string  `json:"outcome"` // pass, fail or empty
	Source  string  `json:"source"`

	Requests uint64 `json:"requests,omitempty"` // that the benchmark counted
	Failures uint64 `json:"failures,omitempty"` // of them
}

// A Phase is a stretch in which the traffic was of one kind.
type Phase struct {
	Kind string  `json:"kind"`
	From float64 `json:"from_s"`
	To   float64 `json:"to_s"`
	Why  string  `json:"why"`
}

// An Observer is what kasoku itself took.
type Observer struct {
	CPU       float64            `json:"cpu_s"`
	CoreRatio float64            `json:"core_ratio"` // CPU time over the length of the run
	Memory    *uint64            `json:"memory_bytes"`
	Read      *uint64            `json:"disk_read_bytes"`
	Written   *uint64            `json:"disk_written_bytes"`
	Sources   map[string]float64 `json:"sources_cpu_s"`
}
