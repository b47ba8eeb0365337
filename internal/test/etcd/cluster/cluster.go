package cluster

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubecoord/kubecoord/internal/test/etcd/kinetest"
)

// Cluster is several members of etcd.
type Cluster struct {
	Members []*Member
}

// Member is a member of etcd. Other members reach it through a proxy.
type Member struct {
	*Process
	Peers *Proxy // nil for kine
	// Address is where clients reach it without a proxy.
	Address string
}

// Start starts a cluster of n members in empty directories.
func Start(t testing.TB, n int) *Cluster {
	t.Helper()
	c, initial := &Cluster{}, []string{}
	for i := range n {
		name := fmt.Sprintf("member%d", i)
		client, peer := FreeAddress(t), FreeAddress(t)
		m := &Member{Peers: NewProxy(t, peer), Address: client}
		advertised := "http://" + m.Peers.Address()
		initial = append(initial, name+"="+advertised)
		m.Process = newProcess(t, name, job{Member: &memberJob{
			Dir: filepath.Join(t.TempDir(), name), Name: name,
			ClientURL: "http://" + client, PeerURL: "http://" + peer, AdvertisedPeerURL: advertised,
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

// StartKine starts kine in an empty directory, or skips the test.
func StartKine(t testing.TB) *Cluster {
	address := FreeAddress(t)
	p := newProcess(t, "kine", job{Kine: &kineJob{kinetest.Binary(t), t.TempDir(), address}})
	p.Start()()
	return &Cluster{Members: []*Member{{Process: p, Address: address}}}
}

// URLs returns where clients reach the members without a proxy.
func (c *Cluster) URLs() (urls []string) {
	for _, m := range c.Members {
		urls = append(urls, "http://"+m.Address)
	}
	return urls
}

// Replica is a server of the API on etcd.
type Replica struct {
	*Process
	URL     string
	Proxies []*Proxy // to the members
}

// Replica returns a replica. It is not started.
func (c *Cluster) Replica(t testing.TB, name, prefix string, history int) *Replica {
	t.Helper()
	address := FreeAddress(t)
	r := &Replica{URL: "http://" + address}
	var endpoints []string
	for _, m := range c.Members {
		p := NewProxy(t, m.Address)
		r.Proxies = append(r.Proxies, p)
		endpoints = append(endpoints, "http://"+p.Address())
	}
	r.Process = newProcess(t, name, job{Replica: &replicaJob{Endpoints: endpoints, Prefix: prefix, Address: address, History: history}})
	return r
}

// Cut stops one direction of all connections to the members, or lets it go on.
func (r *Replica) Cut(direction int, cut bool) {
	for _, p := range r.Proxies {
		p.Cut(direction, cut)
	}
}
