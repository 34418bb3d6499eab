//go:build duckdb && cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package main

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

const daySeconds = 24 * 60 * 60

// appendFloat writes the shortest decimal form that reads back to the same number.
func appendFloat(out []byte, f float64, bits int) []byte {
	switch size := math.Abs(f); {
	case math.IsNaN(f):
		return append(out, "NaN"...)
	case math.IsInf(f, 1):
		return append(out, "Infinity"...)
	case math.IsInf(f, -1):
		return append(out, "-Infinity"...)
	case size != 0 && size < 1e-5 || size >= 1e21:
		return strconv.AppendFloat(out, f, 'e', -1, bits)
	}
	return strconv.AppendFloat(out, f, 'f', -1, bits)
}

// appendUUID writes a UUID, which is stored with its first bit inverted.
func appendUUID(out []byte, h huge) []byte {
	high := uint64(h.high) ^ 1<<63
	return fmt.Appendf(out, "%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff,
		h.low>>48, h.low&(1<<48-1))
}

// appendDay writes a date and returns the text that follows a time on that date: years before the first are
// followed by BC.
func appendDay(out []byte, t time.Time) (with []byte, after string) {
	year := t.Year()
	if year < 1 {
		year = 1 - year
		after = " BC"
	}
	return fmt.Appendf(out, "%04d-%02d-%02d", year, t.Month(), t.Day()), after
}

// appendDate writes a date, given as days since 1970.
func appendDate(out []byte, days int32) []byte {
	switch days {
	case math.MaxInt32:
		return append(out, "infinity"...)
	case -math.MaxInt32:
		return append(out, "-infinity"...)
	}
	out, after := appendDay(out, time.Unix(int64(days)*daySeconds, 0).UTC())
	return append(out, after...)
}

// appendClock writes a time of day, given in nanoseconds, up to 24:00:00.
func appendClock(out []byte, nanos int64) []byte {
	seconds := nanos / 1e9
	out = fmt.Appendf(out, "%02d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	if rest := nanos % 1e9; rest > 0 {
		out = fmt.Appendf(out, ".%09d", rest)
		for out[len(out)-1] == '0' {
			out = out[:len(out)-1]
		}
	}
	return out
}

// appendStamp writes a time, given in ticks since 1970.
func appendStamp(out []byte, value, ticks int64, zone string) []byte {
	switch value {
	case math.MaxInt64:
		return append(out, "infinity"...)
	case -math.MaxInt64:
		return append(out, "-infinity"...)
	}
	seconds := value / ticks
	rest := value % ticks
	if rest < 0 {
		seconds--
		rest += ticks
	}
	t := time.Unix(seconds, 0).UTC()
	out, after := appendDay(out, t)
	clock := int64(t.Hour()*3600+t.Minute()*60+t.Second())*1e9 + rest*(1e9/ticks)
	out = appendClock(append(out, ' '), clock)
	return append(append(out, zone...), after...)
}
