package isuumo

import (
	"slices"
	"strings"
	"testing"
)

func TestParseDefects(t *testing.T) {
	for in, want := range map[string]string{
		"none":           "none",
		"":               "none",
		"app-01, NGX-05": "APP-01,NGX-05",
		"IDX-06":         "CCH-07,IDX-06",
		"QRY-04,CCH-07":  "CCH-07,QRY-04",
	} {
		got, err := ParseDefects(in)
		if err != nil || got.String() != want {
			t.Errorf("ParseDefects(%q) = %s, %v; want %s", in, got, err, want)
		}
	}
	if _, err := ParseDefects("IDX-99"); err == nil {
		t.Error("an unknown id was taken")
	}
}

// TestVariants_Between: those between indexes and tuned mend one defect more each, by another form, and can be
// given back as defects.
func TestVariants_Between(t *testing.T) {
	for name, want := range map[string]string{
		RangeIDs: "CCH-07,QRY-03,QRY-04,QRY-08,DRV-01,DRV-02,LCK-01,POOL-06,APP-01,IDX-07,IDX-05T",
		Counted:  "CCH-07,QRY-03,QRY-04,DRV-01,DRV-02,LCK-01,POOL-06,APP-01,IDX-07,IDX-05T",
		Kept:     "CCH-07,QRY-03,QRY-04,DRV-01,DRV-02,LCK-01,POOL-06,APP-01,IDX-07,IDX-05T,QRY-08K",
		Split:    "CCH-07,QRY-04,DRV-01,DRV-02,LCK-01,POOL-06,APP-01,IDX-07,IDX-05T,QRY-03S",
	} {
		d, err := Variant(name)
		if err != nil || d.String() != want || About(name) == "" {
			t.Errorf("%s: %s, %v; want %s", name, d, err, want)
		}
		if again, err := ParseDefects(d.String()); err != nil || again.String() != want {
			t.Errorf("%s as defects: %s, %v", name, again, err)
		}
	}
	const all = "initial, indexes, ranges, counted, kept, split, tuned"
	if _, err := Variant("fast"); err == nil || !strings.Contains(err.Error(), all) {
		t.Errorf("an unknown variant: %v", err)
	}
}

// TestVariants: each variant has some of the defects of the one before it, and what
// it lists can be given back as defects.
func TestVariants(t *testing.T) {
	var before Defects
	for i, name := range Variants() {
		d, err := Variant(name)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && (len(d) >= len(before) || !slices.Equal(d, slices.DeleteFunc(slices.Clone(before), func(id string) bool { return !d.Has(id) }))) {
			t.Errorf("%s has %s, the variant before it %s", name, d, before)
		}
		if again, err := ParseDefects(d.String()); err != nil || again.String() != d.String() {
			t.Errorf("ParseDefects(%q) = %s, %v", d, again, err)
		}
		before = d
	}
}
