package pathwalk

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// OpenBelow opens a file below a directory that the user has named, for reading, for somebody
// else. The directory is the user's word, as with [OpenNamed]. Below it no link is followed,
// and what another person than the owner of its directory owns, or has another name of, is not
// opened: who may write there could otherwise hand over what is not his. The error is a
// [*RefusedError] then.
func OpenBelow(dir, name string) (f *os.File, err error) {
	full := filepath.Join(dir, name)
	err = lookNamed(dir, func(fd int) error {
		return walk(Name(fd), "/proc/self", below{}, full, name, openAs(full, &f))
	})
	if refused := new(RefusedError); errors.As(err, &refused) && refused.hint == "" {
		refused.hint = "name what it leads to, and let that be allowed"
	}
	return f, err
}

// below is the rule of [OpenBelow].
type below struct{ named }

// Follow refuses each link.
func (below) Follow(_, link, _ *unix.Stat_t) error {
	return refuse("uid %d made a link of it, and none is followed here", link.Uid)
}
