package etcd

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecoord/kubecoord/store/backend"
)

func TestCommit(t *testing.T) {
	e := newEtcd(shared.Client(), prefixOf(t), Options{})
	commit := func(w backend.Write) backend.Committed {
		t.Helper()
		c, err := e.Commit(t.Context(), w)
		require.NoError(t, err)
		return c
	}
	created := put(t, e, "leases/default/a", "one", 0)
	have := backend.Stored{Key: "leases/default/a", Value: []byte("one"), Version: created}
	assert.Equal(t, backend.Committed{Have: have}, commit(backend.Write{Key: "leases/default/a", Value: []byte("x")}), "a second create")
	assert.Equal(t, backend.Committed{Have: have}, commit(backend.Write{Key: "leases/default/a", Value: []byte("x"), Expect: created - 1}), "an update of an old state")
	assert.Equal(t, backend.Committed{Have: have}, commit(backend.Write{Key: "leases/default/a", Expect: created - 1}), "a deletion of an old state")

	updated := put(t, e, "leases/default/a", "", created)
	assert.Equal(t, created+1, updated)
	got, err := e.Get(t.Context(), "leases/default/a")
	require.NoError(t, err)
	assert.Equal(t, backend.Stored{Key: "leases/default/a", Value: []byte{}, Version: updated}, got, "an empty value is there")

	gone := commit(backend.Write{Key: "leases/default/a", Expect: updated})
	assert.Equal(t, backend.Committed{Done: true, Version: updated + 1}, gone)
	absent := backend.Stored{Key: "leases/default/a"}
	got, err = e.Get(t.Context(), "leases/default/a")
	require.NoError(t, err)
	assert.Equal(t, absent, got)
	assert.Equal(t, backend.Committed{Have: absent}, commit(backend.Write{Key: "leases/default/a", Value: []byte("x"), Expect: updated}), "an update of what is gone")
	assert.Equal(t, backend.Committed{Have: absent}, commit(backend.Write{Key: "leases/default/a", Expect: updated}), "a deletion of what is gone")
}

// tellingKV answers a transaction with the revision of a later one, as kine may.
type tellingKV struct {
	clientv3.KV
	later func() // makes another write
}

func (kv *tellingKV) Txn(ctx context.Context) clientv3.Txn { return tellingTxn{kv.KV.Txn(ctx), kv} }

type tellingTxn struct {
	clientv3.Txn
	kv *tellingKV
}

func (txn tellingTxn) If(cs ...clientv3.Cmp) clientv3.Txn {
	return tellingTxn{txn.Txn.If(cs...), txn.kv}
}
func (txn tellingTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	return tellingTxn{txn.Txn.Then(ops...), txn.kv}
}
func (txn tellingTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	return tellingTxn{txn.Txn.Else(ops...), txn.kv}
}

func (txn tellingTxn) Commit() (*clientv3.TxnResponse, error) {
	r, err := txn.Txn.Commit()
	if err == nil {
		txn.kv.later()
		r.Header.Revision++
	}
	return r, err
}

func TestKineMayTellTheRevisionOfAnotherWrite(t *testing.T) {
	client := *shared.Client()
	kv := &tellingKV{KV: client.KV}
	client.KV = kv
	e := newEtcd(&client, prefixOf(t), Options{})
	e.isKine = true
	write := func(later string) (backend.Committed, error) {
		kv.later = func() {
			_, err := shared.Client().Put(t.Context(), e.prefix+later, "another")
			require.NoError(t, err)
		}
		return e.Commit(t.Context(), backend.Write{Key: "leases/default/a", Value: []byte("one")})
	}
	c, err := write("leases/default/b")
	require.NoError(t, err)
	got, err := e.Get(t.Context(), "leases/default/a")
	require.NoError(t, err)
	assert.Equal(t, backend.Committed{Done: true, Version: got.Version}, c)
	_, err = e.Commit(t.Context(), backend.Write{Key: "leases/default/a", Expect: got.Version})
	require.NoError(t, err)
	_, err = write("leases/default/a")
	assert.ErrorContains(t, err, "before kine told its revision")
}

// slowKV holds gets until they are released, and counts them.
type slowKV struct {
	clientv3.KV
	gets    atomic.Int32
	started chan struct{}
	release chan struct{}
}

func (kv *slowKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	kv.gets.Add(1)
	kv.started <- struct{}{}
	<-kv.release
	return kv.KV.Get(ctx, key, opts...)
}

