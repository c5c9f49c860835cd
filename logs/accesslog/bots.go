package accesslog

import "bytes"

// botNames are names of programs that visit web sites by themselves, in lower case.
var botNames = [][]byte{
	[]byte("slurp"), []byte("ia_archiver"), []byte("facebookexternalhit"), []byte("mediapartners-"),
	[]byte("bingpreview"), []byte("feedfetcher"), []byte("httrack"),
}

// notBots are names that hold such a word but are no bots: Cubot makes phones.
var notBots = [][]byte{[]byte("cubot")}

// IsBot reports whether a user agent says that it is a bot: a word of it ends in bot, crawl,
// crawler, crawling or spider. Spider Man and Robotics are none.
func IsBot(userAgent []byte) bool {
	lower := bytes.ToLower(userAgent[:min(len(userAgent), 1<<10)])
	for _, name := range notBots {
		lower = bytes.ReplaceAll(lower, name, nil)
	}
	for _, w := range botNames {
		if bytes.Contains(lower, w) {
			return true
		}
	}
	return hasBotWord(lower, "bot", "s") || hasBotWord(lower, "crawl", "er", "ers", "ing") || hasSpider(lower)
}

// hasBotWord reports whether a word ends in one, or in one with an ending: Googlebot and
// robots do, a bottle does not.
func hasBotWord(lower []byte, word string, endings ...string) bool {
	for {
		i := bytes.Index(lower, []byte(word))
		if i < 0 {
			return false
		}
		lower = lower[i+len(word):]
		if !startsWithLetter(lower) {
			return true
		}
		for _, e := range endings {
			if after, ok := bytes.CutPrefix(lower, []byte(e)); ok && !startsWithLetter(after) {
				return true
			}
		}
	}
}

// hasSpider reports whether a word ends in spider. The word alone is none before a blank:
// people play Spider Solitaire.
func hasSpider(lower []byte) bool {
	for at := 0; ; {
		i := bytes.Index(lower[at:], []byte("spider"))
		if i < 0 {
			return false
		}
		begin := at + i
		at = begin + len("spider")
		after := bytes.TrimPrefix(lower[at:], []byte("s"))
		alone := begin == 0 || !startsWithLetter(lower[begin-1:])
		if !startsWithLetter(after) && !(alone && bytes.HasPrefix(after, []byte(" "))) {
			return true
		}
	}
}

func startsWithLetter(b []byte) bool { return len(b) > 0 && 'a' <= b[0] && b[0] <= 'z' }

// botSlots is how many user agents are remembered. Few logs have more that are
// frequent.
const botSlots = 512

// A botCache remembers which user agents are bots. A slot holds the last agent
// that fell into it.
type botCache struct {
	slots [botSlots]struct {
		agent []byte
		bot   bool
		name  string // of a bot, "" without one
	}
}

// maxAgent is how long a user agent may be to be remembered, in bytes.
const maxAgent = 512

// is reports whether the user agent is a bot.
func (c *botCache) is(agent []byte) bool {
	bot, _ := c.named(agent)
	return bot
}

// named reports whether the user agent is a bot, and returns its name.
func (c *botCache) named(agent []byte) (bot bool, name string) {
	n := len(agent)
	if n < 4 || n > maxAgent {
		return IsBot(agent), ""
	}
	// Agents differ in their length, or in versions and names towards the end.
	mid, end := agent[n/2:], agent[n-3:]
	slot := &c.slots[(uint32(n)*31+uint32(mid[0])*97+uint32(mid[1])*11+uint32(end[0])*7+uint32(end[1])*3+
		uint32(end[2])*53+uint32(agent[n/3])*193)%botSlots]
	if !bytes.Equal(slot.agent, agent) {
		slot.agent = append(slot.agent[:0], agent...)
		slot.bot, slot.name = IsBot(agent), ""
		if slot.bot {
			slot.name = productOf(agent)
		}
	}
	return slot.bot, slot.name
}
