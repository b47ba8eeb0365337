package cluster_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecoord/kubecoord/internal/test/etcd/cluster"
	"github.com/kubecoord/kubecoord/internal/test/exact"
	"github.com/kubecoord/kubecoord/store/etcd"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

var (
	faultsFor = flag.Duration("faults.for", 30*time.Second, "how long to look for violations under faults")
	seed      = flag.Uint64("faults.seed", uint64(time.Now().UnixNano()), "the seed of the faults and of the clients")
)

const prefix = "/registry"

// patience is how long a client waits for an answer.
const patience = 10 * time.Second

// door is the API of a replica that may be gone or without contact to etcd. Its answers of 429 and from 500 on are errors without a
// Status, because it is unknown whether a write took place.
type door struct{ exact.HTTPDoor }

func unknown(err error) error {
	var s *meta.StatusError
	if errors.As(err, &s) && (s.Status.Code == http.StatusTooManyRequests || s.Status.Code >= 500) {
		return errors.New(s.Status.Message)
	}
	return err
}

func within[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := do(ctx)
	if err = unknown(err); err != nil {
		// Clients do not run in circles around a replica that is gone.
		time.Sleep(10 * time.Millisecond)
	}
	return answer, err
}

func (d door) Create(ctx context.Context, s exact.State) (exact.State, error) {
	return within(ctx, func(ctx context.Context) (exact.State, error) { return d.HTTPDoor.Create(ctx, s) })
}

func (d door) Get(ctx context.Context, namespace, name, version string) (exact.State, error) {
	return within(ctx, func(ctx context.Context) (exact.State, error) { return d.HTTPDoor.Get(ctx, namespace, name, version) })
}

func (d door) Update(ctx context.Context, s exact.State) (exact.State, error) {
	return within(ctx, func(ctx context.Context) (exact.State, error) { return d.HTTPDoor.Update(ctx, s) })
}

func (d door) Patch(ctx context.Context, s exact.State) (exact.State, error) {
	return within(ctx, func(ctx context.Context) (exact.State, error) { return d.HTTPDoor.Patch(ctx, s) })
}

func (d door) Delete(ctx context.Context, namespace, name, uid string) (exact.State, error) {
	return within(ctx, func(ctx context.Context) (exact.State, error) { return d.HTTPDoor.Delete(ctx, namespace, name, uid) })
}

func (d door) List(ctx context.Context, opts exact.ListOptions) (exact.Page, error) {
	return within(ctx, func(ctx context.Context) (exact.Page, error) { return d.HTTPDoor.List(ctx, opts) })
}

