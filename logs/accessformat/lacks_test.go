package accessformat

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/nginxconf"
)

func TestLacks(t *testing.T) {
	f := func(sample string, want string) {
		t.Helper()
		format, err := Detect([]byte(sample))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range format.Lacks([]byte(sample)) {
			got = append(got, l.Variable)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s lacks %s, want %s", format.Name(), s, want)
		}
	}
	combined := `10.0.0.1 - - [20/Nov/2026:14:02:41 +0900] "GET /a HTTP/1.1" 200 12 "-" "curl/8"`
	f(combined+"\n", "$request_time $upstream_response_time $upstream_connect_time $request_length $msec")
	f(combined+" 0.012\n", "$upstream_response_time $upstream_connect_time $request_length $msec")
	f("time:1763600000.123\tmethod:GET\turi:/a\tstatus:200\tsize:1\treqtime:0.001\tua:x\n",
		"$upstream_response_time $upstream_connect_time $request_length")
	f(`{"time":1763600000.123,"request":{"method":"GET","uri":"/a"},"status":200,"duration":0.2,"size":3}`+"\n",
		"$upstream_response_time $http_user_agent $upstream_connect_time $request_length")
}

// TestLacksNothing: the log_format that is proposed has all that is read.
func TestLacksNothing(t *testing.T) {
	format, err := ParseFormat(nginxconf.LogFormat)
	if err != nil {
		t.Fatal(err)
	}
	sample := "time:1763600000.123\thost:::1\tvhost:h\tmethod:GET\turi:/a\tstatus:200\tsize:1\trequest_length:20\t" +
		"reqtime:0.001\tupstream_time:-\tupstream_connect_time:-\tua:-\n"
	if lacks := format.Lacks([]byte(sample)); len(lacks) > 0 {
		t.Errorf("it lacks %+v", lacks)
	}
	found, err := Detect([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if lacks := found.Lacks([]byte(sample)); len(lacks) > 0 {
		t.Errorf("as %s it lacks %+v", found.Name(), lacks)
	}
}
