// Package etcd has tests of store/etcd that need packages of the root module: the recorded answers of a real API server, played on etcd
// and on kine. Package cluster checks replicas under faults.
package etcd
