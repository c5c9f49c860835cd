package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/kasoku/kasoku/internal/contain"
)

// lookBack is how many seconds a sparkline shows.
const lookBack = 300

// A Feed is what is shown live.
type Feed interface {
	Take() *Data                              // what there is now
	Mark(at time.Duration, text string) error // notes a moment
	Save() (path string, err error)           // keeps what there is as a run file

}

// Options say how a screen is drawn.
type Options struct {
	Color bool
	ASCII bool
	Title string // what is watched
}

// A Model is a screen and what the keys do to it.
type Model struct {
	o    Options
	feed Feed  // nil in a replay
	data *Data // never nil

	width, height int

	at     int  // the second that is shown
	follow bool // it is the last one
	play   bool // a replay goes on by itself
	speed  int  // place in speeds

	pane   string // that the keys are for
	sorts  map[string]int
	filter map[string]string
	scroll map[string]int
	zoom   bool // a column a second
	open   int  // finding that is shown whole; 0: none
	help   bool

	asks    string // "filter" or "mark" while something is typed
	typed   string
	message string // the last thing that a key did
	quit    bool
	told    map[string]bool // findings and gaps that lines have shown
	asked   int             // second at which a mark was asked for
	saving  *saving         // nil: nothing is being kept
}

// A saving is what there is being kept as a file.
type saving struct {
	done   chan struct{} // closed when result is known
	result saved
}

// speeds are those of a replay, in seconds a second.
var speeds = []int{1, 2, 5, 10, 30, 60}

// NewModel returns a screen of 80 × 24 that shows what the feed has at its end, or
// without a feed the data from its beginning.
func NewModel(data *Data, feed Feed, o Options) *Model {
	m := &Model{o: o, feed: feed, data: data, width: 80, height: 24, pane: panes[0].id,
		sorts: map[string]int{}, filter: map[string]string{}, scroll: map[string]int{}}
	if feed != nil {
		m.follow = true
	} else {
		m.play = true
	}
	m.at = m.first()
	if m.follow {
		m.at = m.last()
	}
	return m
}

// first and last are the seconds that can be shown.
func (m *Model) first() int { return secondOf(m.data.Oldest) }

func (m *Model) last() int {
	return max(int(m.data.Rec.Run.Length/time.Second), m.first())
}

// Go shows a second.
func (m *Model) Go(second int) {
	m.at = min(max(second, m.first()), m.last())
}

// Resize gives the screen a size.
func (m *Model) Resize(width, height int) {
	m.width, m.height = max(width, 20), max(height, 6)
}

// tick asks for the next picture.
type tick struct{}

// saved says what became of a file.
type saved struct {
	path string
	err  error
}

// every is the time between two pictures.
func (m *Model) every() time.Duration {
	if m.feed == nil && m.play {
		return time.Second / time.Duration(min(speeds[m.speed], 10))
	}
	return time.Second
}

func (m *Model) next() tea.Cmd {
	return tea.Tick(m.every(), func(time.Time) tea.Msg { return tick{} })
}

// Init begins.
func (m *Model) Init() tea.Cmd { return m.next() }

// Update does what a key, the clock or the terminal asks for. A panic in it is a message
// on the screen, which goes on: the library would print the panic's value.
func (m *Model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = m
	if bug := contain.Run(panel("update"), func() { next, cmd = m.update(msg) }); bug != nil {
		m.message = bug.Error()
		if _, timed := msg.(tick); timed {
			cmd = m.next()
		}
	}
	return next, cmd
}

func (m *Model) update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.Resize(msg.Width, msg.Height)
	case tick:
		m.Tick()
		return m, m.next()
	case saved:
		m.saving = nil
		m.message = "kept as " + msg.path
		if msg.err != nil {
			m.message = "not kept: " + msg.err.Error()
		}
	case tea.PasteMsg:
		if m.asks != "" {
			m.typed += printable(msg.Content)
		}
	case tea.KeyPressMsg:
		return m, m.Key(msg.String(), msg.Text)
	}
	return m, nil
}

// Tick goes on by a picture.
func (m *Model) Tick() {
	if m.feed != nil {
		m.data = m.feed.Take()
		if m.follow {
			m.at = m.last()
		}
		m.at = max(m.at, m.first())
		return
	}
	if m.play {
		m.Go(m.at + max(1, speeds[m.speed]/10))
		if m.at == m.last() {
			m.play = false
		}
	}
}

// printable drops what is no text from what was typed.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}

// Key does what a key asks for; text is what it types.
func (m *Model) Key(key, text string) tea.Cmd {
	if key == "ctrl+c" {
		m.quit = true
		return tea.Quit
	}
	if m.asks != "" {
		m.typing(key, text)
		return nil
	}
	m.message = ""
	switch key {
	case "q":
		m.quit = true
		return tea.Quit
	case "?", "h":
		m.help = !m.help
	case "esc":
		m.help, m.open = false, 0
		delete(m.filter, m.pane)
	case "w":
		return m.save()
	case "m":
		m.asks, m.typed, m.asked = "mark", "", m.at
	case "/":
		m.asks, m.typed = "filter", m.filter[m.pane]
	default:
		if !m.timeKey(key) {
			m.paneKey(key)
		}
	}
	return nil
}

