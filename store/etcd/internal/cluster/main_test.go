package cluster_test

import (
	"os"
	"testing"

	"github.com/kubecoord/kubecoord/store/etcd/internal/cluster"
)

func TestMain(m *testing.M) {
	cluster.Child()
	os.Exit(m.Run())
}
