// Package filesys locks files and folders, creates temporary folders next to results, and finds the programs that are
// distributed along with dptrain.
//
// # Locks
//
// Locks keep two processes from writing to the same folder of results or file of trials. A lock belongs to
// an open file and is released when the file is closed or the process ends, however it ends. Locks are advisory: they
// exclude only processes that ask for them. Where the system or the file system has no locks, no process waits.
//
// # Temporary folders
//
// Temporary folders of processes that were killed are removed by later ones.
// The operating system keeps a folder locked as long as the process that made it lives, however the process ends. A
// later process can thus distinguish a folder in use from a stale one: it takes the lock, or cannot. Where there are
// no locks, folders are never removed. The order is safe without a lock on the parent: a process that makes a folder
// takes its lock and then checks that the folder still exists under its name; a process that removes one takes its
// lock first.
//
// Only folders whose names are a prefix and a number, as [MakeTempDir] writes them, and which only their owner may enter are
// considered. Symbolic links are not followed. Files that the caller does not remove stay, and so does their folder.
package filesys
