package accesslog

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// commonWords are what many bots call themselves; no one can be known by such a word.
var commonWords = []string{
	"bots", "robot", "robots", "crawl", "crawler", "crawlers", "crawling", "webcrawler", "web-crawler", "spider", "spiders",
	"webbot", "my-bot", "mybot", "chatbot", "search-bot", "searchbot",
}

// productOf returns the name of a bot's product, in lower case: "ahrefsbot" of "Mozilla/5.0
// (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)". It is empty where only an address or
// a word that others use says that it is a bot, and for apps of phones.
func productOf(agent []byte) string {
	lower := strings.ToLower(string(agent))
	if strings.Contains(lower, "cfnetwork/") || strings.Contains(lower, "dalvik/") {
		return ""
	}
	browser := strings.HasPrefix(lower, "mozilla/") && !strings.Contains(lower, "compatible")
	for word := range strings.FieldsFuncSeq(lower, func(c rune) bool { return strings.ContainsRune(" ;,()[]\"'", c) }) {
		if strings.Contains(word, "://") || strings.Contains(word, "@") || strings.HasPrefix(strings.TrimPrefix(word, "+"), "www.") {
			continue
		}
		name, _, versioned := strings.Cut(word, "/")
		name = strings.TrimRight(name, "+:.-_")
		// A browser's text in brackets has names of phones.
		if browser && !versioned || !kasoku.IsProductName(name) || slices.Contains(commonWords, name) {
			continue
		}
		if IsBot([]byte(name)) {
			return name
		}
	}
	return ""
}

// mostNames is how many names of bots a table keeps: no stranger can fill the memory.
const mostNames = 256

// namedBots are the bots of a table by their name.
type namedBots map[string]kasoku.NamedBot

// count adds requests of a bot, unless there are too many names.
func (n namedBots) count(one kasoku.NamedBot) {
	had, ok := n[one.Name]
	if one.Name == "" || !ok && len(n) >= mostNames {
		return
	}
	n[one.Name] = kasoku.NamedBot{Name: one.Name, Requests: had.Requests + one.Requests, Passed: had.Passed + one.Passed}
}

// NamedBots returns the bots with a name that sent requests, those that were passed on most
// first, n at most. They are counted with Options.Detail.
func (t *Table) NamedBots(n int) []kasoku.NamedBot {
	out := make([]kasoku.NamedBot, 0, len(t.named))
	for _, b := range t.named {
		out = append(out, b)
	}
	kasoku.SortNamedBots(out)
	return out[:min(n, len(out))]
}
