package isuumo

var (
	botPatterns = []string{
		`ISUCONbot(-Mobile)?`,
		`ISUCONbot-Image\/`,
		`Mediapartners-ISUCON`,
		`ISUCONCoffee`,
		`ISUCONFeedSeeker(Beta)?`,
		`crawler \(https:\/\/isucon\.invalid\/(support\/faq\/|help\/jp\/)`,
		`isubot`,
		`Isupider`,
		`Isupider(-image)?\+`,
	}
	botPatternsFold = []string{`(bot|crawler|spider)(?:[-_ .\/;@()]|$)`}
)

// BotPatterns returns the regular expressions of the user agents whose requests
// may be answered with 503: those that regard case, and those that do not.
func BotPatterns() (exact, fold []string) { return botPatterns, botPatternsFold }
