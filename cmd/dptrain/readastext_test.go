package main

import (
	"strings"
	"testing"
)

// TestPlanNotesColumnsReadAsText checks that a plan names the columns that --by and --encode turn into categories, unless their
// categories are listed.
func TestPlanNotesColumnsReadAsText(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "t.csv", "age,rooms,city,y\n")
	base := []string{"plan", "--data", "t.csv", "--target", "y", "--epsilon", "1"}
	got := dptrain(t, append(base, "--by", "rooms", "--encode", "city")...)
	text := strings.Join(strings.Fields(got.stdout), " ")
	const want = "Text read as text categories, also if the values are numbers: rooms for evaluate.by (--by), city for encode (--encode)"
	if got.code != 0 || !strings.Contains(text, want) && !strings.Contains(text, "city for encode (--encode), rooms for evaluate.by (--by)") {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, append(base, "--by", "rooms", "--categories", "rooms=1,2,3")...)
	if got.code != 0 || strings.Contains(got.stdout, "read as text") {
		t.Errorf("declared categories: %+v", got)
	}
	if got = dptrain(t, base...); got.code != 0 || strings.Contains(got.stdout, "read as text") {
		t.Errorf("no categories: %+v", got)
	}
}