func TestOneQuestionServesAllWhoAskedBeforeItWasSent(t *testing.T) {
	client := *shared.Client()
	kv := &slowKV{KV: client.KV, started: make(chan struct{}, 10), release: make(chan struct{})}
	client.KV = kv
	e := newEtcd(&client, prefixOf(t), Options{})
	versions := make(chan uint64, 21)
	ask := func() {
		v, err := e.Version(t.Context())
		assert.NoError(t, err)
		versions <- v
	}
	go ask()
	<-kv.started
	var late sync.WaitGroup
	for range 20 {
		late.Go(ask)
	}
	r, err := shared.Client().Put(t.Context(), e.prefix+"a", "b")
	require.NoError(t, err)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = e.Version(gone)
	require.ErrorIs(t, err, context.Canceled)
	kv.release <- struct{}{}
	first := <-versions
	assert.GreaterOrEqual(t, first, uint64(r.Header.Revision), "the question was answered after the write")
	close(kv.release)
	late.Wait()
	for range 20 {
		assert.GreaterOrEqual(t, <-versions, uint64(r.Header.Revision))
	}
	assert.LessOrEqual(t, kv.gets.Load(), int32(10), "21 callers; some may come after the second question was sent")
	e.close()
	_, err = e.Version(t.Context())
	assert.ErrorIs(t, err, context.Canceled)
}

// failingKV fails after it was released.
type failingKV struct {
	slowKV
}

func (kv *failingKV) Get(context.Context, string, ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	kv.gets.Add(1)
	kv.started <- struct{}{}
	<-kv.release
	return nil, errors.New("request timed out")
}

func TestWhoWaitsForTheNextQuestionSharesTheErrorOfTheOneBefore(t *testing.T) {
	client := *shared.Client()
	kv := &failingKV{slowKV{started: make(chan struct{}, 10), release: make(chan struct{})}}
	client.KV = kv
	e := newEtcd(&client, prefixOf(t), Options{})
	defer e.close()
	var asked sync.WaitGroup
	ask := func() {
		_, err := e.Version(t.Context())
		assert.ErrorContains(t, err, "request timed out")
	}
	asked.Go(ask)
	<-kv.started
	asked.Go(ask)
	require.Eventually(t, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.pending != nil
	}, time.Minute, time.Millisecond)
	kv.release <- struct{}{}
	asked.Wait()
	assert.EqualValues(t, 1, kv.gets.Load())
}

// hangingKV does not answer the first gets.
type hangingKV struct {
	clientv3.KV
	hang atomic.Int32
}

func (kv *hangingKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if kv.hang.Add(-1) >= 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return kv.KV.Get(ctx, key, opts...)
}

func TestReadsGoToTheNextEndpointAfterAWhile(t *testing.T) {
	client := *dial(t, sharedURL, sharedURL)
	kv := &hangingKV{KV: client.KV}
	kv.hang.Store(1)
	client.KV = kv
	e := newEtcd(&client, prefixOf(t), Options{})
	_, err := e.Get(t.Context(), "a")
	require.NoError(t, err)
	kv.hang.Store(1)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = e.Get(ctx, "a")
	assert.ErrorIs(t, err, context.DeadlineExceeded, "the time of the caller is over")
}

func TestRevisionsThatGoBackAreAnError(t *testing.T) {
	e := newEtcd(shared.Client(), prefixOf(t), Options{})
	require.NoError(t, e.saw(0, 7))
	require.NoError(t, e.saw(6, 6), "an answer to an older question")
	require.ErrorIs(t, e.saw(7, 6), errWentBack)
	e.highest.Store(1 << 40)
	_, err := e.Get(t.Context(), "a")
	require.ErrorIs(t, err, errWentBack)
	_, err = e.Version(t.Context())
	require.ErrorIs(t, err, errWentBack)
	_, err = e.Commit(t.Context(), backend.Write{Key: "a", Expect: 5})
	require.ErrorIs(t, err, errWentBack)
	require.ErrorIs(t, e.Follow(t.Context(), 10, newRecording()), errWentBack)
}

func TestFollowStartsWithHistory(t *testing.T) {
	e := newEtcd(shared.Client(), prefixOf(t), Options{})
	a := put(t, e, "a", "1", 0)
	put(t, e, "b", "1", 0)
	put(t, e, "a", "2", a)
	r := follow(t, e, 2)
	r.untilReached(t, e.highest.Load())
	assert.Equal(t, []string{"load 1", "changed b=1", "changed a=2"}, r.lines[:3])
	assert.Equal(t, map[string]string{"a": "2", "b": "1"}, r.state)
}

