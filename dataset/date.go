package dataset

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"github.com/dptrain/dptrain/internal/tablefile/arrowfile"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/dptrain/dptrain/internal/tablefile/parquetfile"
)

// AutoDate is the layout of a column whose dates may have any of the forms listed in docs/guide/tables.md.
const AutoDate = cell.AutoDate

// DateParts lists the parts of a date with their public ranges; that of days is not public.
func DateParts() []Column {
	part := func(name string, lower, upper float64) Column {
		return Column{
			Part:   name,
			Ranged: lower < upper,
			Lower:  lower,
			Upper:  upper,
		}
	}
	return []Column{part(cell.DayPart, 0, 0), part(cell.MonthPart, 1, 12),
		part(cell.WeekdayPart, 1, 7), part(cell.HourPart, 0, 24)}
}

// DateLayouts lists layouts of package time that are read for [AutoDate]. It reads more: zones and fractions of a second.
// Days come before months where points part them. A date such as 03/04/2024 means two things, so its layout must be
// declared.
func DateLayouts() []string {
	return []string{
		time.DateOnly,
		time.RFC3339,
		"2006-01-02T15:04:05",
		"2006-01-02T15:04",
		time.DateTime,
		"2006-01-02 15:04",
		"2006-01-02 15:04:05Z07:00",
		"2006-01-02 15:04:05-07",
		"2006-01-02 15:04:05 MST",
		"2006/01/02",
		"2006/01/02 15:04:05",
		"2006/01/02 15:04",
		"20060102",
		"2.1.2006",
		"2.1.2006 15:04",
		"2.1.2006 15:04:05",
		"2 Jan 2006",
		"2-Jan-2006",
		"Jan 2, 2006",
		"2 January 2006",
		"January 2, 2006",
		time.RFC1123,
		time.RFC1123Z,
	}
}

// ReadsDates reports whether a layout of package time has year, month and day of every date, or is [AutoDate].
func ReadsDates(layout string) bool {
	return cell.ReadsDates(layout)
}

// dates reads the date column of a file.
type dates struct {
	*cell.Dates
	parts []datePart
}

// datePart is a column of the schema.
type datePart struct {
	target int
	part   string
}

// storedLayouts are the layouts in which dates stored as numbers are converted to text. They are accepted with
// any declared layout.
var storedLayouts = []string{time.DateOnly, time.DateTime, "2006-01-02 15:04:05Z07:00"}

// newDates returns a reader of dates in a layout, and in the layouts of stored dates if given.
func newDates(layout string, stored ...string) *dates {
	return &dates{Dates: cell.NewDates(layout, stored...)}
}

// storeDate stores the parts of a cell.
func (s *store) storeDate(d *dates, text string, row int) {
	m, what := d.Read(text)
	for _, p := range d.parts {
		s.storeNumber(p.target, row, m.Part(p.part), what)
	}
}

// isDate reports whether a column is a part of a date.
func (c *Column) isDate() bool {
	return c.Part != ""
}

// dateSource returns the name of the column of the file that a column is read from.
func (c *Column) dateSource() string {
	if c.Source != "" {
		return c.Source
	}
	return c.Name
}

// validateDate reports the first problem of a part of a date.
func (c *Column) validateDate() error {
	known := slices.ContainsFunc(DateParts(), func(p Column) bool {
		return p.Part == c.Part
	})
	switch {
	case c.Part == "" && (c.Date != "" || c.Source != ""):
		return c.errorf("has a layout or a source, and is no part of a date")
	case c.Part == "":
		return nil
	case c.Kind != Numeric:
		return c.errorf("is a part of a date and must be numeric")
	case !known:
		return c.errorf("is an unknown part of a date")
	case !ReadsDates(c.Date):
		return c.errorf("has a layout that does not say year, month and day")
	}
	return nil
}

// dateCells reads a part of the dates of a Parquet column: stored dates and timestamps directly, and all other
// types by their text.
func dateCells(
	c parquetColumn,
	layout, part string,
	to *column,
) *cells[float64] {
	d := newDates(layout)
	stored := c.conv.stored
	return newCells(c, to.missing, missing, func(v parquetfile.Value) (float64, class) {
		var m cell.Moment
		what := good
		if stored != nil {
			m = stored(v)
		} else {
			m, what = d.Read(string(c.conv.textOf(v)))
		}
		if what != good {
			return to.missing, what
		}
		return m.Part(part), what
	})
}

