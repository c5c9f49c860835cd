package score

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/applog"
	"github.com/kasoku/kasoku/logs/lines"
)

// Words are what a benchmark said of a run beside its score.
type Words struct {
	Messages []kasoku.Message // those that report what went wrong first; of kind [kasoku.MessageBenchmark]
	Events   []kasoku.Event   // in the order of time: levels, deductions, the first message of each kind
}

// The bounds of what is kept of a benchmark's words. ISUCON's benchmarks know some 50
// kinds of messages and 12 levels.
const (
	mostMessages = 100
	mostLevels   = 64
	mostEvents   = 64
	shownEvent   = 160 // of a message, in bytes
	longestLine  = 4 << 10
	// leastRepeated is how long a result's message must be to be looked for in lines.
	leastRepeated = 8

	levelError = "error"
)

// ReadWords reads the messages of a benchmark from its result, from the summaries of the
// tools that [Recognize] knows and from the lines of its log that report a failure, a
// timeout, a deduction or a level. What a result counts and a line repeats is one message.
// clock returns when the byte at an offset was printed; without one nothing has a time.
//
// A result has no time of its own. A message of it that no line repeats begins and ends
// with the output.
func ReadWords(output []byte, clock func(offset int64) time.Duration) Words {
	text := withoutEscapes(output)
	w := wordReader{byPattern: map[string]int{}, clocked: clock != nil}
	if w.clocked {
		w.end = clock(int64(max(len(output)-1, 0)))
	}
	for _, s := range resultWords(text) {
		w.addResult(s)
	}
	shortenURLs(text)
	table, _ := applog.Read(lines.NewReader(bytes.NewReader(text), 0), applog.Options{Clock: clock})
	for _, m := range table.Messages() {
		w.addLine(m)
	}
	events := w.firstEvents()
	if w.clocked {
		events = append(levelEvents(text, clock), events...)
	}
	slices.SortStableFunc(events, func(a, b kasoku.Event) int { return cmp.Compare(a.At, b.At) })
	return Words{Messages: w.sorted(), Events: events}
}

// wordReader puts together what a result counts and what lines repeat of it.
type wordReader struct {
	messages  []kasoku.Message
	results   int            // of them, those of results, which are first
	placed    []bool         // by message: its time is that of lines
	byPattern map[string]int // of the results
	clocked   bool
	end       time.Duration // of the output
}

// addResult adds what a result counts.
func (w *wordReader) addResult(s spoken) {
	pattern, sample := applog.PatternOf(pathsOf(s.text))
	if sample == "" {
		return
	}
	if s.exact {
		pattern = sample
	}
	i, ok := w.byPattern[pattern]
	if !ok {
		if len(w.messages) == mostMessages {
			return // a result names its most frequent messages first
		}
		i = len(w.messages)
		w.byPattern[pattern] = i
		m := kasoku.Message{Kind: kasoku.MessageBenchmark, Pattern: pattern, Sample: sample, First: w.end,
			Last: w.end}
		if s.bad || failureWords().MatchString(sample) {
			m.Level = levelError
		}
		w.messages, w.placed, w.results = append(w.messages, m), append(w.placed, false), i+1
	}
	w.messages[i].Count = sumOf(w.messages[i].Count, s.count)
}

// addLine adds a class of lines of the log, where it reports what went wrong. One that
// repeats what a result counts gives that its times.
func (w *wordReader) addLine(m kasoku.Message) {
	m.Sample = strings.Join(strings.Fields(m.Sample), " ")
	for i := range w.results {
		r := &w.messages[i]
		if len(r.Pattern) < leastRepeated || !strings.Contains(m.Pattern, r.Pattern) {
			continue
		}
		if w.clocked {
			w.place(i, &m)
		}
		return
	}
	happened := zeroWords().ReplaceAllString(m.Sample, "")
	if !failureWords().MatchString(happened) && (m.Level != levelError || happened != m.Sample) {
		return
	}
	m.Kind = kasoku.MessageBenchmark
	if m.Level != "warn" || requestWords().MatchString(m.Sample) { // k6 warns of requests that fail
		m.Level = levelError
	}
	w.messages, w.placed = append(w.messages, m), append(w.placed, w.clocked)
}

// place gives a result's message the times of lines that repeat it.
func (w *wordReader) place(i int, m *kasoku.Message) {
	r := &w.messages[i]
	if !w.placed[i] {
		r.First, r.Last, r.Seconds = m.First, m.Last, maps.Clone(m.Seconds)
		w.placed[i] = true
		return
	}
	r.First, r.Last = min(r.First, m.First), max(r.Last, m.Last)
	for s, n := range m.Seconds {
		r.Seconds[s] += n
	}
}

// sorted returns the messages that are kept.
func (w *wordReader) sorted() []kasoku.Message {
	rank := func(m kasoku.Message) int { return slices.Index([]string{levelError, "warn", ""}, m.Level) }
	slices.SortStableFunc(w.messages, func(a, b kasoku.Message) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Pattern, b.Pattern))
	})
	return w.messages[:min(len(w.messages), mostMessages)]
}

// firstEvents are the first lines of the kinds of messages that report what went wrong, and
// what results say that no line repeats, when the output ended.
func (w *wordReader) firstEvents() (out []kasoku.Event) {
	var unplaced []string
	for i := range w.messages {
		m := &w.messages[i]
		text := fmt.Sprintf("%s (%d in all)", cutWords(m.Sample), m.Count)
		switch {
		case m.Level != levelError || !w.clocked:
		case !w.placed[i]:
			unplaced = append(unplaced, text)
		case len(out) < mostEvents:
			out = append(out, kasoku.Event{At: m.First, Kind: kasoku.EventBenchmark, Text: text})
		}
	}
	if n := len(unplaced); n > 0 {
		text := "in its result: " + unplaced[0]
		if n > 1 {
			text += fmt.Sprintf(", and %d more kinds of messages", n-1)
		}
		out = append(out, kasoku.Event{At: w.end, Kind: kasoku.EventBenchmark, Text: text})
	}
	return out
}

