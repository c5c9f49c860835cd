package bench

import (
	"fmt"
	"math/rand/v2"
)

// humanAgent returns the User-Agent of a person. One of them has "bot" in it, and is
// none.
func humanAgent(rng *rand.Rand) string {
	browser := pick(rng, []string{"Nickel", "Icetanuki", "Web Browser", "Explorer", "Edge"})
	edition := pick(rng, []string{" mobile", " bottle", " alpha", " beta", ""})
	return "ISUCON " + browser + edition + "-" + uuid(rng)
}

// crawlerAgent returns the User-Agent of a crawler: one of the nine that the contest
// names, or any word for one.
func crawlerAgent(rng *rand.Rand) string {
	id := uuid(rng)
	switch rng.IntN(10) {
	case 0:
		return pick(rng, []string{"ISUCONbot-", "ISUCONbot-Mobile-"}) + id
	case 1:
		return "ISUCONbot-Image/" + id
	case 2:
		return "Mediapartners-ISUCON-" + id
	case 3:
		return "ISUCONCoffee-" + id
	case 4:
		return pick(rng, []string{"ISUCONFeedSeeker-", "ISUCONFeedSeekerBeta-"}) + id
	case 5:
		return pick(rng, []string{"crawler (https://isucon.invalid/support/faq/",
			"crawler (https://isucon.invalid/help/jp/"}) + id + ")"
	case 6:
		return id + "-isubot"
	case 7:
		return "Isupider-" + id
	case 8:
		return pick(rng, []string{"Isupider+", "Isupider-image+"}) + id
	}
	word := pick(rng, []string{"bot", "Bot", "BOT", "crawler", "Crawler", "CRAWLER", "spider", "Spider", "SPIDER"})
	switch rng.IntN(3) {
	case 0:
		return word + pick(rng, []string{"-", "_", " ", ".", "/", ";", "@", "(", ")"}) + id
	case 1:
		return "(" + word + ") " + id
	}
	return id + " " + word
}

// uuid returns a random UUID (RFC 9562, version 4).
func uuid(rng *rand.Rand) string {
	a, b := rng.Uint64(), rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0x3fff|0x8000, b&(1<<48-1))
}

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }
