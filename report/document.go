package report

import (
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
)

// A Kind is what a document is about.
type Kind string

// The kinds.
const (
	KindRun      Kind = "run"
	KindCompare  Kind = "compare"
	KindStory    Kind = "story"
	KindFinalize Kind = "finalize" // the end of a contest, checked
	KindDoctor   Kind = "doctor"   // what a run can see here
	KindLab      Kind = "lab"      // what a lab's variants came to

	KindAccessLog Kind = "accesslog" // what access logs hold
	KindSlowLog   Kind = "slowlog"   // what logs of statements hold
	KindLogDiff   Kind = "diff"      // the difference of two logs
	KindDigests   Kind = "digests"   // what a server counted of its statements
	KindPlans     Kind = "plans"     // how a server runs statements
	KindProbe     Kind = "probe"     // what endpoints run that were asked alone
	KindAnswers   Kind = "answers"   // golden answers that were kept, or compared
	KindTry       Kind = "try"       // what one change did to a probe's statements
	KindAutopilot Kind = "autopilot" // what many changes did to a score
	KindProfile   Kind = "profile"   // where processes spent their time, without a run
	KindAttack    Kind = "attack"    // what a load came to that was made outside of a run
	KindList      Kind = "list"      // a list of runs
	KindFleet     Kind = "fleet"     // the hosts of a fleet
)

// Prose is text of kasoku's own, in which `backticks` mark code.
type Prose string

// A Tone is what a word or a number means, for outputs that can colour it. It is
// never the only carrier: the word says it too.
type Tone string

// The tones.
const (
	Plain  Tone = ""
	Dim    Tone = "dim"
	Strong Tone = "strong"
	Good   Tone = "good"
	Bad    Tone = "bad"
	Mark   Tone = "mark" // evidence and warnings
)

// A Document is a report, ready to be written.
type Document struct {
	Kind     Kind
	Title    string // userapi before
	Project  string
	Name     string   // before; before → after
	File     string   // the run file, when there is one
	Head     []string // the parts of the line above everything on a terminal
	Alerts   []Alert
	Verdict  string
	Facts    []Fact
	Sides    *Sides // of a comparison
	Sections []Section
	Commands []string // that make this again
	Footer   string
}

// An Alert stands above the verdict and limits what it says.
type Alert struct {
	Tone  Tone
	Text  string
	Hint  Prose
	Below bool // in a brief report it follows the findings: it limits what is not said, not what is
}

// The labels of facts that say what was measured, which every output shows.
const (
	FactService = "Service"
	FactUnseen  = "Not seen"
)

// A Fact is a label with its value.
type Fact struct {
	Label string
	Value string
	Code  bool
	Sign  string // ✓ or ✗ before the value
	Tone  Tone   // of the sign
}

// A Section is a titled part of a document.
type Section struct {
	ID     string // stable, lower case: findings
	Title  string
	Short  string // for the list of sections; Title when empty
	Sub    Prose
	Count  int // for the list of sections; 0 shows none
	Blocks []Block
}

// A Block is one thing inside a section: *Table, *Findings, *Timeline, *Moves, *Curve, *Flame,
// *Notes, *Pairs, *Diff, *Trend, *Tale, *Strips, *Picture or Para.
type Block interface{ block() }

// Para is a paragraph.
type Para struct {
	Text Prose
	Tone Tone
}

// Notes is a list of remarks, each with a sign.
type Notes struct{ List []Note }

// A Note is one remark.
type Note struct {
	Sign  string // !, ✓, ✗ or ·
	Tone  Tone
	Label string
	Code  bool // the label is an id
	Text  string
	Hint  Prose
}

// Pairs is a list of settings with both values.
type Pairs struct{ List []Pair }

// A Pair is one setting on both sides.
type Pair struct{ Name, Before, After string }

// Sides names the two sides of a comparison.
type Sides struct{ Before, After SideFacts }

// SideFacts are what identifies a side.
type SideFacts struct {
	Name, Code, When, Host, File string
	Runs                         int
}

