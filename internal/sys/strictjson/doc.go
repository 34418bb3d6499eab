// Package strictjson reads and writes the JSON files of this module: plain structs with tags, written in one canonical
// form and read strictly.
//
// # Tags
//
// The tag json names the key of a field; every field has one. The field is required, or optional with the option
// omitempty: it may be absent, and is not written if its value is zero. A struct field tagged ",inline" has no key of
// its own; its fields become members of the enclosing object. Tagged so, a pointer to a struct is a section: its
// members exist where it is not nil. A reader sets the sections that a file must have before it decodes. Sections are
// not nested.
//
// The tag format lists the versions of the file that have the key, as in "1,3+?". A plus sign means that version and
// all later ones, and a question mark makes the key optional there. Every other version refuses it. Without the tag
// all versions have the key.
//
// The tag layout selects the form of a value: "line" puts a struct on one line, "open" gives each element of a list
// the form of a whole document.
//
// # Reading
//
// [Parse] checks that a file is one JSON document in UTF-8. [Value.Decode] reads it into a struct in one pass. It
// refuses unknown, repeated and absent keys, values of the wrong type and numbers out of range with an [*Error] that
// has the position. Keys are case-sensitive. null is accepted only for an interface and for a pointer without the
// option omitempty.
//
// # Writing
//
// [Encode] writes equal values as equal bytes: one member per line, lists of structs with one element per line, the
// keys in the order of the fields and the shortest decimal form of every number. A list is never null.
package strictjson
