package vegeta

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load/nethttp"
)

// The values below are flags of Vegeta's attack, for pflag and the standard
// flag package. Each sets what it points to; its text is the default shown.

// A MaxBodyValue is -max-body: a size, or -1 for no limit.
type MaxBodyValue struct{ Bytes *int64 }

// Set reads the flag. [nethttp.Options] has the meanings of 0 and -1 swapped,
// so that its zero value is no limit.
func (v MaxBodyValue) Set(s string) error {
	switch strings.TrimSpace(s) {
	case "-1":
		*v.Bytes = 0
		return nil
	case "0":
		*v.Bytes = -1
		return nil
	}
	n, err := unit.ParseSize(s)
	if err != nil {
		return err
	}
	if n > math.MaxInt64 {
		return fmt.Errorf("bad size %q: out of range", s)
	}
	*v.Bytes = int64(n)
	if n == 0 {
		*v.Bytes = -1
	}
	return nil
}

// String returns the size as Vegeta's flag takes it.
func (v MaxBodyValue) String() string {
	switch {
	case v.Bytes == nil:
		return ""
	case *v.Bytes == 0:
		return "-1"
	case *v.Bytes < 0:
		return "0"
	}
	return strconv.FormatInt(*v.Bytes, 10)
}

// Type names the kind of value in help.
func (MaxBodyValue) Type() string { return "size" }

// A TimeoutValue is -timeout: a duration, 0 for none.
type TimeoutValue struct{ Timeout *time.Duration }

// Set reads the flag. In [nethttp.Options] 0 is the default, and none is below.
func (v TimeoutValue) Set(s string) error {
	d, err := unit.ParseDuration(s)
	if err != nil {
		return err
	}
	*v.Timeout = d
	if d == 0 {
		*v.Timeout = -1
	}
	return nil
}

// String returns the timeout as Vegeta's flag takes it.
func (v TimeoutValue) String() string {
	switch {
	case v.Timeout == nil:
		return ""
	case *v.Timeout == 0:
		return nethttp.DefaultTimeout.String()
	case *v.Timeout < 0:
		return "0s"
	}
	return v.Timeout.String()
}

// Type names the kind of value in help.
func (TimeoutValue) Type() string { return "duration" }

// A DNSTTLValue is -dns-ttl: a duration; 0 for as long as the load, -1 for one
// connection.
type DNSTTLValue struct{ TTL *time.Duration }

// Set reads the flag.
func (v DNSTTLValue) Set(s string) (err error) {
	if strings.TrimSpace(s) == "-1" {
		*v.TTL = -1
		return nil
	}
	ttl, err := unit.ParseDuration(s)
	if err == nil {
		*v.TTL = ttl
	}
	return err
}

// String returns the duration as Vegeta's flag takes it.
func (v DNSTTLValue) String() string {
	switch {
	case v.TTL == nil:
		return ""
	case *v.TTL < 0:
		return "-1"
	}
	return v.TTL.String()
}

// Type names the kind of value in help.
func (DNSTTLValue) Type() string { return "duration" }

// A RedirectsValue is -redirects: a number, or -1 not to follow any and count
// them as successes.
type RedirectsValue struct{ N *int }

// Set reads the flag. A 0 of Vegeta is [nethttp.RefuseRedirects].
func (v RedirectsValue) Set(s string) error {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil || n < -1:
		return fmt.Errorf("bad number of redirects %q: want -1 or more", s)
	case n == 0:
		n = nethttp.RefuseRedirects
	}
	*v.N = n
	return nil
}

// String returns the number as Vegeta's flag takes it.
func (v RedirectsValue) String() string {
	switch {
	case v.N == nil:
		return ""
	case *v.N == 0:
		return strconv.Itoa(nethttp.DefaultRedirects)
	case *v.N == nethttp.RefuseRedirects:
		return "0"
	}
	return strconv.Itoa(*v.N)
}

// Type names the kind of value in help.
func (RedirectsValue) Type() string { return "int" }

// A HeaderValue is -header: "Key: Value". It may be set several times; the
// case of names is kept.
type HeaderValue struct{ Header *http.Header }

// Set adds one header.
func (v HeaderValue) Set(s string) error {
	key, value, err := parseHeader(s)
	if err != nil {
		return err
	}
	if *v.Header == nil {
		*v.Header = http.Header{}
	}
	(*v.Header)[key] = append((*v.Header)[key], value)
	return nil
}

// String returns nothing: there is no default.
func (HeaderValue) String() string { return "" }

// Type names the kind of value in help.
func (HeaderValue) Type() string { return "header" }

// A ListValue is a list with commas, such as -root-certs.
type ListValue struct{ Items *[]string }

// Set replaces the list.
func (v ListValue) Set(s string) error {
	items := strings.Split(s, ",")
	for i := range items {
		if items[i] = strings.TrimSpace(items[i]); items[i] == "" {
			return errors.New("bad list: an entry is empty")
		}
	}
	*v.Items = items
	return nil
}

// String returns the list with commas.
func (v ListValue) String() string {
	if v.Items == nil {
		return ""
	}
	return strings.Join(*v.Items, ",")
}

// Type names the kind of value in help.
func (ListValue) Type() string { return "list" }
