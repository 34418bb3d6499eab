// Package filelock keeps two processes from writing to one place: a folder of
// results, a file of trials. A lock belongs to an open file and ends with it, and so
// with the process, however that ends. It is advice: only who asks is kept out. A
// system or a file system without locks has none to wait for.
package filelock
