package rules

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/test/golden"
)

// families name the groups of ids in English and Japanese, in the order of the
// page.
var families = []struct {
	prefix string
	name   [2]string
}{
	{"IDX", [2]string{"Indexes", "インデックス"}}, {"QRY", [2]string{"Statements", "文"}}, {"DRV", [2]string{"Drivers", "ドライバー"}},
	{"POOL", [2]string{"Connections", "接続"}}, {"DBC", [2]string{"Database: settings and commits", "データベース：設定とコミット"}},
	{"LCK", [2]string{"Locks", "ロック"}}, {"NGX", [2]string{"nginx", "nginx"}}, {"CCH", [2]string{"Caches", "キャッシュ"}},
	{"APP", [2]string{"Applications", "アプリケーション"}}, {"HW", [2]string{"Hosts", "ホスト"}}, {"OS", [2]string{"Limits of the system", "システムの上限"}},
	{"CLI", [2]string{"Clients of services with limits", "制限のあるサービスのクライアント"}},
	{"TS", [2]string{"Time-series databases", "時系列データベース"}},
	{"OPS", [2]string{"Operation", "運用"}}, {"MES", [2]string{"Measuring", "測定"}},
}

// TestPage: docs/diagnosis.md and the Japanese page list every rule by its group
// with the first sentence of its comment. With -update the lists are written anew.
func TestPage(t *testing.T) {
	for i, path := range []string{"../../docs/diagnosis.md", "../../docs/ja/diagnosis.md"} {
		checkPage(t, path, ruleList(t, i))
	}
}

func checkPage(t *testing.T, path, want string) {
	t.Helper()
	const from, to = "<!-- rules -->\n", "<!-- /rules -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), from)
	was, tail, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the list", path)
	}
	switch {
	case was == want:
	case golden.Update():
		if err := os.WriteFile(path, []byte(head+from+want+to+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the list of rules in %s is not that of All: go test ./diagnose/rules -run TestPage -update\n%s", path, want)
	}
}

// ruleList is the list with the names of families in one of the languages.
func ruleList(t *testing.T, language int) string {
	t.Helper()
	var b strings.Builder
	listed := 0
	for _, f := range families {
		var of []diagnose.Rule
		for _, r := range All() {
			if prefix, _, _ := strings.Cut(r.ID(), "-"); prefix == f.prefix {
				of = append(of, r)
			}
		}
		if len(of) == 0 {
			continue
		}
		listed += len(of)
		slices.SortFunc(of, func(a, b diagnose.Rule) int { return strings.Compare(a.ID(), b.ID()) })
		fmt.Fprintf(&b, "\n### %s\n\n| id | the rule |\n|---|---|\n", f.name[language])
		for _, r := range of {
			fmt.Fprintf(&b, "| `%s` | %s |\n", r.ID(), firstSentence(r.Doc().Line()))
		}
	}
	if listed != len(All()) {
		t.Errorf("%d of %d rules are of a family", listed, len(All()))
	}
	return b.String() + "\n"
}

// firstSentence returns the first sentence of a summary.
func firstSentence(text string) string {
	if i := strings.Index(text, ". "); i > 0 {
		text = text[:i+1]
	}
	return strings.ReplaceAll(text, "|", "\\|")
}
