package foreign

import (
	"slices"
	"testing"
)

const statusText = "Name:\tmysqld\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t8 9 \nCapEff:\t00000000a80425fb\n"

func TestParseStatus(t *testing.T) {
	uids, r := parseStatus([]byte(statusText))
	if uids != [4]int{1, 2, 3, 4} || r.uid != 4 || r.gid != 8 || !slices.Equal(r.groups, []int{8, 9}) || r.caps != 0xa80425fb {
		t.Errorf("%v %+v", uids, r)
	}
	if uids, r := parseStatus([]byte("Uid:\t1\nCapEff:\tx\n")); uids[0] != -1 || r.uid != -1 || r.caps != 0 {
		t.Errorf("%v %+v", uids, r)
	}
}

func TestSystemUnit(t *testing.T) {
	for group, want := range map[string]string{
		"0::/system.slice/app.service\n":                                           "app.service",
		"1:name=systemd:/system.slice/system-app.slice/app@1.service\n":            "app@1.service",
		"0::/user.slice/user-1001.slice/user@1001.service/app.slice/app.service\n": "",
		"0::/\n": "", "": "",
	} {
		if got := systemUnit([]byte(group)); got != want {
			t.Errorf("%q: %q, want %q", group, got, want)
		}
	}
}

func TestParseUnitUser(t *testing.T) {
	for text, want := range map[string]string{
		"[Unit]\nUser=x\n[Service]\nUser = isucon \n": "isucon",
		"[Service]\nUser=a\nUser=b\n":                 "b",
		"[Service]\n#User=a\n":                        "",
	} {
		if got := parseUnitUser(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if _, ok := unitUser("../../home/eve/x.service"); ok {
		t.Error("a unit outside of root's directories")
	}
}

func FuzzParseProcess(f *testing.F) {
	f.Add([]byte(statusText))
	f.Add([]byte("0::/system.slice/app.service\n"))
	f.Add([]byte("[Service]\nUser=a\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, r := parseStatus(b)
		if len(r.groups) > len(b) || len(systemUnit(b))+len(parseUnitUser(string(b))) > 2*len(b) {
			t.Errorf("%q", b)
		}
	})
}
