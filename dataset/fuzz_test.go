package dataset

import (
	"reflect"
	"testing"
)

// FuzzSlowFast checks that the fast CSV readers return the same table bit for bit, the same counts and the same
// errors as the slow reader, for any bytes. With bit 0 of flags the input follows a fixed header; bit 1 sets
// MultilineQuotes; with bit 2 or 3 lines are cut after 17 or 5 bytes; with bit 4 the header has one column.
func FuzzSlowFast(f *testing.F) {
	for _, s := range []string{
		"",
		"a,b\n1,x\n",
		"\uFEFFa,n,c,u\r\n1,2,x,p\r\n",
		"1,2,x,p\n\n\r\n3,,NA,q\n",
		"1,2,\"x\",\"p\n3,4,y,q\n",
		"1,2\r\r\n",
		"\"",
		"\r",
		"1,2,x,p,,,\n1\n,\n",
		"1e5,-0.25,x\ty,\"\"\"\"\n",
		" 1 ,\t2\t, x , p \n",
		"inf,0x1,1_0,?\n",
		"0.12345678901234567,12345678901234567890e-5,y z,r",
		"a,a\n",
		"1,2\n3,4\n",
		"\n\na,,b\n",
		"1,2,\"x \\\"y\\\", z\",p\n",
		"1, \"2\" ,\"a, b\", \"x\"\n",
		"1,\"C:\\\",x\n\\N,2\n",
		"1\n\n\"\"\n\r\n2\n\n",
		"a;n\n1,2;3\n",
		"'a','n'\n'1','2'\n",
	} {
		for flags := range byte(32) {
			f.Add([]byte(s), flags)
		}
	}
	schema := Schema{
		Unit: "u",
		Columns: []Column{
			{Name: "n"},
			{
				Name:       "c",
				Kind:       Category,
				Categories: []string{"x", "NA", "y z"},
			},
			{
				Name:       "a",
				HasMissing: true,
				Missing:    -1,
			},
		},
	}
	f.Fuzz(func(t *testing.T, data []byte, flags byte) {
		if flags&1 != 0 {
			data = append([]byte("a,n,skip,c,u,end\n"), data...)
		}
		schema := schema
		if flags&16 != 0 {
			data = append([]byte("c\n"), data...)
			schema = Schema{Columns: schema.Columns[1:2]}
		}
		line := 0
		switch flags >> 2 & 3 {
		case 1:
			line = 17 // one field more than the header
		case 2:
			line = 5
		}
		all := waysCut(data, schema, flags&2 != 0, line)
		for name, o := range all {
			if !reflect.DeepEqual(o, all["slow"]) {
				t.Errorf(
					"%s gives %+v, slow %+v",
					name, o, all["slow"],
				)
			}
		}
	})
}
