package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/recorded"
)

// lines are what a picture says, a line for each member and what leads to it.
func lines(s report.Section) (out []string) {
	for _, b := range s.Blocks {
		p, ok := b.(*report.Picture)
		if !ok {
			continue
		}
		for _, stop := range p.Stops {
			out = append(out, stop.Paths...)
			for _, m := range stop.Members {
				out = append(out, fmt.Sprintf("[%s] %s", m.Name, strings.Join(slices.Concat(words(m.Kind), m.Facts, words(m.Beside)), "; ")))
			}
		}
		for _, x := range p.Shares {
			out = append(out, x.Name+" "+x.Text)
		}
	}
	return out
}

// TestPicture: members stand in the order of a request's way, what leads to each is said, neighbours are said once a
// host, a member that is not sure has a mark, and the time of requests is shared out only where it can be.
func TestPicture(t *testing.T) {
	shop, _ := sample.Analysed()
	beside := func(host string) string { return "neighbours of " + host }
	got := strings.Join(lines(PictureSection(recorded.View{Recording: shop}, beside)), "\n")
	const want = `[load] the command; 763 requests/s
32 connections, http
[nginx :8080] web server · 1.22.1; neighbours of web1
8 connections, http
[puma] application · ruby
1,938 statements/s
mariadbd: 10 connections, mysql
redis-server: 1 connection, redis, idle
[mariadbd :3306] database · MariaDB 10.11.14
[redis-server :6379?] cache
web server, and sending 2.0 %
application, and what it waits for 42.1 %
statements 55.9 %`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Statements that took longer than all requests ran beside one another: no shares.
	shop.Queries[0].Total *= 100
	if got := strings.Join(lines(PictureSection(recorded.View{Recording: shop}, beside)), "\n"); strings.Contains(got, "%") {
		t.Errorf("shares of more than there is:\n%s", got)
	}
	shop.Service = nil
	if s := PictureSection(recorded.View{Recording: shop}, beside); len(s.Blocks) > 0 {
		t.Errorf("a picture of no service: %+v", s)
	}
}
