package command

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/user"

	"strconv"

	"github.com/kasoku/kasoku/internal/procstat"
)

// User ids that belong to no account: systemd gives them to services with
// DynamicUser=, and distributions give them to no account (systemd.exec(5)).
const (
	firstUnused = 61184
	lastUnused  = 65519
)

// Unused returns an identity that no account of the host has and no process: for a program
// that reads what strangers have written. What it may reach belongs to it alone.
//
// It is for root; an error says that no id was found.
func Unused() (*Identity, error) {
	taken := usersOfProcesses()
	for range 100 {
		id := firstUnused + rand.IntN(lastUnused-firstUnused+1)
		var noUser user.UnknownUserIdError
		var noGroup user.UnknownGroupIdError
		_, err := user.LookupId(strconv.Itoa(id))
		_, groupErr := user.LookupGroupId(strconv.Itoa(id))
		if !taken[id] && errors.As(err, &noUser) && errors.As(groupErr, &noGroup) {
			return &Identity{UID: id, GID: id}, nil
		}
	}
	return nil, fmt.Errorf("no user id from %d to %d is free", firstUnused, lastUnused)
}

// usersOfProcesses are the owners of /proc/PID, the effective users of the processes.
func usersOfProcesses() map[int]bool {
	users := map[int]bool{}
	pids, _ := procstat.Processes("/proc") // without procfs all users are unused
	for _, pid := range pids {
		if uid, err := ownerOf("/proc/" + strconv.Itoa(pid)); err == nil {
			users[uid] = true
		}
	}
	return users
}
