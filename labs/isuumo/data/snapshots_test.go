package data

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/labs/isuumo/model"
)

// snapshotDirs are the contest's directories, with how many files each has.
var snapshotDirs = map[string]int{
	"chair_detail": 100, "chair_search": 100, "chair_search_condition": 1, "chair_low_priced": 1,
	"estate_detail": 100, "estate_search": 100, "estate_search_condition": 1, "estate_low_priced": 1,
	"recommended_estate_with_chair": 100, "estate_nazotte": 100,
}

// TestSnapshots: the requests are of the contest's form, and the answers have its
// keys and limits.
func TestSnapshots(t *testing.T) {
	all := Snapshots(small(), DefaultSeed)
	golden.CheckString(t, "testdata/snapshots.golden", fmt.Sprintf("small seed %d: %x\n", DefaultSeed, sha256.Sum256([]byte(text(all)))))
	if !reflect.DeepEqual(all, Snapshots(small(), DefaultSeed)) {
		t.Error("the same seed gives other snapshots")
	}
	counts := map[string]int{}
	for _, dir := range all {
		counts[dir.Name] = len(dir.Snapshots)
		for i, s := range dir.Snapshots {
			refused := i == 0 && strings.HasSuffix(s.Request.Resource, "/0")
			if (s.Response.StatusCode == 200) == refused || (s.Response.Body == "") != refused {
				t.Errorf("%s %d: status %d, body %.50q", dir.Name, i, s.Response.StatusCode, s.Response.Body)
			}
			if refused {
				continue
			}
			checkAnswer(t, dir.Name, s)
		}
	}
	if !reflect.DeepEqual(counts, snapshotDirs) {
		t.Errorf("directories %v, want %v", counts, snapshotDirs)
	}
	for _, dir := range all {
		if status := dir.Snapshots[0].Response.StatusCode; dir.Name == "recommended_estate_with_chair" && status != 400 {
			t.Errorf("recommendation for chair 0: status %d, want 400", status)
		}
	}
}

func checkAnswer(t *testing.T, dir string, s Snapshot) {
	t.Helper()
	var answer map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s.Response.Body), &answer); err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	for _, hidden := range []string{`"popularity"`, `"stock"`, "null"} {
		if strings.Contains(s.Response.Body, hidden) {
			t.Errorf("%s shows %s: %.200s", dir, hidden, s.Response.Body)
		}
	}
	_, counted := answer["count"]
	switch dir {
	case "chair_search", "estate_search":
		q, err := url.ParseQuery(s.Request.Query)
		if n := strings.Count(q.Get("features"), ",") + 1; err != nil || !counted || q.Get("features") == "" || n > 3 || q.Get("page") != "0" {
			t.Errorf("%s: query %s, %v, counted %v", dir, s.Request.Query, err, counted)
		}
		if strings.Contains(q.Get("features"), "フットレスト付き") || strings.Contains(q.Get("features"), "デザイナーズ物件") {
			t.Errorf("%s asks for the last feature: %s", dir, s.Request.Query)
		}
	case "estate_nazotte":
		var body model.PolygonRequest
		var list model.EstateList
		if err := json.Unmarshal([]byte(s.Request.Body), &body); err != nil || len(body.Coordinates) < 4 || s.Request.Method != "POST" {
			t.Errorf("%s: %+v, %v", dir, s.Request, err)
		}
		if err := json.Unmarshal([]byte(s.Response.Body), &list); err != nil || list.Count == nil || int(*list.Count) != len(list.Estates) || len(list.Estates) > 50 {
			t.Errorf("%s: %.100s, %v", dir, s.Response.Body, err)
		}
	case "chair_low_priced", "estate_low_priced", "recommended_estate_with_chair":
		if counted {
			t.Errorf("%s has a count", dir)
		}
	}
}
