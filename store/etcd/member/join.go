package member

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/pkg/v3/types"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

const (
	// joinAgain is the pause between two attempts of a step.
	joinAgain = time.Second
	// joinTimeout is how long the cluster may take to change.
	joinTimeout = 5 * time.Second
	// listTimeout is how long one endpoint may take to list the members.
	listTimeout = 2 * time.Second
)

// joinAndStart adds this member to a cluster as a learner, and starts it. It tries again
// until the context ends, unless an error is final.
func (m *Member) joinAndStart(ctx context.Context, c *embed.Config, o Options) error {
	client, err := dialJoin(c, o)
	if err != nil {
		return err
	}
	defer client.Close()
	for {
		err := m.tryJoin(ctx, client, c, o)
		var later *tryLater
		if err == nil || !errors.As(err, &later) {
			return err
		}
		o.waiting(later.Error())
		select {
		case <-time.After(joinAgain):
		case <-ctx.Done():
			return fmt.Errorf("join: waits for %w: %w", later, ctx.Err())
		}
	}
}

// tryLater is an error that may go away.
type tryLater struct{ reason string }

// Error implements error.
func (e *tryLater) Error() string { return e.reason }

// dialJoin returns a client of the cluster that this member joins.
func dialJoin(c *embed.Config, o Options) (*clientv3.Client, error) {
	config := clientv3.Config{Endpoints: o.Join, DialTimeout: joinTimeout, Logger: zap.NewNop()}
	if !c.ClientTLSInfo.Empty() {
		secure, err := c.ClientTLSInfo.ClientConfig()
		if err != nil {
			return nil, err
		}
		config.TLS = secure
	}
	return clientv3.New(config)
}

// membersOf returns the members of the cluster, from the first of the endpoints that knows
// them.
func membersOf(ctx context.Context, client *clientv3.Client) (list *pb.MemberListResponse, err error) {
	for _, endpoint := range client.Endpoints() {
		if list, err = membersAt(ctx, client, endpoint); err == nil {
			return list, nil
		}
	}
	return nil, err
}

// membersAt asks one endpoint. Client.MemberList would try again until ctx ends, and not say
// why.
func membersAt(ctx context.Context, client *clientv3.Client, endpoint string) (*pb.MemberListResponse, error) {
	conn, err := client.Dial(endpoint)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	return pb.NewClusterClient(conn).MemberList(ctx, &pb.MemberListRequest{Linearizable: true})
}

func (m *Member) tryJoin(ctx context.Context, client *clientv3.Client, c *embed.Config, o Options) error {
	members, err := m.learn(ctx, client, c, o)
	if err != nil {
		return err
	}
	c.ClusterState = embed.ClusterStateFlagExisting
	c.InitialCluster = initialCluster(members, c.Name, o.PeerURL)
	err = m.startEtcd(c)
	m.joining = err == nil
	for _, text := range []string{
		"cannot fetch cluster info",         // from the other members
		"member count is unequal",           // the one that was asked does not know this one yet
		"unmatched member",                  // or another one
		"incompatible with current running", // no version of the others is known
	} {
		if err != nil && strings.Contains(err.Error(), text) {
			return &tryLater{"the other members at their peer URLs: " + err.Error()}
		}
	}
	return err
}

// learn makes this member a learner of the cluster, unless it is one already, and returns all
// members.
func (m *Member) learn(ctx context.Context, client *clientv3.Client, c *embed.Config, o Options) ([]*pb.Member, error) {
	list, err := membersOf(ctx, client)
	if err != nil {
		return nil, &tryLater{fmt.Sprintf("an answer of %s: %v", strings.Join(o.Join, ", "), err)}
	}
	if i := slices.IndexFunc(list.Members, func(x *pb.Member) bool { return slices.Contains(x.PeerURLs, o.PeerURL) }); i >= 0 {
		if self := list.Members[i]; self.Name != "" {
			return nil, fmt.Errorf("%s is member %s of the cluster, whose data is not here: start it on the directory that has it, or remove it first: "+
				"etcdctl --endpoints %s member remove %x", o.PeerURL, self.Name, o.Join[0], self.ID)
		}
		return list.Members, nil // an earlier start was interrupted
	}
	if err := m.checkPeers(ctx, list.Members, c, o); err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	added, err := client.MemberAddAsLearner(bounded, []string{o.PeerURL})
	switch {
	case err == nil:
		return added.Members, nil
	case errors.Is(err, rpctypes.ErrTooManyLearners):
		return nil, &tryLater{"another member that joins, because there may be one at a time: " + learners(list.Members, o)}
	case errors.Is(err, rpctypes.ErrUnhealthy):
		return nil, &tryLater{"the cluster: its members must have been connected for five seconds, and a majority of the cluster with " +
			"one member more must answer. Remove one that does not come back: etcdctl --endpoints " + o.Join[0] + " member remove ID"}
	}
	return nil, &tryLater{"the cluster: it does not let this member join: " + err.Error()}
}

