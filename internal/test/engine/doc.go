// Package engine is a Backend in memory, for tests. It can imitate etcd and its failures:
// changes arrive late, several keys change in one version, versions jump, history is
// compacted, the connection of a follower is lost, a commit ends without an answer.
package engine
