package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A mistake is a command line, or what it is given, that people get wrong, as the trackers of
// the program in from have it again and again.
type mistake struct {
	from string // vegeta, k6, alp, pt-query-digest, mysql; "" is kasoku's own
	args string // fields; URL, TLS, USED and CLOSED stand for a server, one of TLS, and a port that is taken, or free
	code int
	// What the line that names the cause says, and the one that helps; no second where the first
	// says what is wanted.
	cause, help string
}

var mistakes = []mistake{
	// The generator of load.
	{"vegeta", "attack ADDR/", 2, `"127\.0\.0\.1:\d+/": want a URL`, `did you mean http://127`},
	{"vegeta", "attack GET URL", 2, `"GET": want a URL`, `-X GET http://127`},
	{"vegeta", "attack targets.txt", 2, `"targets\.txt": want a URL`, `-targets targets\.txt`},
	{"vegeta", "attack -targets bare.txt -duration 10ms", 3, `bare\.txt:1|line 1`, `METHOD URL`},
	{"vegeta", "attack -targets none.txt", 3, `none\.txt: no such file`, `targets`},
	{"vegeta", "attack -rate 10 -duration 10ms", 3, `no targets`, `--target 'GET http://host/'`},
	{"vegeta", "attack URL -rate fast", 2, `bad rate "fast"`, `-rate 100`},
	{"vegeta", "attack URL -duration 10", 2, `missing unit`, `--duration 10s`},
	{"vegeta", "attack URL -header Accept", 2, `header|invalid argument "Accept"`, `'K: V'|Name: value|Accept: `},
	{"vegeta", "report access.log", 3, `access\.log: bad result`, `kasoku attack -output FILE`},
	{"k6", "attack CLOSED -duration 10ms", 1, `connection refused`, `is the server running`},
	{"k6", "attack http://no-such-host.invalid/ -duration 10ms", 1, `no such host|lookup .* unreachable`, `name|spelling|allow`},
	{"k6", "attack https://ADDR/ -duration 10ms", 1, `HTTP response to HTTPS client|TLS`, `http://`},
	{"k6", "attack TLS -duration 10ms", 1, `certificate`, `-insecure`},
	{"k6", "attack http://203.0.113.7/ -duration 10ms", 2, `neither loopback nor private`, `allow`},
	{"k6", "attack URL --vus 10", 2, `unknown flag: --vus`, `-max-workers 10`},
	{"k6", "attack -s script.js URL", 2, `unknown shorthand flag: 's'`, `runs no scripts`},
	{"vegeta", "attack -c 10 -n 100 URL", 2, `unknown shorthand flag: 'c'`, `-max-workers 10`},
	{"vegeta", "attack URL -d 10s", 2, `-d is the body`, `-duration 10s`},

	// Access logs.
	{"alp", "accesslog --file access.log", 2, `unknown flag: --file`, `accesslog access\.log`},
	{"alp", "accesslog acces.log", 2, `acces\.log: no such file`, `log file|access\.log`},
	{"alp", "accesslog error.log", 1, `error\.log:1: unknown format`, `error log`},
	{"alp", "accesslog empty.log", 1, `no request`, `\S`},
	{"alp", "accesslog access.log --sort nope", 2, `no column "nope"`, `mean|total`},
	{"alp", "accesslog access.log -m [", 2, `missing closing|error parsing regexp`, `\S`},
	{"alp", "accesslog program", 2, `"program" is no log`, `name the log`},
	{"alp", "accesslog slow.log", 1, `unknown format`, `kasoku slowlog`},

	// Slow logs.
	{"pt-query-digest", "slowlog access.log", 1, `no statement`, `kasoku accesslog`},
	{"pt-query-digest", "slowlog --order-by Query_time:sum slow.log", 2, `no column "Query_time:sum": want calls, total`, ``},
	{"pt-query-digest", "slowlog slow.log --since yesterday", 2, `--since`, `\d\d:\d\d`},
	{"pt-query-digest", "slowlog none.log", 2, `none\.log: no such file`, `log file`},

	// Databases.
	{"mysql", "digest -u root -p secret", 2, `unknown shorthand flag: 'u'`, `--mysql 'USER:PASSWORD@tcp`},
	{"mysql", "digest --mysql root@ADDR/shop", 2, `no address`, `user:password@tcp`},
	{"mysql", "digest --mysql mysql://root@127.0.0.1:3306/shop", 2, `no address|URL`, `user:password@tcp`},
	{"mysql", "digest --mysql root@tcp(127.0.0.1:1)/", 3, `connection refused`, `is the server running`},
	{"mysql", "digest --mysql root@unix(/no/such.sock)/", 3, `no such file`, `@@socket`},
	{"mysql", "digest --mysql root@tcp(ADDR)/?timeout=200ms", 3, `deadline|timeout`, `not MySQL`},
	{"mysql", "digest --defaults-file none.cnf", 3, `none\.cnf`, `\S`},
	{"mysql", "digest", 2, `no server to ask`, `--defaults-file`},

	// kasoku's own.
	{"", "show", 2, `no finished run`, `kasoku record -- COMMAND`},
	{"", "vegeta attack", 2, `unknown command "vegeta"`, `kasoku attack`},
	{"", "URL", 2, `unknown command`, `kasoku attack http://127`},
	{"", "access.log", 2, `unknown command`, `kasoku accesslog access\.log`},
	{"", "record -for 5s", 2, `unknown shorthand flag`, `--for\?`},
	{"", "record --duration 5s", 2, `unknown flag: --duration`, `--for 60s`},
	{"", "record -- ls|wc", 3, `not found`, `sh -c`},
	{"", "run", 2, `no kasoku\.toml`, `kasoku init`},
	{"", "run --config broken.toml", 2, `broken\.toml:1`, `\S`},
	{"", "rules XXX-01", 2, `no rule "XXX-01"`, `kasoku rules`},
	{"", "rules POOL-99", 2, `no rule "POOL-99"`, `POOL-01, .*kasoku rules`},
	{"", "attack URL -prometheus-addr USED -duration 10ms", 3, `address already in use`, `ss -ltnp`},
	{"", "export --live --for 1s --only load --to prometheus --listen USED", 3, `address already in use`, `ss -ltnp`},
	{"", "accesslog access.log -o xml", 2, `-o "xml": want table`, `--out FILE`},
	{"", "attack URL -o txt -duration 10ms", 2, `-o "txt": want text`, `did you mean -o text\?`},
	{"", "attack URL -X", 2, `flag needs an argument: 'X'`, `--request METHOD`},
	{"", "watch --duration 5s", 2, `unknown flag: --duration`, `--for 60s`},
	{"", "init --url ADDR", 2, `want an URL`, `--url http://127`},
	{"", "init URL", 2, `unknown command`, `kasoku init --url http://127`},
	{"", "slow", 2, `unknown command "slow"`, `did you mean "slowlog"`},
	{"", "diagnose --rule IDX-01", 2, `unknown flag: --rule`, `--why-not ID`},
	{"", "report", 3, `no results`, `kasoku attack .*kasoku show`},
	{"", "run --rate 100", 2, `unknown flag: --rate`, `load\.steps in kasoku\.toml`},
	{"", "help atack", 2, `unknown command "atack"`, `did you mean "attack"`},
}

