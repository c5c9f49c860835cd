package main

import (
	"encoding/json"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/wire/mackerel/program"
)

// A memory is what is kept from one run to the next. Times are seconds since the
// epoch, 0 for never.
type memory struct {
	Status   string `json:"status"`
	Retired  bool   `json:"retired"`
	Answered int64  `json:"answered"` // when the server answered with Status
	Asked    int64  `json:"asked"`    // when somebody asked, in vain or not
	Failure  string `json:"failure"`  // why the last question was in vain
	Refused  string `json:"refused"`  // what the last answer was when waiting does not mend it
}

// asking is the memory while a question is under way: no answer, until there is one. A
// refusal stands until then.
func (m memory) asking(now time.Time) memory {
	m.Asked, m.Failure = now.Unix(), "a question is under way, or was given up"
	return m
}

// fresh reports whether there is no need to ask. A question from the future is
// that of another clock.
func (m memory) fresh(now time.Time, ttl time.Duration) bool {
	age := now.Sub(time.Unix(m.Asked, 0))
	return m.Asked > 0 && age >= 0 && age < ttl
}

// readMemory returns what is remembered, and nothing when that is not of our own
// making: the directory may be everybody's, and a gate must not be closed or held
// open by a file of anybody.
func readMemory(path string) memory {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return memory{}
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return memory{}
	}
	b, err := program.ReadFile(path)
	if err != nil {
		return memory{}
	}
	m, err := parseMemory(b)
	if err != nil {
		return memory{}
	}
	return m
}

func parseMemory(b []byte) (memory, error) {
	var m memory
	if err := json.Unmarshal(b, &m); err != nil {
		return memory{}, err
	}
	if m.Asked < 0 || m.Answered < 0 || m.Answered > m.Asked {
		return memory{}, errors.New("times in no order")
	}
	return m, nil
}

func (m memory) write(path string) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return program.WriteFile(path, append(b, '\n'))
}
