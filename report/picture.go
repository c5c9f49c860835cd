package report

// A Picture is the way of requests through what is measured: the load first, then what it
// asks, then what that asks. The line of facts above it names the same, so that only pages
// draw it.
type Picture struct {
	Stops []Stop
	// Shares are where the time of requests goes, together 1; none where that is not known.
	Shares []TimeShare
	Note   Prose // what the shares are of
}

// A Stop is all that is asked from the same side, and what leads to it.
type Stop struct {
	Paths   []string // what runs from the stop before: 151 requests/s, 8 connections; none before the load
	Members []PictureMember
}

// A PictureMember is one program of the service, or the load.
type PictureMember struct {
	Name, Kind string // mariadbd; MariaDB 10.11
	Colour     string // of the palette
	Facts      []string
	Beside     string // what neighbours on its host use; said once a host
}

// A TimeShare is a part of the time of requests.
type TimeShare struct {
	Name, Text string // database; 84 %
	Colour     string
	Part       float64 // 0..1
}

func (*Picture) block() {}

// Drawn says that there is nothing in the section but what only pages draw: text says it elsewhere.
func (s *Section) Drawn() bool {
	for _, b := range s.Blocks {
		if _, ok := b.(*Picture); !ok {
			return false
		}
	}
	return len(s.Blocks) > 0
}
