package accessformat

import (
	"reflect"
	"strings"
	"testing"
)

// hardLines are lines that the fast ways may get wrong.
var hardLines = []string{
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET /a HTTP/1.1" 200 12 "-" "agent" 0.021`,
	`2001:db8::1 - - [21/Aug/2021:10:00:00 +0900] "GET /a HTTP/1.1" 304 - "-" "-" 0.000`,
	`1.2.3.4 - bob [21/Aug/2021:10:00:00 +0900] "GET /a HTTP/1.1" 200 12 "-" "agent" 0.021`,
	`1.2.3.4 - bob smith [21/Aug/2021:10:00:00 +0900] "GET /a HTTP/1.1" 200 12 "-" "agent" 0.021`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET /\"q\" HTTP/1.1" 200 12 "a\"b" "c\\" 0.5`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET /\x22 HTTP/1.1" 200 12 "\\" "\"" 0.5`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "\x16\x03\x01\x00\xEE\x01" 400 150 "-" "-" 0.000`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "-" 408 0 "-" "-" 60.000`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "" 400 0 "" "" -`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.1" 999 18446744073709551615 "-" "-" 1`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.1" 999 99999999999999999999 "-" "-" 1`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.1" 2000 1 "-" "-" 1`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.1" 20 1 "-" "-" 1`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00] "GET / HTTP/1.1" 200 1 "-" "-" 1`,
	`1.2.3.4 - - [31/Feb/2021:10:00:00 +0900] "GET / HTTP/1.1" 200 1 "-" "-" 1`,
	`1.2.3.4 - - [-] "GET / HTTP/1.1" 200 1 "-" "-" 1`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.1" 200 1x "-" "-" 1`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.1" 200 1 "-" "-`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.1" 200 1 "-" "-"`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.1" 200 1 "-"`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.1" 200 1`,
	`1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.1" 200 `,
	` - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.1" 200 1 "-" "-" 1`,
	`1.2.3.4 - - [`, `1.2.3.4 - -`, `-`, "",
}

// checkHot checks that a line is read the same with and without the reader for
// combined lines.
func checkHot(t *testing.T, f *Format, line []byte) {
	t.Helper()
	fast, slow := f.Parser(ParserOptions{Location: tokyo}), f.Parser(ParserOptions{Location: tokyo})
	if slow.hot = 0; fast.hot == 0 {
		t.Fatal("no fast way")
	}
	for range 2 { // the second time with the time remembered
		var got, want Record
		why, wantWhy := fast.parse(line, &got), slow.parse(line, &want)
		if why != wantWhy || why == "" && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\n got %+v %s\nwant %+v %s", line, got, why, want, wantWhy)
		}
	}
}

// hotFormats are formats that begin with what the fast way reads.
func hotFormats(t testing.TB) []*Format {
	var out []*Format
	for _, spec := range []string{
		nginxCombined, nginxCombined + " $request_time", nginxCombined + ` "$http_x_forwarded_for" $upstream_response_time [$request_time]`,
		`%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %D`,
	} {
		f, err := ParseFormat(spec)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return append(out, anyCombined)
}

func TestCombined_AsBySteps(t *testing.T) {
	for _, f := range hotFormats(t) {
		for _, line := range hardLines {
			checkHot(t, f, []byte(line))
			checkHot(t, f, []byte(strings.TrimSuffix(line, " 0.021")+` "x" - [1.5]`))
		}
	}
	lines, _ := sampleLines(t, "combined.log")
	for _, line := range lines {
		checkHot(t, hotFormats(t)[1], line[:len(line)-1])
	}
}

func FuzzCombined(f *testing.F) {
	for i, line := range hardLines {
		f.Add([]byte(line), uint8(i))
	}
	formats := hotFormats(f)
	f.Fuzz(func(t *testing.T, line []byte, n uint8) {
		checkHot(t, formats[int(n)%len(formats)], line)
	})
}
