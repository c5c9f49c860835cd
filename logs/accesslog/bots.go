package accesslog

import "bytes"

// botWords are parts of the user agents of programs that visit web sites by
// themselves and say so, in lower case.
var botWords = [][]byte{
	[]byte("crawl"), []byte("spider"), []byte("slurp"), []byte("archiver"),
	[]byte("facebookexternalhit"), []byte("mediapartners-"), []byte("bingpreview"),
	[]byte("feedfetcher"), []byte("scanner"), []byte("httrack"), []byte("ia_archiver"),
}

// notBots are names that hold such a word but are no bots: Cubot makes phones.
var notBots = [][]byte{[]byte("cubot")}

// IsBot reports whether a user agent says that it is a bot.
func IsBot(userAgent []byte) bool {
	lower := bytes.ToLower(userAgent[:min(len(userAgent), 1<<10)])
	for _, name := range notBots {
		lower = bytes.ReplaceAll(lower, name, nil)
	}
	for _, w := range botWords {
		if bytes.Contains(lower, w) {
			return true
		}
	}
	return hasBotWord(lower)
}

// hasBotWord reports whether a word ends in bot or bots: Googlebot and robots do,
// a bottle does not.
func hasBotWord(lower []byte) bool {
	for {
		i := bytes.Index(lower, []byte("bot"))
		if i < 0 {
			return false
		}
		lower = lower[i+3:]
		end := bytes.TrimPrefix(lower, []byte("s"))
		if !startsWithLetter(lower) || !startsWithLetter(end) {
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
	}
}

// maxAgent is how long a user agent may be to be remembered, in bytes.
const maxAgent = 512

// is reports whether the user agent is a bot.
func (c *botCache) is(agent []byte) bool {
	n := len(agent)
	if n < 4 || n > maxAgent {
		return IsBot(agent)
	}
	// Agents differ in their length, or in versions and names towards the end.
	mid, end := agent[n/2:], agent[n-3:]
	slot := &c.slots[(uint32(n)*31+uint32(mid[0])*97+uint32(mid[1])*11+uint32(end[0])*7+uint32(end[1])*3+
		uint32(end[2])*53+uint32(agent[n/3])*193)%botSlots]
	if !bytes.Equal(slot.agent, agent) {
		slot.agent = append(slot.agent[:0], agent...)
		slot.bot = IsBot(agent)
	}
	return slot.bot
}
