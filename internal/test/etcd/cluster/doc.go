// Package cluster runs members of etcd, and replicas of the API on them, as processes of
// their own that tests kill, stop and cut off. The processes are the test binary again:
//
//	func TestMain(m *testing.M) {
//		cluster.Child()
//		os.Exit(m.Run())
//	}
package cluster
