// Package filelock keeps two processes from writing to the same folder of results or file of trials. A lock belongs to
// an open file and is released when the file is closed or the process ends, however it ends. Locks are advisory: they
// exclude only processes that ask for them. Where the system or the file system has no locks, no process waits.
package filelock
