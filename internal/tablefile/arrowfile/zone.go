package arrowfile

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"time"
)

// ZoneOf returns the time zone for a name of the IANA database or for an offset from UTC such as +02:00, +0200
// or +02. It returns nil for any other name.
func ZoneOf(name string) *time.Location {
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if at, err := time.Parse(layout, name); err == nil {
			_, seconds := at.Zone()
			return time.FixedZone(name, seconds)
		}
	}
	if name == "" || name == "Local" { // which is the zone of the machine
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return zone
}

// SchemaKey is the key under which the metadata of a Parquet file holds the Arrow schema that it was written from.
const SchemaKey = "ARROW:schema"

// SchemaOf returns the fields of the value of [SchemaKey], a message in base64. It returns nil if the value is
// not a schema.
func SchemaOf(value string) (fields []Field) {
	message, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return nil
	}
	message = bytes.TrimPrefix(message, []byte{255, 255, 255, 255})
	if len(message) < 8 || uint64(binary.LittleEndian.Uint32(message)) > uint64(len(message)-4) {
		return nil
	}
	f := &File{}
	err = func() (err error) {
		defer recoverDamage(&err)
		t := rootOf(message[4:])
		header, ok := t.tableField(2)
		if !ok || t.byteField(1) != schemaMessage {
			return ErrDamaged
		}
		f.version = t.int16(0, 0)
		return f.readSchema(header)
	}()
	if err != nil {
		return nil
	}
	return f.Fields
}