// Section returns the section with the id, nil when the document has none.
func (d *Document) Section(id string) *Section {
	for i := range d.Sections {
		if d.Sections[i].ID == id {
			return &d.Sections[i]
		}
	}
	return nil
}

// Tables calls f for every table of the document, with its section.
func (d *Document) Tables(f func(s *Section, t *Table)) {
	for i := range d.Sections {
		s := &d.Sections[i]
		for _, b := range s.Blocks {
			switch b := b.(type) {
			case *Table:
				f(s, b)
			case *Moves:
				f(s, b.Table())
			case *Timeline:
				f(s, b.Table())
			case *Findings:
				if b.Table != nil {
					f(s, b.Table)
				}
			}
		}
	}
}

// Options configure what the functions that build documents put into one.
type Options struct {
	Sections []string       // ids; none is all
	Location *time.Location // for wall times; nil leaves them as the run has them
	Made     time.Time      // when the report is made; zero leaves it out
	File     string         // name of the run file
	Commands []string       // that make the run again; none builds what it can
	Long     bool           // tables of endpoints, statements and messages have 500 rows, for a page that filters them

	Seen kasoku.Seen // warnings that were shown: of the run before, or while this one was made
}

// longRows bounds what a page has to hold.
const longRows = 500

// Rows is how many rows of a long table are shown before the rest is summed up.
func (o Options) Rows() int {
	if o.Long {
		return longRows
	}
	return MostRows
}

// Wants reports whether a section is asked for.
func (o Options) Wants(id string) bool {
	if len(o.Sections) == 0 {
		return true
	}
	for _, s := range o.Sections {
		if s == id {
			return true
		}
	}
	return false
}

// add appends a section that is asked for and has something in it.
func (d *Document) add(o Options, s Section) {
	if o.Wants(s.ID) && len(s.Blocks) > 0 {
		d.Sections = append(d.Sections, s)
	}
}

// PutSection adds what a function makes. One that panics leaves a section that says so in its
// place; the rest of the document stands.
func (d *Document) PutSection(o Options, name string, section func() Section) {
	var s Section
	if err := contain.Run(contain.Part{Kind: contain.Section, Name: name}, func() { s = section() }); err != nil {
		s = lost(name, err)
		o.Sections = nil // which ID it would have had is not known
	}
	d.add(o, s)
}

// Fill fills in what is no section: head, verdict, facts. A panic in it is an alert; the
// rest of the document stands.
func (d *Document) Fill(name string, f func()) {
	if err := contain.Run(contain.Part{Kind: contain.Section, Name: name}, f); err != nil {
		d.Alerts = append(d.Alerts, Alert{Tone: Mark, Text: string(Lost(err).Text)})
	}
}

// lost is the section of which only the error is there.
func lost(name string, err error) Section {
	return Section{ID: "lost-" + name, Title: "Lost: " + name, Blocks: []Block{Lost(err)}}
}

// Lost stands where a part of a document could not be made or drawn.
func Lost(err error) Para {
	return Para{Text: Prose("This part is lost. " + err.Error() + "."), Tone: Mark}
}

func (*Table) block()    {}
func (*Findings) block() {}
func (*Timeline) block() {}
func (*Moves) block()    {}
func (*Curve) block()    {}
func (*Notes) block()    {}
func (*Pairs) block()    {}
func (Para) block()      {}

// The ids of the sections, in the order in which they come.
const (
	SectionService   = "service"
	SectionFindings  = "findings"
	SectionTimeline  = "time"
	SectionSteps     = "steps"
	SectionEndpoints = "endpoints"
	SectionQueries   = "queries"
	SectionMessages  = "messages"
	SectionConfig    = "config"
	SectionHosts     = "hosts"
	SectionWarnings  = "warnings"
	SectionCost      = "cost"
	SectionCommand   = "command"
	SectionMoved     = "moved"
	SectionRuns      = "runs"
	SectionLatency   = "latency"
	SectionTries     = "tries"
	SectionReproduce = "again"
)
