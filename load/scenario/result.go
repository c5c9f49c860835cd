package scenario

// A Result is what came of a run. As JSON it begins with what ISUCON's benchmarks
// print: pass, score, messages, reason, language. Durations of JSON are seconds or
// milliseconds, as their names say.
type Result struct {
	Pass     bool      `json:"pass"`
	Score    int64     `json:"score"` // points less deductions, 0 when that is less, or nothing was loaded
	Messages []Message `json:"messages"`
	Reason   string    `json:"reason"`
	Language string    `json:"language"`

	Points     int64         `json:"points"`
	Deduction  int64         `json:"deduction"`
	Breakdown  []TagScore    `json:"breakdown"`
	ErrorCount uint64        `json:"error_count"` // of all codes
	Errors     []CodeErrors  `json:"errors"`
	Level      int           `json:"level"` // that was reached
	Levels     []LevelRise   `json:"levels"`
	Phases     []PhaseTime   `json:"phases"`
	Steps      []StepLatency `json:"steps"`
	Generator  Generator     `json:"generator"`
	Warnings   []Warning     `json:"warnings"`
	Seed       uint64        `json:"seed"`
	Duration   float64       `json:"duration_seconds"` // of all phases
}

// A Message is a text and how often it came.
type Message struct {
	Text  string `json:"text"`
	Count uint64 `json:"count"`
}

// A TagScore is what one tag has brought.
type TagScore struct {
	Tag    Tag    `json:"tag"`
	Count  uint64 `json:"count"`
	Points int64  `json:"points"`
}

// CodeErrors are the errors of one code.
type CodeErrors struct {
	Code      Code     `json:"code"`
	Count     uint64   `json:"count"`
	Deduction int64    `json:"deduction"`
	Samples   []string `json:"samples"` // the first different texts
}

// A LevelRise is when a level began.
type LevelRise struct {
	Level  int     `json:"level"`
	At     float64 `json:"at_seconds"` // since the run's start
	Points int64   `json:"points"`     // at that moment
}

// A PhaseTime is when a phase was.
type PhaseTime struct {
	Phase Phase   `json:"phase"`
	From  float64 `json:"from_seconds"`
	To    float64 `json:"to_seconds"`
}

// A StepLatency is what the requests of one name took in a phase, from when they
// were due.
type StepLatency struct {
	Phase  Phase   `json:"phase"`
	Step   string  `json:"step"`
	Count  uint64  `json:"count"`
	Errors uint64  `json:"errors"` // those whose [Record.Err] was not empty
	Mean   float64 `json:"mean_ms"`
	P50    float64 `json:"p50_ms"`
	P90    float64 `json:"p90_ms"`
	P99    float64 `json:"p99_ms"`
	Max    float64 `json:"max_ms"`
}

// A Generator is what the load cost the benchmark's own process.
type Generator struct {
	CPUSeconds float64 `json:"cpu_seconds"`
	Cores      float64 `json:"cores"`           // on average
	PeakCores  float64 `json:"peak_cores"`      // in the busiest second
	Available  int     `json:"available_cores"` // that it might use
	Share      float64 `json:"share"`           // of the CPU time of those, 0 to 1
}

// A Warning is what spoils the figures.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}
