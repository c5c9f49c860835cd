//go:build !linux

package scenario

import "errors"

func pinToCPUs([]int) (func(), error) {
	return nil, errors.New("this system cannot put a process on cores")
}

func checkCPUs([]int) error { return nil }