// cutWords cuts a message to what an event shows of it.
func cutWords(s string) string {
	return string(logs.AppendSafe(nil, []byte(s), shownEvent))
}

var (
	failureWords = lazyregexp.New(`(?i)\b(error|err|fail\w*|critical|fatal|panic|timeouts?|timed out|deadline exceeded|refused|` +
		`deduct\w*|penalt\w*)\b|失敗|エラー|タイムアウト|減点`)
	// zeroWords are counts of what did not happen, as ISUCON's benchmarks end with them.
	zeroWords = lazyregexp.New(`(?i)\b(errors?|err|fail\w*|critical|timeouts?|deductions?|penalt\w*|失敗|エラー|タイムアウト|減点)` +
		`\s*[:=(]?\s*-?0(\D|$)`)

	successWords = lazyregexp.New(`(?i)\b(?:ok|success\w*|succeeded|passed|done)\b|成功|完了`)
	// requestWords are a method and a path.
	requestWords = lazyregexp.New(`(?i)\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /`)

	levelWords = lazyregexp.New(`(?i)(?:負荷レベル|\bload[ _-]?level\b|\blevel[ _-]?up\b)(?:\D{0,40}(\d{1,9}))?`)
	deducted   = lazyregexp.New(`(?i)(?:\bdeduct\w*|\bpenalt\w*|減点)\D{0,8}[1-9]`)
)

// loadWords are what a line says of which levelWords and deducted may match, in lower case.
var loadWords = [][]byte{[]byte("負荷レベル"), []byte("減点"), []byte("level"), []byte("deduct"), []byte("penalt")}

func containsAny(text []byte, words [][]byte) bool {
	return slices.ContainsFunc(words, func(w []byte) bool { return bytes.Contains(text, w) })
}

// lowerASCII returns a copy of the text with the letters of ASCII in lower case.
func lowerASCII(text []byte) []byte {
	out := bytes.Clone(text)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return out
}

// levelEvents are the moments at which lines say that the load rose, and those at which
// points were taken away.
func levelEvents(text []byte, clock func(offset int64) time.Duration) (out []kasoku.Event) {
	lower := lowerASCII(text)
	if !containsAny(lower, loadWords) {
		return nil
	}
	level, levels, offset := 0, 0, 0
	for line := range bytes.Lines(text) {
		start := offset
		offset += len(line)
		if len(line) > longestLine || !containsAny(lower[start:offset], loadWords) {
			continue
		}
		at := clock(int64(start))
		if m := levelWords().FindSubmatch(line); m != nil && levels < mostLevels {
			n := level + 1
			if len(m[1]) > 0 {
				n, _ = strconv.Atoi(string(m[1]))
			}
			if n > level && !bytes.Contains(line, []byte("最終")) && !bytes.Contains(bytes.ToLower(line),
				[]byte("final")) {
				level = n
				levels++
				out = append(out, kasoku.Event{At: at, Kind: kasoku.EventLevel, Text: fmt.Sprintf("level %d", level)})
			}
		} else if len(out)-levels < mostEvents && deducted().Match(line) {
			out = append(out, kasoku.Event{At: at, Kind: kasoku.EventBenchmark,
				Text: cutWords(string(bytes.TrimSpace(line)))})
		}
	}
	return out
}

// withoutEscapes returns a copy of the output without the colours that programs add, in
// which each line is as long as it was, so that offsets stay.
func withoutEscapes(output []byte) []byte {
	out := make([]byte, 0, len(output))
	for line := range bytes.Lines(output) {
		start := len(out)
		end := len(line)
		if line[end-1] == '\n' {
			end--
		}
		if bytes.IndexByte(line, 0x1b) < 0 {
			out = append(out, line...)
			continue
		}
		out = logs.AppendWithoutEscapes(out, line[:end])
		for len(out)-start < end {
			out = append(out, ' ')
		}
		out = append(out, line[end:]...)
	}
	return out
}

// shortenURLs leaves of each URL its path, so that messages of one endpoint are alike. What
// follows stands where it stood.
func shortenURLs(text []byte) {
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte("http"))
		if i < 0 {
			return
		}
		from := at + i
		at = from + len("http")
		rest, secure := bytes.CutPrefix(text[at:], []byte("s"))
		if rest, ok := bytes.CutPrefix(rest, []byte("://")); ok {
			at = endOfURL(text, from, len(text)-len(rest))
		} else if secure {
			at++
		}
	}
}

// endOfURL blanks a URL that begins at from, with the quotes around it, but for its path,
// and returns where it ends. Its host begins at host.
func endOfURL(text []byte, from, host int) int {
	end := host + len(text[host:])
	if n := bytes.IndexAny(text[host:min(end, host+longestLine)], " \t\r\n\"\\"); n >= 0 {
		end = host + n
	}
	var path []byte
	if n := bytes.IndexByte(text[host:end], '/'); n >= 0 {
		path, _, _ = bytes.Cut(text[host+n:end], []byte("?"))
	}
	for end < len(text) && (text[end] == '\\' || text[end] == '"') {
		end++
	}
	for from > 0 && (text[from-1] == '\\' || text[from-1] == '"') {
		from--
	}
	n := copy(text[from:], path)
	blank(text[from+n : end])
	return end
}
