// Package exchange compares the answers of two servers to the same requests: it normalises them, stores the answers of a real server,
// and explains differences by a list of reasons. Packages kinds and cluster beside it play the requests.
package exchange
