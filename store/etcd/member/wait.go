package member

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
)

const (
	// waitingAfter is when Start first says why it waits. An election takes one to two seconds.
	waitingAfter = 2 * time.Second
	// probeTimeout is how long another member may take to answer.
	probeTimeout = time.Second
)

// waitReady waits until the cluster has a leader.
func (m *Member) waitReady(ctx context.Context, c *embed.Config, o Options) error {
	p, err := newProber(c)
	if err != nil {
		return err
	}
	defer p.close()
	again := time.NewTicker(waitingAfter)
	defer again.Stop()
	for {
		select {
		case <-m.etcd.Server.ReadyNotify():
			return nil
		case <-m.failed:
			return m.failure
		case err := <-m.etcd.Err():
			return err
		case <-m.etcd.Server.StopNotify():
			return errRemoved
		case <-ctx.Done():
			return fmt.Errorf("the member does not become ready: has its cluster a leader? %w", ctx.Err())
		case <-again.C:
			o.waiting(m.whyNotReady(ctx, p, o))
		}
	}
}

// whyNotReady returns the reason why waitReady waits, and which members answer.
func (m *Member) whyNotReady(ctx context.Context, p *prober, o Options) string {
	server := m.etcd.Server
	var others []*membership.Member
	voters := 0
	for _, member := range server.Cluster().Members() {
		if !member.IsLearner {
			voters++
		}
		if member.ID != server.MemberID() {
			others = append(others, member)
		}
	}
	answers := p.answers(ctx, others)
	if m.joining || server.IsLearner() || len(others) == 0 {
		return fmt.Sprintf("the leader of the cluster that this member joins: it must reach this one at %s. Of the others: %s. "+
			"To undo the join: etcdctl member remove %s", o.PeerURL, answers, server.MemberID())
	}
	return fmt.Sprintf("a leader: %d of %d members must answer. This one does; %s", voters/2+1, voters, answers)
}

// prober asks other members, at the URLs that members use.
type prober struct {
	http      *http.Client
	transport *http.Transport
}

func newProber(c *embed.Config) (*prober, error) {
	t, err := transport.NewTransport(c.PeerTLSInfo, probeTimeout)
	if err != nil {
		return nil, err
	}
	return &prober{&http.Client{Transport: t, Timeout: probeTimeout}, t}, nil
}

func (p *prober) close() { p.transport.CloseIdleConnections() }

// answers says of each member whether it answers.
func (p *prober) answers(ctx context.Context, members []*membership.Member) string {
	texts := make([]string, len(members))
	var asked sync.WaitGroup
	for i, m := range members {
		asked.Go(func() {
			texts[i] = describe(m) + " does"
			if err := p.ask(ctx, m.PeerURLs); err != nil {
				texts[i] = fmt.Sprintf("%s does not: %v", describe(m), err)
			}
		})
	}
	asked.Wait()
	return strings.Join(texts, "; ")
}

// ask returns nil if a member answers at one of its URLs. It answers without a leader too.
func (p *prober) ask(ctx context.Context, urls []string) (err error) {
	for _, u := range urls {
		var req *http.Request
		if req, err = http.NewRequestWithContext(ctx, http.MethodGet, u+"/members", nil); err != nil {
			continue
		}
		var resp *http.Response
		if resp, err = p.http.Do(req); err == nil {
			resp.Body.Close()
			return nil
		}
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
	}
	return err
}

// describe returns how messages name a member.
func describe(m *membership.Member) string {
	return fmt.Sprintf("%s (%s)", nameOf(m.Name, uint64(m.ID)), strings.Join(m.PeerURLs, ", "))
}

// nameOf returns the name of a member, or its ID before it has started.
func nameOf(name string, id uint64) string {
	if name == "" {
		return fmt.Sprintf("%x", id)
	}
	return name
}
