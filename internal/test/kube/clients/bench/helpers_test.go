package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

const (
	namespace = "kube-node-lease"
	leasePath = "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases"
)

var midnight = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

func leaseName(i int) string { return fmt.Sprintf("node-%06d", i) }

// shape is how much Leases differ in their labels and annotations.
type shape int

const (
	// elected is a Lease as a client-go elector writes it: without labels and
	// annotations, with managedFields.
	elected    shape = iota
	ownMaps          // no two have equal labels or equal annotations
	ownLabels        // all have the same annotations
	commonMaps       // all have the same labels and annotations
)

func (s shape) String() string {
	return [...]string{"elected", "own maps", "own labels", "common maps"}[s]
}

// newLease returns the i-th Lease as a client creates it. The answer of the
// server is 650 bytes of JSON.
func newLease(i int, s shape) *coordinationv1.Lease {
	if s == elected {
		return newElectedLease(i)
	}
	name := leaseName(i)
	labelled, annotated := name, name
	if s >= ownLabels {
		annotated = leaseName(0)
	}
	if s >= commonMaps {
		labelled = leaseName(0)
	}
	return &coordinationv1.Lease{
		TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: namespace,
			Labels:      map[string]string{"host": labelled},
			Annotations: map[string]string{"note": annotated},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "coordination.k8s.io/v1",
				Time: new(metav1.NewTime(midnight)), FieldsType: "FieldsV1",
				FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:annotations":{".":{},"f:note":{}},"f:labels":{".":{},"f:host":{}}},"f:spec":{"f:holderIdentity":{}}}`)},
			}},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &name},
	}
}

func newElectedLease(i int) *coordinationv1.Lease {
	name, now := leaseName(i), metav1.NewMicroTime(midnight)
	return &coordinationv1.Lease{
		TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: namespace,
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "coordination.k8s.io/v1",
				Time: new(metav1.NewTime(midnight)), FieldsType: "FieldsV1",
				FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:holderIdentity":{},"f:leaseDurationSeconds":{},"f:leaseTransitions":{},"f:renewTime":{}}}`)},
			}},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &name, LeaseDurationSeconds: new(int32(15)), RenewTime: &now, LeaseTransitions: new(int32(3)),
		},
	}
}

// storedLease returns the i-th Lease as the server stores it.
func storedLease(i int, s shape) *coordinationv1.Lease {
	l := newLease(i, s)
	l.UID = "f78ea26b-d6dc-450d-8f1e-e23303d3f0ac"
	l.ResourceVersion = strconv.Itoa(1001 + i)
	l.CreationTimestamp = metav1.NewTime(midnight)
	return l
}

// newServer returns a server with n Leases.
func newServer(t testing.TB, n int, s shape) (*store.Store, *httpapi.API) {
	st := store.New(store.Options{})
	api := httpapi.New(st, httpapi.Options{})
	t.Cleanup(func() {
		api.Close()
		st.Close()
	})
	for i := range n {
		create(t, api, newLease(i, s))
	}
	return st, api
}

// create creates a Lease as JSON over HTTP.
func create(t testing.TB, api http.Handler, l *coordinationv1.Lease) {
	manager := l.ManagedFields[0].Manager
	l.ManagedFields = nil // the server records them
	body, err := json.Marshal(l)
	require.NoError(t, err)
	req := httptest.NewRequest(http.MethodPost, leasePath, bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", manager+"/v1.37.2")
	require.Equal(t, http.StatusCreated, serve(api, req).code)
}

// discard is a ResponseWriter that only counts.
type discard struct {
	header http.Header
	code   int
	bytes  int
}

func (d *discard) Header() http.Header  { return d.header }
func (d *discard) WriteHeader(code int) { d.code = code }
func (d *discard) Flush()               {}
func (d *discard) Write(p []byte) (int, error) {
	if d.code == 0 {
		d.code = http.StatusOK
	}
	d.bytes += len(p)
	return len(p), nil
}

func serve(h http.Handler, req *http.Request) *discard {
	w := &discard{header: http.Header{}}
	h.ServeHTTP(w, req)
	return w
}

func listRequest(accept string) *http.Request {
	req := httptest.NewRequest(http.MethodGet, leasePath, nil)
	req.Header.Set("Accept", accept)
	return req
}

// duel runs two functions in turns of n calls. It reports the time per call of
// each, and the ratio of the first to the second.
func duel(b *testing.B, calls int, name string, ours func(), otherName string, other func()) {
	var a, o time.Duration
	n := 0
	for b.Loop() {
		a += timeOf(calls, ours)
		o += timeOf(calls, other)
		n += calls
	}
	reportDuel(b, n, name, a, otherName, o)
}

// reportDuel reports the time per call of each function, and the ratio.
func reportDuel(b *testing.B, n int, name string, a time.Duration, otherName string, o time.Duration) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(a.Nanoseconds())/float64(n), name+"-ns")
	b.ReportMetric(float64(o.Nanoseconds())/float64(n), otherName+"-ns")
	b.ReportMetric(float64(a)/float64(o), "ratio")
}

func timeOf(calls int, f func()) time.Duration {
	start := time.Now()
	for range calls {
		f()
	}
	return time.Since(start)
}

func TestLeasesAreOf650Bytes(t *testing.T) {
	for _, s := range []shape{elected, ownMaps} {
		text, err := json.Marshal(storedLease(0, s))
		require.NoError(t, err)
		assert.InDelta(t, 650, len(text), 60, s)
		_, api := newServer(t, 1, s)
		get := serve(api, httptest.NewRequest(http.MethodGet, leasePath+"/"+leaseName(0), nil))
		assert.InDelta(t, 650, get.bytes, 60, s)
	}
}