// storedDates returns the function that reads the dates of a Parquet type, or nil for a type without dates. zone is the time
// zone that timestamps are shown in, or nil for UTC.
func storedDates(
	field *parquetfile.Field,
	zone *time.Location,
) func(parquetfile.Value) cell.Moment {
	if field.Type.Kind == format.Int96 {
		return func(v parquetfile.Value) cell.Moment {
			day, nanos := int96(v)
			return momentIn(day, nanos, nanosPerSecond, zone)
		}
	}
	switch typ := field.Logical.(type) {
	case *format.DateType:
		return func(v parquetfile.Value) cell.Moment {
			return cell.Moment{Day: int64(int32(v.Bits))}
		}
	case *format.TimestampType:
		perSecond := unitsPerSecond(typ.Unit)
		return func(v parquetfile.Value) cell.Moment {
			return momentIn(0, int64(v.Bits), perSecond, zone)
		}
	}
	return nil
}

// storedText returns the function that writes the dates and times of a Parquet type as the cells of a CSV file, or
// nil for another type: 2006-01-02, 15:04:05 or both, with a fraction of a second and with the offset of a known zone.
func storedText(
	field *parquetfile.Field,
	zone *time.Location,
) func([]byte, parquetfile.Value) []byte {
	layout := cell.TimeLayout
	if zone != nil {
		layout += "-07:00"
	} else {
		zone = time.UTC
	}
	write := func(b []byte, second, nanos int64) []byte {
		return time.Unix(second, nanos).In(zone).AppendFormat(b, layout)
	}
	if field.Type.Kind == format.Int96 {
		return func(b []byte, v parquetfile.Value) []byte {
			day, nanos := int96(v)
			return write(b, day*cell.DaySeconds, nanos)
		}
	}
	perSecond := int64(0)
	switch typ := field.Logical.(type) {
	case *format.DateType:
		return func(b []byte, v parquetfile.Value) []byte {
			day := time.Unix(int64(int32(v.Bits))*cell.DaySeconds, 0)
			return day.UTC().AppendFormat(b, time.DateOnly)
		}
	case *format.TimestampType:
		perSecond = unitsPerSecond(typ.Unit)
	case *format.TimeType:
		layout = cell.ClockLayout
		zone = time.UTC
		perSecond = unitsPerSecond(typ.Unit)
	default:
		return nil
	}
	get := integerReader(field.Type.Kind)
	return func(b []byte, v parquetfile.Value) []byte {
		count := get(v)
		return write(b, count/perSecond, count%perSecond*(nanosPerSecond/perSecond))
	}
}

// unitsPerSecond returns the number of units of stored times per second.
func unitsPerSecond(unit format.TimeUnit) int64 {
	switch unit.Value.(type) {
	case *format.MicroSeconds:
		return 1e6
	case *format.NanoSeconds:
		return nanosPerSecond
	}
	return 1e3
}

const nanosPerSecond = 1e9

// momentIn returns the local time in a zone, count units after the start of a day in UTC. A second has
// perSecond units. zone is nil for UTC.
func momentIn(day, count, perSecond int64, zone *time.Location) cell.Moment {
	perDay := perSecond * cell.DaySeconds
	floor := func() {
		day += count / perDay
		count %= perDay
		if count < 0 {
			day--
			count += perDay
		}
	}
	floor()
	if zone != nil {
		_, offset := time.Unix(day*cell.DaySeconds+count/perSecond, 0).In(zone).Zone()
		count += int64(offset) * perSecond
		floor()
	}
	return cell.Moment{
		Day:    day,
		Second: float64(count) / float64(perSecond),
	}
}

// int96Epoch is the day number of 1970-01-01 in INT96 timestamps, which count days from 4713 BC.
const int96Epoch = 2440588

// int96 decodes a 12-byte timestamp into days since 1970-01-01 and nanoseconds since midnight.
func int96(v parquetfile.Value) (day, nanos int64) {
	day = int64(int32(binary.LittleEndian.Uint32(v.Bytes[8:])))
	return day - int96Epoch, int64(binary.LittleEndian.Uint64(v.Bytes))
}

// timeZones returns the time zones in which a Parquet file shows its timestamps, by column. They come from the
// metadata: the Arrow schema of pandas, Polars and others, or the metadata of pandas. An unknown zone is nil.
func timeZones(footer *parquetfile.Footer) map[string]*time.Location {
	out := map[string]*time.Location{}
	fields := arrowfile.SchemaOf(footer.Metadata(arrowfile.SchemaKey))
	for i := range fields {
		if name := fields[i].ZoneName; name != "" {
			out[fields[i].Name] = arrowfile.ZoneOf(name)
		}
	}
	if fields != nil {
		return out
	}
	var pandas struct {
		Columns []struct {
			Name     string `json:"field_name"`
			Metadata struct {
				Timezone string `json:"timezone"`
			} `json:"metadata"`
		} `json:"columns"`
	}
	if json.Unmarshal([]byte(footer.Metadata("pandas")), &pandas) != nil {
		return out
	}
	for _, c := range pandas.Columns {
		if zone := c.Metadata.Timezone; zone != "" {
			out[c.Name] = arrowfile.ZoneOf(zone)
		}
	}
	return out
}