func (d door) Watch(ctx context.Context, opts exact.WatchOptions) iter.Seq2[exact.Event, error] {
	return func(yield func(exact.Event, error) bool) {
		for e, err := range d.HTTPDoor.Watch(ctx, opts) {
			if err = unknown(err); err != nil {
				time.Sleep(10 * time.Millisecond)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func doorOf(r *cluster.Replica) door {
	return door{exact.HTTPDoor{Base: r.URL, Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}}}
}

// world is a cluster with three replicas and a log of what their clients did.
type world struct {
	t        *testing.T
	rnd      *rand.Rand
	cluster  *cluster.Cluster
	replicas []*cluster.Replica
	admin    *clientv3.Client
	witness  *witness
	log      *exact.Log
}

func newWorld(t *testing.T, c *cluster.Cluster, replicas int) *world {
	w := &world{t: t, rnd: rand.New(rand.NewPCG(*seed, 0)), cluster: c, log: exact.NewLog()}
	w.witness = newWitness(t, w.cluster.URLs())
	var err error
	w.admin, err = etcd.Dial(clientv3.Config{Endpoints: w.cluster.URLs()})
	require.NoError(t, err)
	t.Cleanup(func() { w.admin.Close() })
	for i := range replicas {
		r := w.cluster.Replica(t, fmt.Sprintf("replica%d", i), prefix, []int{4096, 40}[i%2])
		r.Start()()
		w.replicas = append(w.replicas, r)
	}
	return w
}

// deleteRange deletes all objects of a namespace in one transaction.
func (w *world) deleteRange() {
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	w.log.Others(func() {
		if _, err := w.admin.Delete(ctx, prefix+"/leases/default/", clientv3.WithPrefix()); err != nil {
			w.t.Log("foreign deletion: ", err)
		}
	}, "default")
}

// compact compacts what the witness has seen.
func (w *world) compact() {
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	if _, err := w.admin.Compact(ctx, int64(w.witness.has())); err != nil {
		w.t.Log("compaction: ", err)
	}
}

// noSpace raises the alarm of a full quota meanwhile. Writes are refused then.
func (w *world) noSpace(meanwhile func()) {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	r, err := w.admin.MemberList(ctx)
	require.NoError(w.t, err)
	alarm := &pb.AlarmRequest{MemberID: r.Header.MemberId, Alarm: pb.AlarmType_NOSPACE}
	for _, alarm.Action = range []pb.AlarmRequest_AlarmAction{pb.AlarmRequest_ACTIVATE, pb.AlarmRequest_DEACTIVATE} {
		for { // while members elect, after the fault before this one, a request may get lost
			_, err = pb.NewMaintenanceClient(w.admin.ActiveConnection()).Alarm(ctx, alarm)
			if err == nil || ctx.Err() != nil {
				break
			}
		}
		require.NoError(w.t, err)
		if alarm.Action == pb.AlarmRequest_ACTIVATE {
			meanwhile()
		}
	}
}

// fault lets something fail, and mends it.
func (w *world) fault() {
	m := w.cluster.Members[w.rnd.IntN(len(w.cluster.Members))]
	r := w.replicas[w.rnd.IntN(len(w.replicas))]
	direction := w.rnd.IntN(2)
	wait := func(most time.Duration) { time.Sleep(time.Duration(w.rnd.Int64N(int64(most)))) }
	faults := []string{
		"kill member", "stop member", "cut replica from a member", "cut replica", "cut replica and compact", "kill replica", "stop replica",
		"compact", "reset connections",
	}
	if m.Peers != nil { // kine can do no more
		faults = append(faults, "cut member", "delete range", "no space", "defragment")
	}
	what := faults[w.rnd.IntN(len(faults))]
	w.t.Log(time.Now().Format(time.StampMilli), what, m.Name, r.Name, direction)
	switch what {
	case "kill member":
		m.Kill()
		wait(2 * time.Second)
		m.Start()()
	case "stop member":
		m.Signal(syscall.SIGSTOP)
		wait(5 * time.Second)
		m.Signal(syscall.SIGCONT)
	case "cut member":
		m.Peers.Cut(direction, true)
		wait(5 * time.Second)
		m.Peers.Cut(direction, false)
	case "cut replica from a member":
		p := r.Proxies[w.rnd.IntN(len(r.Proxies))]
		p.Cut(direction, true)
		wait(10 * time.Second)
		p.Cut(direction, false)
	case "cut replica", "cut replica and compact":
		r.Cut(direction, true)
		wait(10 * time.Second)
		if what == "cut replica and compact" {
			w.compact()
		}
		r.Cut(direction, false)
	case "kill replica":
		r.Kill()
		wait(time.Second)
		r.Start()()
	case "stop replica":
		r.Signal(syscall.SIGSTOP)
		wait(3 * time.Second)
		r.Signal(syscall.SIGCONT)
	case "delete range":
		w.deleteRange()
	case "compact":
		w.compact()
	case "no space":
		w.noSpace(func() { wait(5 * time.Second) })
	case "defragment":
		ctx, cancel := context.WithTimeout(w.t.Context(), patience)
		if _, err := w.admin.Defragment(ctx, "http://"+m.Address); err != nil {
			w.t.Log("defragmentation: ", err)
		}
		cancel()
	case "reset connections":
		for _, p := range r.Proxies {
			p.Reset()
		}
	}
	wait(time.Second)
}

func TestReplicasAreConsistentUnderFaults(t *testing.T) { checkUnderFaults(t, cluster.Start(t, 3)) }

// TestReplicasOnKineAreConsistentUnderFaults needs kine; see package kinetest.
func TestReplicasOnKineAreConsistentUnderFaults(t *testing.T) {
	checkUnderFaults(t, cluster.StartKine(t))
}

func checkUnderFaults(t *testing.T, c *cluster.Cluster) {
	t.Logf("-faults.seed %d", *seed)
	w := newWorld(t, c, 3)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var clients sync.WaitGroup
	var followers []*exact.Follower
	n := *seed
	for _, r := range w.replicas {
		client := func(kind string) *exact.Client {
			n++
			c := exact.NewClient(r.Name+"-"+kind, doorOf(r), w.log, n)
			c.Reconnect = true
			return c
		}
		for i := range 2 {
			c := client(fmt.Sprintf("writer%d", i))
			clients.Go(func() {
				for ctx.Err() == nil {
					c.Step(t.Context())
					time.Sleep(20 * time.Millisecond) // the check is for minutes of it, not for speed
				}
			})
		}
		c := client("watcher")
		clients.Go(func() {
			for ctx.Err() == nil {
				c.Glance(t.Context())
				time.Sleep(200 * time.Millisecond)
			}
		})
		followers = append(followers, client("follower").Follow(t.Context(), 0), client("second follower").Follow(t.Context(), 0))
	}
	for end := time.Now().Add(*faultsFor); time.Now().Before(end); {
		w.fault()
	}
	stop()
	clients.Wait()
	h := w.witness.history(t)
	for _, f := range followers {
		f.Finish(h, time.Minute)
	}
	h = w.witness.history(t) // requests whose clients have gone may have written until now
	confirmed, expired := 0, 0
	for _, o := range w.log.Operations {
		if o.Err == nil {
			confirmed++
		}
	}
	for _, watched := range w.log.Watches {
		if errors.Is(watched.Err, meta.ReasonExpired) {
			expired++
		}
	}
	t.Logf("%d changes, %d operations, %d with an answer, %d watches, %d expired", len(h.Changes), len(w.log.Operations), confirmed,
		len(w.log.Watches), expired)
	assert.Greater(t, confirmed, len(w.log.Operations)/4)
	violations := exact.Check(h, w.log)
	if c.Members[0].Peers == nil { // kine confirms a deletion of what is gone, when the deletion of before is compacted
		violations = slices.DeleteFunc(violations, func(v string) bool { return strings.HasPrefix(v, "deletion of ") })
	}
	require.Empty(t, violations)
}

func TestCompactionUnderAReplicaThatIsCutOffIsNotSilent(t *testing.T) {
	w := newWorld(t, cluster.Start(t, 1), 2)
	cut, other := doorOf(w.replicas[0]), doorOf(w.replicas[1])
	first, err := other.Create(t.Context(), exact.State{Namespace: "default", Name: "a", Write: "first"})
	require.NoError(t, err)
	_, err = cut.Get(t.Context(), "default", "a", "")
	require.NoError(t, err)
	events := make(chan error, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() {
		for e, err := range cut.Watch(ctx, exact.WatchOptions{Version: fmt.Sprint(first.Version)}) {
			if err == nil && e.Type != watch.Bookmark {
				err = fmt.Errorf("an event: %+v", e)
			}
			if err != nil {
				events <- err
			}
		}
	})
	w.replicas[0].Cut(cluster.ToServer, true)
	w.replicas[0].Cut(cluster.ToClient, true)
	last := first
	for i := range 10 {
		last, err = other.Patch(t.Context(), exact.State{Namespace: "default", Name: "a", Write: fmt.Sprint(i)})
		require.NoError(t, err)
	}
	_, err = w.admin.Compact(t.Context(), int64(last.Version))
	require.NoError(t, err)
	for _, p := range w.replicas[0].Proxies {
		p.Reset() // what was sent before the compaction must not arrive
	}
	w.replicas[0].Cut(cluster.ToServer, false)
	w.replicas[0].Cut(cluster.ToClient, false)
	assert.ErrorIs(t, <-events, meta.ReasonExpired)
	cancel()
	got, err := cut.Get(t.Context(), "default", "a", "")
	require.NoError(t, err)
	assert.Equal(t, last, got)
}

func TestARestartedReplicaAnswersOldWatches(t *testing.T) {
	w := newWorld(t, cluster.Start(t, 1), 1)
	r := w.replicas[0]
	d := doorOf(r)
	first, err := d.Create(t.Context(), exact.State{Namespace: "default", Name: "a", Write: "first"})
	require.NoError(t, err)
	second, err := d.Patch(t.Context(), exact.State{Namespace: "default", Name: "a", Write: "second"})
	require.NoError(t, err)
	r.Kill()
	r.Start()()
	for e, err := range d.Watch(t.Context(), exact.WatchOptions{Version: fmt.Sprint(first.Version)}) {
		require.NoError(t, err)
		assert.Equal(t, exact.Event{Type: watch.Modified, State: second}, e)
		break
	}
	page, err := d.List(t.Context(), exact.ListOptions{Version: fmt.Sprint(first.Version), Match: "Exact"})
	require.NoError(t, err)
	assert.Equal(t, []exact.State{first}, page.Items)
}
