package cluster

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Cluster is several members of etcd.
type Cluster struct {
	Members []*Member
}

// Member is a member of etcd. Replicas reach it through Clients, and other members reach it
// through Peers.
type Member struct {
	*Process
	Clients, Peers *Proxy
	url            string
}

// Start starts a cluster of n members in empty directories.
func Start(t testing.TB, n int) *Cluster {
	t.Helper()
	c, initial := &Cluster{}, []string{}
	for i := range n {
		name := fmt.Sprintf("member%d", i)
		client, peer := freeAddress(t), freeAddress(t)
		m := &Member{Clients: NewProxy(t, client), Peers: NewProxy(t, peer), url: "http://" + client}
		advertised := "http://" + m.Peers.Address()
		initial = append(initial, name+"="+advertised)
		m.Process = newProcess(t, name, job{Member: &memberJob{
			Dir: filepath.Join(t.TempDir(), name), Name: name,
			ClientURL: m.url, PeerURL: "http://" + peer, AdvertisedPeerURL: advertised,
		}})
		c.Members = append(c.Members, m)
	}
	var waits []func()
	for _, m := range c.Members {
		m.job.Member.Cluster = strings.Join(initial, ",")
		waits = append(waits, m.Start())
	}
	for _, wait := range waits {
		wait()
	}
	return c
}

// URLs returns where clients reach the members without a proxy.
func (c *Cluster) URLs() (urls []string) {
	for _, m := range c.Members {
		urls = append(urls, m.url)
	}
	return urls
}

// Replica is a server of the API on etcd.
type Replica struct {
	*Process
	URL string
}

// Replica returns a replica that reaches the members through their proxies. It is not
// started.
func (c *Cluster) Replica(t testing.TB, name, prefix string, history int, compaction time.Duration) *Replica {
	t.Helper()
	var endpoints []string
	for _, m := range c.Members {
		endpoints = append(endpoints, "http://"+m.Clients.Address())
	}
	address := freeAddress(t)
	return &Replica{URL: "http://" + address, Process: newProcess(t, name, job{Replica: &replicaJob{
		Endpoints: endpoints, Prefix: prefix, Address: address, History: history, Compaction: compaction,
	}})}
}
