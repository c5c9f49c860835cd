package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/internal/unit"
)

// A botKind says whether a bot may be refused.
type botKind int

const (
	botOther   botKind = iota
	botVisits          // brings visitors
	botWelcome         // someone waits for its answer
)

// botsVisits begin the names of search engines, and of what shows a link that a person shared.
var botsVisits = []string{
	"googlebot", "google-", "googleother", "mediapartners-", "bingbot", "adidxbot", "msnbot", "bingpreview", "duckduckbot",
	"duckassistbot", "yandex", "baiduspider", "slurp", "applebot", "naverbot", "yeti", "seznambot", "sogou", "qwantbot", "qwantify",
	"facebookexternalhit", "facebot", "twitterbot", "linkedinbot", "slackbot", "discordbot", "telegrambot", "pinterestbot",
	"redditbot", "mastodon", "ia_archiver",
}

// botsWelcome are parts of the names of what watches a service, pays, calls back or reads feeds.
var botsWelcome = []string{
	"uptime", "monitor", "pingdom", "statuscake", "site24x7", "health", "status", "check", "feed", "rss", "podcast", "pay",
	"stripe", "adyen", "klarna", "square", "billing", "webhook", "callback", "hook", "certbot", "letsencrypt",
}

func botKindOf(name string) botKind {
	holds := func(part string) bool { return strings.Contains(name, part) }
	begins := func(part string) bool { return strings.HasPrefix(name, part) }
	switch {
	case slices.ContainsFunc(botsWelcome, holds):
		return botWelcome
	case slices.ContainsFunc(botsVisits, begins):
		return botVisits
	}
	return botOther
}

// botLists are the named bots of a log by what they are.
type botLists [3][]kasoku.NamedBot

// sortBots sorts bots by what may be done with each.
func sortBots(named []kasoku.NamedBot) (out botLists) {
	for _, b := range named {
		// The pattern of a name also fits longer ones: what refuses somebot refuses somebot-feed.
		kind := botOther
		for _, x := range named {
			if strings.Contains(x.Name, b.Name) {
				kind = max(kind, botKindOf(x.Name))
			}
		}
		out[kind] = append(out[kind], b)
	}
	return out
}

// passed returns how many requests of one kind were passed on.
func (l botLists) passed(kind botKind) (n uint64) {
	for _, b := range l[kind] {
		n += b.Passed
	}
	return n
}

func (l botLists) without() string {
	if n := l.passed(botWelcome); n > 0 {
		return fmt.Sprintf(", without %s of monitors, payments and feed readers", unit.Count(n))
	}
	return ""
}

// list names the bots of one kind that were passed on, with their requests.
func (l botLists) list(kind botKind) string {
	const most = 8
	var out []string
	for _, b := range l[kind] {
		if b.Passed > 0 {
			out = append(out, b.Name+" "+unit.Count(b.Passed))
		}
	}
	if n := len(out); n > most {
		out = append(out[:most], fmt.Sprintf("%d more", n-most))
	}
	return strings.Join(out, ", ")
}

// pattern is a regular expression of nginx for the bots of one kind that were passed on. A name stands
// alone in it: no letter goes before it or follows.
func (l botLists) pattern(kind botKind) string {
	var names []string
	for _, b := range l[kind] {
		if b.Passed > 0 {
			names = append(names, strings.ReplaceAll(b.Name, ".", `\.`))
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "(?:^|[^a-z])(?:" + strings.Join(names, "|") + ")(?:[^a-z]|$)"
}

// evidence counts what the fix refuses and what it lets pass. The requests that passed in sum
// are without those of welcome bots.
func (l botLists) evidence(c *diagnose.Case, sum kasoku.Endpoint, requests uint64) (out []kasoku.Evidence) {
	add := func(text string, n uint64, note string) {
		out = append(out, kasoku.Evidence{Source: "access", Text: text, Value: unit.Count(n), Number: float64(n), Note: note, Interval: c.Whole()})
	}
	if len(l[botOther])+len(l[botVisits])+len(l[botWelcome]) == 0 {
		return []kasoku.Evidence{{Source: "access", Text: "which bots they were", Value: "not counted",
			Note: "the run has no names of them", Interval: c.Whole()}}
	}
	add("the fix refuses", l.passed(botOther), l.list(botOther))
	add("it lets pass search engines and previews of links", l.passed(botVisits), l.list(botVisits))
	add("it lets pass monitors, payments and feed readers", l.passed(botWelcome), l.list(botWelcome))
	add("it lets pass bots without a name", sum.BotsPassed-min(l.passed(botOther)+l.passed(botVisits), sum.BotsPassed), "")
	add("it lets pass all that do not say that they are bots", requests-min(sum.Bots, requests),
		"bots that do not say so are among them: not counted")
	return out
}

// unnamedPass says why no bot is refused for what it does. A log has neither cookies nor what a cache answered, and
// addresses are shared.
const unnamedPass = " Bots without a product's name, and those that call themselves browsers, pass: that they fetch no " +
	"files, never ask on condition or come often is also true of apps, of monitors, of programs that use an API and of people " +
	"whose browser has the files. By a log alone these cannot be let pass for sure."

// fixes are one for the bots that the log names, and one for search engines.
func (l botLists) fixes(note string, risk kasoku.Risk) (out []kasoku.Fix) {
	refuse := func(kind botKind, title, note, variable string, risk kasoku.Risk) {
		if p := l.pattern(kind); p != "" {
			out = append(out, webserver.Fix(title, note, risk,
				webserver.Edit("http", "map $http_user_agent "+variable+" {\n    default 0;\n    \"~*"+p+"\" 1;\n}"),
				webserver.Edit("server", "if ("+variable+") {\n    return 503;\n}")))
		}
	}
	refuse(botOther, "Answer these bots with 503 in nginx", note+unnamedPass, "$from_bot", risk)
	refuse(botVisits, "Answer search engines with 503, too: the owner's decision", "These bring visitors: "+l.list(botVisits)+
		". Pages that they do not get are no longer found, and shared links have no preview. Only who owns the service can say "+
		"whether that may be.", "$from_search", kasoku.RiskSemantics)
	if len(out) == 0 {
		out = append(out, kasoku.Fix{Text: "Answer bots with 503 in nginx, by the names of their products", Risk: risk,
			Note: note + " The run has no names of products to refuse: no pattern is printed, as general words are in names of browsers, phones and apps."})
	}
	return out
}

// refusedText says how many requests of bots nginx answered with 503 itself.
func refusedText(endpoints []kasoku.Endpoint) string {
	var n uint64
	for i := range endpoints {
		e := &endpoints[i]
		n += min(e.Codes[http.StatusServiceUnavailable], e.Bots-min(e.BotsPassed, e.Bots))
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; nginx answered up to %s of them with 503 itself", unit.Count(n))
}
