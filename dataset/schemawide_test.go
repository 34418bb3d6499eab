package dataset

import (
	"strconv"
	"strings"
	"testing"
)

// TestWideSchemaIsChecked checks that a schema of the maximum width is validated in one pass over its columns,
// and that a mistake in the last column is found. Comparing every name with every other would take minutes
// here.
func TestWideSchemaIsChecked(t *testing.T) {
	const width = 1 << 17
	columns := make([]Column, width)
	for j := range columns {
		columns[j].Name = "column " + strconv.Itoa(j)
	}
	if err := (Schema{Columns: columns}).Validate(); err != nil {
		t.Fatal(err)
	}
	last := &columns[width-1]
	last.Name = "column 7"
	err := (Schema{Columns: columns}).Validate()
	if err == nil || !strings.Contains(err.Error(), "declared twice") {
		t.Errorf("a repeated name: %v", err)
	}
	*last = Column{
		Name:   "day of column 9",
		Source: "column 9",
		Part:   DateParts()[0].Part,
		Date:   AutoDate,
	}
	err = (Schema{Columns: columns}).Validate()
	if err == nil ||
		!strings.Contains(err.Error(), "read as another one") {
		t.Errorf("a part of a column of numbers: %v", err)
	}
}
