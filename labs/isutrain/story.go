package isutrain

import "github.com/kasoku/kasoku/labs/writeup"

// SearchEndpoint is the one whose mean latency the story follows, as nginx writes it.
const SearchEndpoint = "GET /api/train/search"

// story is the write-up, which is of traps rather than of speed: of its scores the best, 9,107, and the one that
// counted, 8,995, were published, none of a single step. So what its author said of a step is a direction.
func story() *writeup.Story {
	const (
		drawn = "a score of some hundred requests: two runs of one state differ by more than 5 %"
		ours  = "ours, of what the lab seeds: the write-up does not say what was mended by then"
	)
	return &writeup.Story{
		Lab: "isutrain", About: "why did a key that was added and dropped again break the answers?",
		Figures: []writeup.Figure{
			{Key: "score", Name: "score"},
			{Key: "search_mean_ms", Name: "search, mean", Unit: "ms", Less: true},
		},
		Steps: []writeup.Step{
			{Name: "initial", Did: "the service as it was shipped"},
			{Name: "hurried-key", Saw: "the database leads, and a table without a key is slow",
				Did:     "a primary key on train_master: not at once, and in the end, the benchmark fails",
				Against: []string{"initial"}, Expect: writeup.Worse},
			{Name: "dropped-key", Saw: "wrong answers, of trains that leave in one minute",
				Did:     "the key dropped again, which brings no order back",
				Against: []string{"initial"}, Expect: writeup.Worse},
			{Name: "clocks", Saw: "times in logs eight hours apart: the image of the provider is in +08:00",
				Did: "the rows loaded anew, and the times of both read as they are", Against: []string{"initial"},
				Expect: writeup.Same, Differs: drawn},
			{Name: "indexed", Saw: "the database's CPU leads on one host, two are idle",
				Did: "an order in each statement, then indexes", Against: []string{"initial"}, Expect: writeup.Better},
			{Name: "quiet", Saw: "docker-compose, attached, grows with what the application prints",
				Did: "no line for each seat; the service without docker", Against: []string{"indexed"},
				Expect: writeup.Same, Differs: "what a line costs is where it goes: here to a file, there through docker"},
			{Name: "ten-days", Did: "few statements, short locks; /initialize still says ten days",
				Against: []string{"indexed"}, Expect: writeup.Better, Differs: ours},
			{Name: "tuned", Saw: "nothing is busy: the benchmark comes as /initialize allows",
				Did: "forty days", Against: []string{"ten-days", "initial"}, Expect: writeup.Better},
		},
	}
}