func TestFollowLoadsInPages(t *testing.T) {
	e := newEtcd(shared.Client(), prefixOf(t), Options{})
	for from := 0; from < 2*pageSize; from += 100 {
		var puts []clientv3.Op
		for i := range 100 {
			puts = append(puts, clientv3.OpPut(e.prefix+string(rune('a'+from/100))+string(rune('a'+i)), "x"))
		}
		_, err := shared.Client().Txn(t.Context()).Then(puts...).Commit()
		require.NoError(t, err)
	}
	r := follow(t, e, 0)
	assert.Len(t, r.state, 2*pageSize)
}

func TestFollowHasAllChangesOfARevisionTogether(t *testing.T) {
	e := newEtcd(shared.Client(), prefixOf(t), Options{})
	r := follow(t, e, 0)
	_, err := shared.Client().Txn(t.Context()).Then(
		clientv3.OpPut(e.prefix+"a", "1"), clientv3.OpPut(e.prefix+"b", "1"), clientv3.OpPut("/elsewhere", "1")).Commit()
	require.NoError(t, err)
	_, err = shared.Client().Delete(t.Context(), e.prefix, clientv3.WithPrefix())
	require.NoError(t, err)
	r.untilLine(t, "changed a=1 b=1")
	r.untilLine(t, "changed -a -b")
}

func TestProgressIsToldWithoutAChange(t *testing.T) {
	e := newEtcd(shared.Client(), prefixOf(t), Options{})
	r := follow(t, e, 0)
	for range 20 {
		_, err := shared.Client().Put(t.Context(), "/elsewhere", "x")
		require.NoError(t, err)
		v, err := e.Version(t.Context())
		require.NoError(t, err)
		e.Progress()
		r.untilReached(t, v)
	}
}

func TestFollowLoadsAgainAfterACompaction(t *testing.T) {
	e := newEtcd(shared.Client(), prefixOf(t), Options{})
	a := put(t, e, "a", "1", 0)
	a = put(t, e, "a", "2", a)
	_, err := shared.Client().Compact(t.Context(), int64(a))
	require.NoError(t, err)
	r := follow(t, e, 100)
	r.untilReached(t, a)
	assert.Equal(t, map[string]string{"a": "2"}, r.state, "begins with what etcd has")

	// Compacted up to now, nothing is lost.
	elsewhere, err := shared.Client().Put(t.Context(), "/elsewhere", "x")
	require.NoError(t, err)
	_, err = shared.Client().Compact(t.Context(), elsewhere.Header.Revision)
	require.NoError(t, err)
	idle := follow(t, newEtcd(shared.Client(), e.prefix, Options{}), 0)
	b := put(t, e, "b", "1", 0)
	idle.untilReached(t, b)
	assert.NotContains(t, idle.lines[1:], "load 1")

	cut := &reader{etcd: e, follower: newRecording(), reached: a - 1}
	require.ErrorContains(t, cut.watch(t.Context()), "compacted")
	require.NoError(t, cut.reload(t.Context()))
	assert.GreaterOrEqual(t, cut.reached, a)
}

func TestFollowStartsWithTheLastCompaction(t *testing.T) {
	e := newEtcd(shared.Client(), prefixOf(t), Options{})
	a := put(t, e, "a", "1", 0)
	put(t, e, "a", "2", a)
	_, err := shared.Client().Delete(t.Context(), compactRevKey)
	require.NoError(t, err)
	c := &compactor{client: shared.Client()}
	require.NoError(t, c.compact(t.Context()))
	put(t, e, "b", "1", 0)
	require.NoError(t, c.compact(t.Context()))
	b := put(t, e, "c", "1", 0)
	r := follow(t, e, 1<<20)
	r.untilReached(t, b)
	assert.Contains(t, r.lines, "changed c=1")
	assert.NotContains(t, r.lines, "changed a=2")
}

func TestFollowEndsWithAnErrorOfItsFollower(t *testing.T) {
	e := newEtcd(shared.Client(), prefixOf(t), Options{})
	r := newRecording()
	r.fail = errors.New("cannot be read")
	done := make(chan error)
	go func() { done <- e.Follow(t.Context(), 0, r) }()
	r.untilLine(t, "contact true")
	put(t, e, "a", "1", 0)
	assert.Equal(t, r.fail, <-done)
}
