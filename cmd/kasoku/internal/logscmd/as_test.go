package logscmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestShieldPeer(t *testing.T) {
	root := &cobra.Command{Use: "kasoku"}
	root.PersistentFlags().String("color", "", "")
	sub := &cobra.Command{Use: "accesslog", Args: cobra.ArbitraryArgs, Run: func(*cobra.Command, []string) {}}
	(&asPeer{peers: []peer{{name: "alp"}}}).register(sub)
	sub.AddCommand(&cobra.Command{Use: "diff", Run: func(*cobra.Command, []string) {}})
	root.AddCommand(sub, &cobra.Command{Use: "record", Run: func(*cobra.Command, []string) {}})
	f := func(args, want string) {
		t.Helper()
		in := strings.Fields(args)
		before := slices.Clone(in)
		if got := strings.Join(ShieldPeer(root, in), " "); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
		if !slices.Equal(in, before) {
			t.Errorf("%q: the arguments were changed", args)
		}
	}
	f("", "")
	f("accesslog a.log", "accesslog a.log")
	f("accesslog --as alp ltsv -m a,b --sort sum", "accesslog --as alp -- ltsv -m a,b --sort sum")
	f("accesslog --as=alp ltsv -r", "accesslog --as=alp -- ltsv -r")
	f("accesslog a.log --as alp diff x y", "accesslog a.log --as alp -- diff x y")
	f("accesslog --as alp", "accesslog --as alp --")
	f("accesslog --as", "accesslog --as")
	f("--color never accesslog --as alp -- x", "--color never accesslog --as alp -- -- x")
	f("record -- x --as alp y", "record -- x --as alp y")
	f("record --as alp y", "record --as alp y")
	f("nothing --as alp y", "nothing --as alp y")
}
