package arrowfile

import (
	"testing"
	"time"
)

func TestZoneOf(t *testing.T) {
	at := time.Date(2024, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"UTC":           "12:00",
		"Europe/Berlin": "14:00",
		"Asia/Kolkata":  "17:30",
		"+02:00":        "14:00",
		"-0330":         "08:30",
		"+05":           "17:00",
		"+00:00":        "12:00",
		"":              "",
		"Local":         "",
		"Mars/Olympus":  "",
		"../etc/passwd": "",
		"+2:00":         "",
		"02:00":         "",
		"+25:00":        "",
	} {
		got := ""
		if zone := ZoneOf(name); zone != nil {
			got = at.In(zone).Format("15:04")
		}
		if got != want {
			t.Errorf(
				"noon in %q is %q, want %q",
				name, got, want,
			)
		}
	}
}

// TestSchemaOf checks that a text that is not a schema has no fields.
func TestSchemaOf(t *testing.T) {
	for _, value := range []string{"", "x", "////////", "/////wAAAAA=",
		"/////xAAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAA"} {
		if fields := SchemaOf(value); fields != nil {
			t.Errorf(
				"%q has %d fields",
				value, len(fields),
			)
		}
	}
}
