package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// launch starts the server of the member, which need not be able to serve.
func (m *clusterMember) launch(t *testing.T) {
	t.Helper()
	m.process = launch(t, m.args...)
}

// membersOf returns the members of a cluster, as the server knows them that is asked.
func membersOf(t *testing.T, c *clientv3.Client) []*pb.Member {
	t.Helper()
	list, err := c.MemberList(t.Context(), clientv3.WithSerializable())
	require.NoError(t, err)
	return list.Members
}

// assertVoters fails unless a cluster has so many members, all of them voters that have been
// started.
func assertVoters(t *testing.T, c *clientv3.Client, n int) {
	t.Helper()
	members := membersOf(t, c)
	assert.Len(t, members, n)
	for _, m := range members {
		assert.False(t, m.IsLearner, "%s", m)
		assert.NotEmpty(t, m.Name, "%s", m)
	}
}

func TestAServerWithoutAQuorumSaysSoAndEnds(t *testing.T) {
	t.Parallel()
	a := newMember(t, "a", "")
	a.start(t)
	b := newMember(t, "b", a.clientURL)
	b.start(t)
	plain(b.url).must(t, "POST", leases, newLease("x"))
	a.kill()
	b.kill()

	a.launch(t)
	reason := "waits for a leader: 2 of 2 members must answer. This one does; b (" + b.peerURL + ") does not: dial tcp"
	a.says(t, reason[len("waits for "):])
	early := plain("http://" + a.address)
	code, _ := early.do(t, "GET", "/livez", "")
	assert.Equal(t, 200, code)
	code, text := early.do(t, "GET", "/readyz", "")
	assert.Equal(t, 500, code)
	assert.Equal(t, "[+]ping ok\n[+]log ok\n[-]etcd-readiness failed: reason withheld\nreadyz check failed\n", text)
	code, text = early.do(t, "GET", "/readyz/etcd-readiness", "")
	assert.Equal(t, 500, code)
	assert.Contains(t, text, reason)
	answer := early.open(t, "GET", leases, "")
	answer.Body.Close()
	assert.Equal(t, http.StatusServiceUnavailable, answer.StatusCode)
	assert.Equal(t, "5", answer.Header.Get("Retry-After"))
	a.terminate(t)

	a.launch(t)
	b.start(t)
	a.awaitServing(t)
	early.must(t, "GET", leases+"/x", "")

	// The quorum is lost while a watch of another program is open and a write is under way.
	watch := dialEtcd(t, a).Watch(clientv3.WithRequireLeader(t.Context()), "/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	<-watch
	require.NoError(t, b.cmd.Process.Signal(syscall.SIGSTOP))
	written := make(chan error, 1)
	go func() {
		resp, err := http.Post(early.url+leases, "application/json", strings.NewReader(newLease("y")))
		if err == nil {
			resp.Body.Close()
		}
		written <- err
	}()
	time.Sleep(100 * time.Millisecond) // it is under way
	a.terminate(t)
	<-written
}

func TestTwoServersJoinOneUnderWrites(t *testing.T) {
	t.Parallel()
	a := newMember(t, "a", "")
	a.start(t)
	ctx, cancel := context.WithCancel(t.Context())
	written := make(chan int)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			resp, err := http.Post(a.url+leases, "application/json", strings.NewReader(newLease(fmt.Sprint("lease-", n))))
			if !assert.NoError(t, err) {
				break
			}
			resp.Body.Close()
			if !assert.Equal(t, http.StatusCreated, resp.StatusCode) {
				break
			}
		}
		written <- n
	}()
	b, c := newMember(t, "b", a.clientURL), newMember(t, "c", a.clientURL)
	b.launch(t)
	c.launch(t)
	b.awaitServing(t)
	c.awaitServing(t)
	cancel()
	n := <-written
	t.Logf("%d writes", n)
	assertVoters(t, dialEtcd(t, a), 3)
	for _, m := range []*clusterMember{a, b, c} {
		_, text := plain(m.url).do(t, "GET", leases, "")
		assert.Equal(t, n, strings.Count(text, `"name":"lease-`))
	}
	a.kill()
	require.Eventually(t, func() bool { // etcd elects
		code, _ := plain(b.url).do(t, "POST", leases, newLease("after"))
		return code == 201 || code == 409
	}, time.Minute, 100*time.Millisecond)
	plain(c.url).must(t, "GET", leases+"/after", "")
}

