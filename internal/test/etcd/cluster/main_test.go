package cluster_test

import (
	"os"
	"testing"

	"github.com/kubecoord/kubecoord/internal/test/etcd/cluster"
)

func TestMain(m *testing.M) {
	cluster.Child()
	os.Exit(m.Run())
}