// save keeps what there is, beside the drawing.
func (m *Model) save() tea.Cmd {
	if m.feed == nil {
		m.message = "this is a run file already"
		return nil
	}
	m.message = "keeping …"
	if m.saving != nil {
		return nil
	}
	feed, s := m.feed, &saving{done: make(chan struct{})}
	m.saving = s
	go func() { // Wait waits for it
		defer close(s.done)
		s.result.err = contain.Do(panel("save"), func() (err error) { s.result.path, err = feed.Save(); return err })
	}()
	return func() tea.Msg {
		<-s.done
		return s.result
	}
}

// Wait waits, after the screen has gone, until what a key asked to keep is kept, and
// returns where. Without a path and an error there was nothing to wait for.
func (m *Model) Wait() (path string, err error) {
	if m.saving == nil {
		return "", nil
	}
	<-m.saving.done
	return m.saving.result.path, m.saving.result.err
}

// timeKey handles the keys that move in time.
func (m *Model) timeKey(key string) bool {
	by := map[string]int{"left": -1, "right": 1, "shift+left": -10, "shift+right": 10, "H": -10, "L": 10, "pgup": -60, "pgdown": 60}
	step, moves := by[key]
	switch {
	case moves:
		m.Go(m.at + step)
		m.stay()
	case key == "home":
		m.Go(m.first())
		m.stay()
	case key == "end":
		m.Go(m.last())
		m.stay()
		m.follow = m.feed != nil
	case key == "p" || key == "space":
		m.pause()
	case (key == "+" || key == "=") && m.feed == nil:
		m.speed = min(m.speed+1, len(speeds)-1)
	case key == "-" && m.feed == nil:
		m.speed = max(m.speed-1, 0)
	case key == "z":
		m.zoom = !m.zoom
	default:
		return false
	}
	return true
}

// stay keeps what is shown.
func (m *Model) stay() { m.follow, m.play = false, false }

func (m *Model) pause() {
	if m.feed != nil {
		if m.follow = !m.follow; m.follow {
			m.Go(m.last())
		}
		return
	}
	if m.play = !m.play; m.play && m.at == m.last() {
		m.Go(m.first())
	}
}

// paneKey handles the keys of the tables.
func (m *Model) paneKey(key string) {
	switch key {
	case "tab":
		m.turn(1)
	case "shift+tab":
		m.turn(-1)
	case "s":
		m.sorts[m.pane]++
	case "up", "k":
		m.scroll[m.pane] = max(m.scroll[m.pane]-1, 0)
	case "down", "j":
		m.scroll[m.pane]++
	default:
		if len(key) == 1 && key >= "1" && key <= "9" {
			n := int(key[0] - '0')
			switch {
			case n == m.open || n > len(m.data.Findings) || !m.data.found(&m.data.Findings[n-1], m.at):
				m.open = 0
			default:
				m.open = n
			}
		}
	}
}

// turn goes to the next pane that there is something in.
func (m *Model) turn(by int) {
	at := slices.IndexFunc(panes, func(p pane) bool { return p.id == m.pane })
	for range panes {
		at = (at + by + len(panes)) % len(panes)
		if t := panes[at].make(m.data, m.at); len(t.rows) > 0 {
			break
		}
	}
	m.pane = panes[at].id
}

// typing handles the keys while something is typed.
func (m *Model) typing(key, text string) {
	switch key {
	case "esc":
		m.asks = ""
		return
	case "enter":
		if m.asks == "mark" {
			m.mark(m.typed)
		}
		m.asks = ""
		return
	case "backspace":
		if r := []rune(m.typed); len(r) > 0 {
			m.typed = string(r[:len(r)-1])
		}
	case "ctrl+u":
		m.typed = ""
	default:
		m.typed += printable(text)
	}
	if m.asks == "filter" {
		m.filter[m.pane], m.scroll[m.pane] = m.typed, 0
	}
}

func (m *Model) mark(text string) {
	if m.feed == nil {
		m.message = "a run file is not changed here: `kasoku note` says more of a run"
		return
	}
	if err := m.feed.Mark(time.Duration(m.asked)*time.Second, text); err != nil {
		m.message = "not marked: " + err.Error()
		return
	}
	m.data = m.feed.Take()
	m.message = fmt.Sprintf("marked %s", m.data.clock(m.asked))
}

// View draws the screen.
func (m *Model) View() tea.View {
	text := ""
	if bug := contain.Run(panel("screen"), func() { text = m.Screen() }); bug != nil {
		text = clean(bug.Error())
	}
	v := tea.NewView(text)
	v.AltScreen = true
	v.WindowTitle = "kasoku watch"
	return v
}