// secure makes the member and the one that it joins use a certificate.
func (m *clusterMember) secure(certificate, key string) {
	for i := range m.args {
		m.args[i] = strings.Replace(m.args[i], "http://", "https://", 1)
	}
	m.args = append(m.args, "-etcd-cafile", certificate, "-etcd-certfile", certificate, "-etcd-keyfile", key)
}

// newCertificate returns files with a certificate for both sides of a connection, and its key.
func newCertificate(t *testing.T) (certificate, key string) {
	t.Helper()
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	made, err := x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(signer)
	require.NoError(t, err)
	certificate, key = filepath.Join(t.TempDir(), "etcd.pem"), filepath.Join(t.TempDir(), "etcd-key.pem")
	require.NoError(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return certificate, key
}

func TestServersJoinWithCertificates(t *testing.T) {
	t.Parallel()
	a := newMember(t, "a", "")
	b, stranger := newMember(t, "b", a.clientURL), newMember(t, "stranger", a.clientURL)
	certificate, key := newCertificate(t)
	a.secure(certificate, key)
	b.secure(certificate, key)
	stranger.secure(newCertificate(t))
	a.start(t)
	stranger.launch(t)
	stranger.says(t, "certificate signed by unknown authority")
	stranger.terminate(t)
	b.start(t)
	plain(b.url).must(t, "POST", leases, newLease("x"))
	plain(a.url).must(t, "GET", leases+"/x", "")
	b.kill()
	a.kill()
	a.launch(t)
	a.says(t, "b ("+strings.Replace(b.peerURL, "http:", "https:", 1)+") does not: dial tcp")
	b.start(t)
	a.awaitServing(t)
}

// A server that joins is killed at every step, and started again with the same flags. There is
// never a second member for it.
func TestAJoinThatIsKilledGoesOn(t *testing.T) {
	t.Parallel()
	a := newMember(t, "a", "")
	a.start(t)
	client := dialEtcd(t, a)
	find := func(m *clusterMember) *pb.Member {
		for _, x := range membersOf(t, client) {
			if x.PeerURLs[0] == m.peerURL {
				return x
			}
		}
		return nil
	}
	b := newMember(t, "b", a.clientURL)
	added, err := client.MemberAddAsLearner(t.Context(), []string{b.peerURL}) // then b was killed
	require.NoError(t, err)
	b.start(t)
	assert.Equal(t, added.Member.ID, find(b).ID)
	assertVoters(t, client, 2)

	c := newMember(t, "c", a.clientURL)
	await := func(reached func(*pb.Member) bool) (found *pb.Member) {
		c.launch(t)
		require.Eventually(t, func() bool {
			found = find(c)
			return found != nil && reached(found)
		}, time.Minute, time.Millisecond, "%s", c.errors)
		c.kill()
		return found
	}
	first := await(func(*pb.Member) bool { return true })
	for i, reached := range []func(*pb.Member) bool{
		func(*pb.Member) bool { return true },               // its directory may be half made
		func(m *pb.Member) bool { return m.Name != "" },     // it has the data
		func(m *pb.Member) bool { return !m.IsLearner },     // it is a voter
		func(m *pb.Member) bool { return m.Name != "none" }, // it was one at the start
	} {
		assert.Equal(t, first.ID, await(reached).ID)
		plain(a.url).must(t, "POST", leases, newLease(fmt.Sprint("x", i)))
	}
	c.start(t)
	plain(c.url).must(t, "GET", leases+"/x3", "")
	assertVoters(t, client, 3)

	// Its disk is lost.
	c.kill()
	require.NoError(t, os.RemoveAll(c.dir))
	text := refusal(t, c.args...)
	assert.Contains(t, text, c.peerURL+" is member c of the cluster, whose data is not here")
	assert.Contains(t, text, fmt.Sprintf("member remove %x", first.ID))
	_, err = client.MemberRemove(t.Context(), first.ID)
	require.NoError(t, err)
	c.start(t)
	plain(c.url).must(t, "GET", leases+"/x3", "")
	assertVoters(t, client, 3)
}

func TestAJoinThatCannotWorkCostsNothing(t *testing.T) {
	t.Parallel()
	a := newMember(t, "a", "")
	a.start(t)
	client := dialEtcd(t, a)
	writes := 0
	write := func() {
		writes++
		plain(a.url).must(t, "POST", leases, newLease(fmt.Sprint("x", writes)))
	}

	// Nobody joins at a peer URL that is not of this machine.
	b := newMember(t, "b", a.clientURL)
	text := refusal(t, append(b.args, "-insecure", "-member-peer-url", "http://192.0.2.1:2380")...)
	assert.Contains(t, text, "the peer URL http://192.0.2.1:2380: listen tcp 192.0.2.1:2380")
	// Nor is there a cluster.
	lost := newMember(t, "lost", "http://"+freeAddress(t))
	lost.launch(t)
	lost.says(t, "an answer of "+lost.args[len(lost.args)-1])
	lost.terminate(t)
	// Nor can it reach the members.
	require.Len(t, membersOf(t, client), 1)
	_, err := client.MemberUpdate(t.Context(), membersOf(t, client)[0].ID, []string{"http://" + freeAddress(t)})
	require.NoError(t, err)
	b.launch(t)
	b.says(t, "member a at its peer URL")
	assertVoters(t, client, 1)
	write()
	b.terminate(t)
	a.terminate(t)
	a.start(t) // it corrects its peer URL

	// A learner that nobody can reach does not count. Another one waits until it is removed.
	added, err := client.MemberAddAsLearner(t.Context(), []string{"http://" + freeAddress(t)})
	require.NoError(t, err)
	write()
	b.launch(t)
	b.says(t, fmt.Sprintf("member remove %x", added.Member.ID))
	write()
	_, err = client.MemberRemove(t.Context(), added.Member.ID)
	require.NoError(t, err)
	b.awaitServing(t)
	assertVoters(t, client, 2)
}

func TestALostMajorityIsForcedOnce(t *testing.T) {
	t.Parallel()
	servers := startCluster(t)
	a, b, c := servers.members[0], servers.members[1], servers.members[2]
	force := append(a.args, "-force-new-cluster")
	assert.Contains(t, refusal(t, force...), "another process uses it")
	old := plain(c.url).must(t, "POST", leases, newLease("x"))
	const n = 20 // etcd drops the last ones of a member that was killed, because it does not know that they are committed
	for i := range n {
		plain(c.url).must(t, "POST", leases, newLease(fmt.Sprint("last-", i)))
	}
	plain(a.url).must(t, "GET", leases+"/last-19", "") // a has them
	a.kill()
	c.kill()
	assert.Contains(t, refusal(t, force...), "member b ("+b.peerURL+") answers")
	b.kill()
	out, err := command(t.Context(), force...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "start this server again, without -force-new-cluster")
	assert.Contains(t, refusal(t, force...), "the member is alone already")

	a.start(t)
	client := plain(a.url)
	assert.Equal(t, old, client.must(t, "GET", leases+"/x", ""))
	_, all := client.do(t, "GET", leases, "")
	assert.Equal(t, n, strings.Count(all, `"name":"last-`))
	after := client.must(t, "POST", leases, newLease("y"))
	assert.Greater(t, version(t, after), version(t, old)+1_000_000_000-1, "versions that only the others had do not come again")
	code, text := client.do(t, "GET", leases+"?watch=true&resourceVersion="+strconv.FormatUint(version(t, old), 10), "")
	assert.Contains(t, fmt.Sprint(code, text), "410")

	// The others cannot come back as they were.
	assert.Contains(t, refusal(t, b.args...), "was perhaps made anew by ForceNewCluster: to join that one, move the directory away")
	require.NoError(t, os.Rename(filepath.Join(b.dir, "etcd"), filepath.Join(b.dir, "etcd.old")))
	b.start(t)
	plain(b.url).must(t, "GET", leases+"/y", "")
	assertVoters(t, dialEtcd(t, a), 2)
}
