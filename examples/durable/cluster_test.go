package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecoord/kubecoord/store/etcd"
)

// cluster is three servers whose members of etcd are one cluster.
type cluster struct {
	members [3]*clusterMember
	etcd    *clientv3.Client
}

// clusterMember is a server that can be killed and started again.
type clusterMember struct {
	address, clientURL string
	args               []string
	*process
}

// startCluster starts a server, and lets two others join it.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{}
	var endpoints, joined []string
	for i, name := range []string{"a", "b", "c"} {
		peer := "http://" + freeAddress(t)
		m := &clusterMember{address: freeAddress(t), clientURL: "http://" + freeAddress(t)}
		joined = append(joined, name+"="+peer)
		m.args = []string{
			"-listen", m.address, "-data-dir", filepath.Join(t.TempDir(), name), "-member-name", name,
			"-member-client-url", m.clientURL, "-member-peer-url", peer,
		}
		if i > 0 {
			m.args = append(m.args, "-member-join", strings.Join(joined, ","))
			require.Eventually(t, func() bool { // refused while the member of before is new
				_, err := c.etcd.MemberAdd(t.Context(), []string{peer})
				return err == nil
			}, time.Minute, time.Second)
		}
		m.start(t)
		c.members[i] = m
		endpoints = append(endpoints, m.clientURL)
		if i == 0 {
			var err error
			c.etcd, err = etcd.Dial(clientv3.Config{Endpoints: endpoints})
			require.NoError(t, err)
			t.Cleanup(func() { c.etcd.Close() })
		}
	}
	c.etcd.SetEndpoints(endpoints...)
	return c
}

func (m *clusterMember) start(t *testing.T) {
	t.Helper()
	m.process = startServer(t, m.args...)
}

// addresses returns where the servers listen for clients.
func (c *cluster) addresses() (all []string) {
	for _, m := range c.members {
		all = append(all, m.address)
	}
	return all
}

// leaderFirst returns the servers, that of etcd's leader first.
func (c *cluster) leaderFirst(t *testing.T) []*clusterMember {
	t.Helper()
	for i, m := range c.members {
		status, err := c.etcd.Status(t.Context(), m.clientURL)
		require.NoError(t, err)
		if status.Leader == status.Header.MemberId {
			return []*clusterMember{m, c.members[(i+1)%3], c.members[(i+2)%3]}
		}
	}
	require.Fail(t, "etcd has no leader")
	return nil
}
