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

// Options configure how a screen is drawn.
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

	playhead
	tables tables
	prompt prompt

	zoom bool // a column a second
	open int  // finding that is shown whole; 0: none
	help bool

	message string // the last thing that a key did
	quit    bool
	saving  *saving // nil: nothing is being kept
}

// A playhead is where in time the screen is.
type playhead struct {
	at     int  // the second that is shown
	follow bool // it is the last one
	play   bool // a replay goes on by itself
	speed  int  // place in speeds
}

// tables are how the keys have arranged the tables, by id.
type tables struct {
	pane   string // that the keys are for
	sorts  map[string]int
	filter map[string]string
	scroll map[string]int
}

// A prompt is a line that is typed.
type prompt struct {
	asks  string // "filter" or "mark"; empty: nothing is typed
	typed string
	at    int // second at which a mark was asked for
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
	m := &Model{o: o, feed: feed, data: data, width: 80, height: 24, tables: tables{pane: panes[0].id,
		sorts: map[string]int{}, filter: map[string]string{}, scroll: map[string]int{}}}
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

// saved is what became of a file.
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
		switch msg := msg.(type) {
		case tick:
			cmd = m.next()
		case tea.KeyPressMsg:
			if key := msg.String(); key == "ctrl+c" || key == "q" { // no screen may keep its user
				m.quit, cmd = true, tea.Quit
			}
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
		if m.prompt.asks != "" {
			m.prompt.typed += printable(msg.Content)
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
	if m.prompt.asks != "" {
		m.typeKey(key, text)
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
		delete(m.tables.filter, m.tables.pane)
	case "w":
		return m.save()
	case "m":
		m.prompt = prompt{asks: "mark", at: m.at}
	case "/":
		m.prompt = prompt{asks: "filter", typed: m.tables.filter[m.tables.pane]}
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
func (p *playhead) stay() { p.follow, p.play = false, false }

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
		m.tables.turn(1, m.look())
	case "shift+tab":
		m.tables.turn(-1, m.look())
	case "s", "up", "k", "down", "j":
		m.tables.key(key)
	default:
		if len(key) == 1 && key >= "1" && key <= "9" {
			n := int(key[0] - '0')
			switch {
			case n == m.open || n > len(m.data.Findings) || !m.look().found(&m.data.Findings[n-1]):
				m.open = 0
			default:
				m.open = n
			}
		}
	}
}

// look is what the tables show.
func (m *Model) look() look { return look{m.data, m.at} }

// key sorts or scrolls the table of the keys.
func (t *tables) key(key string) {
	switch key {
	case "s":
		t.sorts[t.pane]++
	case "up", "k":
		t.scroll[t.pane] = max(t.scroll[t.pane]-1, 0)
	case "down", "j":
		t.scroll[t.pane]++
	}
}

// turn goes to the next pane that there is something in.
func (t *tables) turn(by int, at look) {
	i := slices.IndexFunc(panes, func(p pane) bool { return p.id == t.pane })
	for range panes {
		i = (i + by + len(panes)) % len(panes)
		if made := panes[i].make(at); len(made.rows) > 0 {
			break
		}
	}
	t.pane = panes[i].id
}

// typeKey handles the keys while something is typed.
func (m *Model) typeKey(key, text string) {
	left, done := m.prompt.key(key, text)
	if done && m.prompt.asks == "mark" {
		m.mark(m.prompt.typed)
	}
	if m.prompt.asks == "filter" && !left && !done {
		m.tables.keep(m.prompt.typed)
	}
	if left || done {
		m.prompt.asks = ""
	}
}

// key types a key. left says that the prompt was left with nothing done, done that what
// was typed is to be used.
func (p *prompt) key(key, text string) (left, done bool) {
	switch key {
	case "esc":
		return true, false
	case "enter":
		return false, true
	case "backspace":
		if r := []rune(p.typed); len(r) > 0 {
			p.typed = string(r[:len(r)-1])
		}
	case "ctrl+u":
		p.typed = ""
	default:
		p.typed += printable(text)
	}
	return false, false
}

// keep filters the table of the keys.
func (t *tables) keep(filter string) { t.filter[t.pane], t.scroll[t.pane] = filter, 0 }

func (m *Model) mark(text string) {
	if m.feed == nil {
		m.message = "a run file is not changed here: `kasoku note` says more of a run"
		return
	}
	if err := m.feed.Mark(time.Duration(m.prompt.at)*time.Second, text); err != nil {
		m.message = "not marked: " + err.Error()
		return
	}
	m.data = m.feed.Take()
	m.message = fmt.Sprintf("marked %s", m.data.clock(m.prompt.at))
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