// mistakeFiles are what the command lines name.
var mistakeFiles = map[string]string{
	"targets.txt": "GET http://127.0.0.1/\n",
	"bare.txt":    "http://127.0.0.1/\n",
	"access.log":  `127.0.0.1 - - [20/Nov/2026:14:02:11 +0900] "GET / HTTP/1.1" 200 5 "-" "-" 0.021` + "\n",
	"error.log":   `2026/11/20 14:02:11 [error] 9#9: *1 connect() failed (111: Connection refused) while connecting to upstream` + "\n",
	"empty.log":   "",
	"slow.log": "# Time: 2026-11-20T05:02:11.000000Z\n# User@Host: a[a] @ localhost []  Id: 1\n" +
		"# Query_time: 1.0  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 1\nSELECT 1;\n",
	"program":     "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 100) + "text",
	"broken.toml": "project = \n",
	"script.js":   "export default function () {}\n",
}

// TestMistakes runs what people get wrong first, against the program itself: the line that
// names the cause, and the line that helps.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range mistakeFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answer := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	plain, secure, gone := httptest.NewServer(answer), httptest.NewTLSServer(answer), httptest.NewServer(answer)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	gone.Close()
	words := strings.NewReplacer("ADDR", plain.Listener.Addr().String(), "USED", plain.Listener.Addr().String(),
		"URL", plain.URL+"/", "TLS", secure.URL+"/", "CLOSED", gone.URL+"/")
	t.Run("all", func(t *testing.T) {
		for _, m := range mistakes {
			t.Run(m.args, func(t *testing.T) {
				t.Parallel()
				m.check(t, dir, strings.Fields(words.Replace(m.args)))
			})
		}
	})
}

// TestHintsNameKeys: keys of kasoku.toml that hints name are keys that it has.
func TestHintsNameKeys(t *testing.T) {
	page, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for command, flags := range flagsElsewhere {
		for flag, text := range flags {
			for _, m := range regexp.MustCompile(`([a-z]+\.[a-z_]+) in kasoku\.toml`).FindAllStringSubmatch(text, -1) {
				named++
				if !strings.Contains(string(page), "| `"+m[1]+"` |") {
					t.Errorf("%s --%s: docs/config.md has no %s", command, flag, m[1])
				}
			}
		}
	}
	if named < 3 {
		t.Errorf("%d keys are named: they are not looked at", named)
	}
}

func (m mistake) check(t *testing.T, dir string, args []string) {
	cmd := exec.Command("kasoku", args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &stderr
	code := 0
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	says := func(pattern string) bool { return regexp.MustCompile(`(?m)^` + pattern).Match(stderr.Bytes()) }
	if code != m.code {
		t.Errorf("exit code %d, want %d", code, m.code)
	}
	if !says(`(kasoku: error|exit 1): .*(` + m.cause + `)`) {
		t.Errorf("no line names the cause, %s", m.cause)
	}
	if m.help != "" && !says(`kasoku: hint: .*(`+m.help+`)`) {
		t.Errorf("no line helps with %s", m.help)
	}
	if t.Failed() {
		t.Logf("stderr:\n%s", stderr.String())
	}
}
