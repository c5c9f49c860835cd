package mask

import (
	"fmt"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// TestSeconds: the errors of requests name what could not be reached.
func TestSeconds(t *testing.T) {
	seconds := []kasoku.LoadSecond{{Errors: map[string]uint64{"dial http://me:hunterTwo@x/?token=hunterTwo: refused": 2, "dial http://me:other@x/?token=y: refused": 3}}}
	got := Seconds(seconds)
	if n := got[0].Errors["dial http://me:***@x/?token=*** refused"]; n != 5 || len(seconds[0].Errors) != 2 {
		t.Errorf("%v of %v", got[0].Errors, seconds[0].Errors)
	}
}

// TestRun_Twice: what is masked stays as it is.
func TestRun_Twice(t *testing.T) {
	r := kasoku.Run{Load: "mysql -psecret -u a:b", StopReason: "password=x", Length: time.Second,
		Command: &kasoku.Command{Args: []string{"curl", "-u", "a:b", "--token", "x"}, Output: "token: x\nCookie: y\n"}}
	once := Run(r)
	twice := Run(once)
	if fmt.Sprint(once.Load, once.StopReason, *once.Command) != fmt.Sprint(twice.Load, twice.StopReason, *twice.Command) {
		t.Errorf("%+v became %+v", once, twice)
	}
	if r.Command.Args[2] != "a:b" {
		t.Error("the command itself was changed")
	}
}
