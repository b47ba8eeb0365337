package main

import (
	"path/filepath"
	"testing"

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
	address, clientURL, peerURL, dir string
	args                             []string
	*process
}

// newMember returns a member that has not been started. It joins the cluster of the URL, unless
// that is empty.
func newMember(t *testing.T, name, join string) *clusterMember {
	t.Helper()
	m := &clusterMember{address: freeAddress(t), clientURL: "http://" + freeAddress(t), peerURL: "http://" + freeAddress(t)}
	m.dir = filepath.Join(t.TempDir(), name)
	m.args = []string{
		"-listen", m.address, "-data-dir", m.dir, "-member-name", name,
		"-member-client-url", m.clientURL, "-member-peer-url", m.peerURL,
	}
	if join != "" {
		m.args = append(m.args, "-join", join)
	}
	return m
}

// dialEtcd returns a client of members.
func dialEtcd(t *testing.T, members ...*clusterMember) *clientv3.Client {
	t.Helper()
	var endpoints []string
	for _, m := range members {
		endpoints = append(endpoints, m.clientURL)
	}
	c, err := etcd.Dial(clientv3.Config{Endpoints: endpoints})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// startCluster starts a server, and lets two others join it.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{}
	for i, name := range []string{"a", "b", "c"} {
		join := ""
		if i > 0 {
			join = c.members[0].clientURL
		}
		c.members[i] = newMember(t, name, join)
		c.members[i].start(t)
	}
	c.etcd = dialEtcd(t, c.members[:]...)
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

// leaderFirst returns the servers, the server of etcd's leader first.
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