// checkPeers finds URLs at which members cannot reach each other, before the cluster is
// changed.
func (m *Member) checkPeers(ctx context.Context, members []*pb.Member, c *embed.Config, o Options) error {
	p, err := newProber(c)
	if err != nil {
		return err
	}
	defer p.close()
	u, err := url.Parse(o.PeerURL)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", u.Host)
	if err != nil {
		return fmt.Errorf("the peer URL %s: %w", o.PeerURL, err)
	}
	l.Close()
	for _, other := range members {
		for _, peer := range other.PeerURLs {
			if isLoopback(o.PeerURL) != isLoopback(peer) {
				return fmt.Errorf("the peer URL %s and the peer URL of member %s, %s: only one is a loopback address, so the members cannot reach each other",
					o.PeerURL, nameOf(other.Name, other.ID), peer)
			}
		}
		if err := p.ask(ctx, other.PeerURLs); err != nil && other.Name != "" {
			return &tryLater{fmt.Sprintf("member %s at its peer URL %s: %v", other.Name, strings.Join(other.PeerURLs, ", "), err)}
		}
	}
	return nil
}

func isLoopback(peer string) bool {
	u, err := url.Parse(peer)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// learners names the learners, and says how to remove one that never comes.
func learners(members []*pb.Member, o Options) string {
	var all []string
	for _, x := range members {
		if x.IsLearner {
			all = append(all, fmt.Sprintf("%s (%s); if it never will: etcdctl --endpoints %s member remove %x",
				nameOf(x.Name, x.ID), strings.Join(x.PeerURLs, ", "), o.Join[0], x.ID))
		}
	}
	return strings.Join(all, "; ")
}

// initialCluster returns the members as etcd wants them. Names need not be unique otherwise,
// so the others get their IDs.
func initialCluster(members []*pb.Member, name, peerURL string) string {
	var all []string
	for _, x := range members {
		as := fmt.Sprintf("%x", x.ID)
		if slices.Contains(x.PeerURLs, peerURL) {
			as = name
		}
		for _, u := range x.PeerURLs {
			all = append(all, as+"="+u)
		}
	}
	return strings.Join(all, ",")
}

// checkJoined asks the cluster of Options.Join about a member that has data. It must be of that
// cluster: after ForceNewCluster, others would form the old one again. If it has another peer
// URL now, it says so, because it may be one at which the others do not reach it. If nobody
// answers, the member starts.
func (m *Member) checkJoined(ctx context.Context, c *embed.Config, o Options) error {
	if o.Join == nil {
		return nil
	}
	client, err := dialJoin(c, o)
	if err != nil {
		return err
	}
	defer client.Close()
	list, err := membersOf(ctx, client)
	if err != nil {
		return nil
	}
	if other, ours := types.ID(list.Header.ClusterId), m.etcd.Server.Cluster().ID(); other != ours {
		return fmt.Errorf("its data is of cluster %s, and %s is of cluster %s, which was perhaps made anew by ForceNewCluster: to join that one, move the directory away",
			ours, strings.Join(o.Join, ", "), other)
	}
	id := uint64(m.etcd.Server.MemberID())
	i := slices.IndexFunc(list.Members, func(x *pb.Member) bool { return x.ID == id })
	if i < 0 {
		return errRemoved
	}
	if o.PeerURL != "" && !slices.Equal(list.Members[i].PeerURLs, []string{o.PeerURL}) {
		ctx, cancel := context.WithTimeout(ctx, joinTimeout)
		defer cancel()
		_, err = client.MemberUpdate(ctx, id, []string{o.PeerURL})
	}
	return err
}

// promote makes a learner a voter, when it has caught up. The leader decides that.
func (m *Member) promote(ctx context.Context, o Options) error {
	id := uint64(m.etcd.Server.MemberID())
	for m.etcd.Server.IsLearner() {
		_, err := m.client.MemberPromote(ctx, id)
		switch {
		case err == nil, errors.Is(err, rpctypes.ErrMemberNotLearner): // IsLearner follows
		case errors.Is(err, rpctypes.ErrMemberNotFound):
			return errRemoved
		default:
			o.waiting(fmt.Sprintf("the leader, which promotes this learner when it has caught up: %v. To undo the join: etcdctl member remove %x", err, id))
		}
		select {
		case <-time.After(joinAgain / 10):
		case <-m.etcd.Server.StopNotify():
			return errRemoved
		case <-m.failed:
			return m.failure
		case <-ctx.Done():
			return fmt.Errorf("the learner has not caught up: %w", ctx.Err())
		}
	}
	return nil
}
