package accesslog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
)

// crowd is a log of n clients and paths that are all different; the second half
// has one more client, with every tenth request, and one more path.
func crowd(n int) string {
	var b strings.Builder
	for i := range n {
		host, path := fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), "/"+crowdName(i)
		if i > n/2 && i%10 == 0 {
			host, path = "192.0.2.9", "/attack"
		}
		fmt.Fprintf(&b, "%s - - [20/Nov/2026:14:%02d:%02d +0900] \"GET %s HTTP/1.1\" 200 10 \"-\" \"curl\" 0.0%02d\n", host, i/60000%60, i/1000%60, path, i%97)
	}
	return b.String()
}

func crowdName(i int) string {
	out := ""
	for ; i > 0; i /= 10 {
		out += string(rune('g' + i%10))
	}
	return out + "x"
}

// TestFrequent: who comes late but often has a row of its own, and the same one
// however many workers read.
func TestFrequent(t *testing.T) {
	log := crowd(60_000)
	for by, key := range map[string]string{"host": "192.0.2.9", "route": "/attack"} {
		var want []Row
		for _, workers := range []int{1, 2, 3, 8} {
			in := []lines.Input{{Path: "-", R: strings.NewReader(log)}}
			table, windows, err := CollectAll(context.Background(), in, Options{By: []string{by}, MaxRoutes: 500, Workers: workers, BlockSize: 16 << 10}, nil)
			if err != nil || windows[0].Records != 60_000 {
				t.Fatal(err, windows)
			}
			rows := table.Rows()
			var sum, own uint64
			for i := range rows {
				sum += rows[i].Count
				if rows[i].Key[0] == key {
					own = rows[i].Count
				}
			}
			if sum != 60_000 || own < 2000 || own > 3000 {
				t.Errorf("%s, %d workers: %d of 3000 requests in the row, %d in all", by, workers, own, sum)
			}
			if want == nil {
				want = rows
			}
			if !reflect.DeepEqual(rows, want) {
				t.Errorf("%s: %d workers give other rows than 1", by, workers)
			}
		}
	}
}

// TestFrequent_Alone: a table without blocks knows them too.
func TestFrequent_Alone(t *testing.T) {
	table := NewTable(Options{By: []string{"host"}, MaxRoutes: 500})
	r := accessformat.NewReader(lines.NewReader(strings.NewReader(crowd(60_000)), 0), time.UTC)
	for r.Scan() {
		table.Add(r.Record())
	}
	for _, row := range table.Rows() {
		if row.Key[0] == "192.0.2.9" && row.Count > 2000 {
			return
		}
	}
	t.Error("no row of the frequent client")
}

// TestFrequent_Broken: no worker waits for blocks that do not come.
func TestFrequent_Broken(t *testing.T) {
	log := crowd(20_000)
	broken := errors.New("broken")
	for range 5 {
		in := []lines.Input{{Path: "-", R: io.MultiReader(strings.NewReader(log), iotest.ErrReader(broken))}}
		_, _, err := CollectAll(context.Background(), in, Options{Workers: 8, BlockSize: 2 << 10}, nil)
		if !errors.Is(err, broken) {
			t.Fatal(err)
		}
	}
	g := NewTable(Options{}).reg
	done := make(chan struct{})
	go func() {
		g.await(3 * decisionLag)
		close(done)
	}()
	g.end()
	<-done
}

// TestBallot: the key of many requests is found among others.
func TestBallot(t *testing.T) {
	var b ballot
	for i := range 4000 {
		b.add([]byte(crowdName(i)))
		b.add(bytes.Repeat([]byte("k"), 1+i%2))
	}
	result := b.appendResult(nil)
	found := map[string]int{}
	for len(result) > 0 {
		n := int(result[0])
		var key []byte
		key, result = cutKey(result[1:])
		found[string(key)] = n
	}
	if found["k"] < 100 && found["kk"] < 100 || len(found) > 40 {
		t.Errorf("%v", found)
	}
	if b.appendResult(nil) != nil {
		t.Error("not empty")
	}
}
