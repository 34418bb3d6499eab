// Package strictjson reads and writes the JSON files of this module: plain structs
// with tags, written in one fixed form and read without any leniency.
//
// # Tags
//
// The tag json names the key of a field; every field has one. The field is required,
// or with the option omitempty optional: it may be absent, and is not written if its
// value is zero. A struct without a key of its own, by the name ",inline", has its fields in
// place of it.
//
// The tag format lists the versions of the file that have the key, as in "1,3+?". A plus sign
// means that version and all later ones, and a question mark makes the key optional there. Every
// other version refuses it. Without the tag all versions have the key.
//
// The tag layout says how a value is written: "line" puts a struct on one line, "open"
// gives each element of a list the form of a whole document.
//
// # Reading
//
// [Parse] checks that a file is one JSON document in UTF-8. [Value.Decode] reads it into a
// struct in one pass. It refuses unknown, repeated and absent keys, values of the wrong type and
// numbers out of range with an [*Error] that says where. Keys match by case. null is read
// for an interface and for a pointer without the option omitempty only.
//
// # Writing
//
// [Encode] gives equal bytes for equal values: one member per line, lists of structs with one
// element per line, the keys in the order of the fields and the shortest decimal form of every
// number. A list is never null.
package strictjson
