package cluster_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
)

// network is a test of services.
type network struct {
	*testing.T
	*kubernetes.Clientset
}

func newNetwork(t *testing.T, o cluster.Options) network {
	o.Addresses = true
	_, client := newServer(t, o)
	return network{t, client}
}

// service returns a service with port 80, changed by each of the functions.
func service(name string, changes ...func(*corev1.ServiceSpec)) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	for _, change := range changes {
		change(&s.Spec)
	}
	return s
}

func at(ip string) func(*corev1.ServiceSpec) {
	return func(s *corev1.ServiceSpec) { s.ClusterIP = ip }
}

func onNodes(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeNodePort }

func onPort(port int32) func(*corev1.ServiceSpec) {
	return func(s *corev1.ServiceSpec) {
		onNodes(s)
		s.Ports[0].NodePort = port
	}
}

func dualStack(s *corev1.ServiceSpec) { s.IPFamilyPolicy = new(corev1.IPFamilyPolicyRequireDualStack) }

func (n network) create(s *corev1.Service) (*corev1.Service, error) {
	return n.CoreV1().Services("a").Create(n.Context(), s, metav1.CreateOptions{})
}

func (n network) mustCreate(s *corev1.Service) *corev1.Service {
	n.Helper()
	made, err := n.create(s)
	require.NoError(n, err)
	return made
}

func (n network) delete(name string) {
	n.Helper()
	require.NoError(n, n.CoreV1().Services("a").Delete(n.Context(), name, metav1.DeleteOptions{}))
}

// addresses returns the IPAddresses as "address namespace/name", sorted by their names.
func (n network) addresses() (out []string) {
	n.Helper()
	list, err := n.NetworkingV1().IPAddresses().List(n.Context(), metav1.ListOptions{})
	require.NoError(n, err)
	for _, a := range list.Items {
		out = append(out, a.Name+" "+a.Spec.ParentRef.Namespace+"/"+a.Spec.ParentRef.Name)
	}
	return out
}

// small has seven addresses, and two node ports.
func small() cluster.Options {
	return cluster.Options{ServiceRanges: []netip.Prefix{netip.MustParsePrefix("10.1.0.8/29")}, NodePorts: utilnet.PortRange{Base: 31000, Size: 2}}
}

func TestTheServerHasTheFirstAddressOfItsRange(t *testing.T) {
	o := cluster.KubeAPIServer()
	o.ServiceRanges = []netip.Prefix{netip.MustParsePrefix("fd00:1::/112"), netip.MustParsePrefix("10.9.0.0/16")}
	n := newNetwork(t, o)
	s, err := n.CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"fd00:1::1"}, s.Spec.ClusterIPs)
	assert.Equal(t, []string{"fd00:1::1 default/kubernetes"}, n.addresses())
	cidr, err := n.NetworkingV1().ServiceCIDRs().Get(t.Context(), "kubernetes", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"fd00:1::/112", "10.9.0.0/16"}, cidr.Spec.CIDRs)
	assert.Equal(t, "Kubernetes default Service CIDR is ready", cidr.Status.Conditions[0].Message)
}

func TestRangesAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.0/30":                        "cluster: error determining service IP ranges for primary service cidr: the service cluster IP range must be at least 8 IP addresses",
		"10.0.0.0/24 10.1.0.0/24":            "cluster: --service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family",
		"10.0.0.0/24 fd00::/112 10.1.0.0/24": "cluster: --service-cluster-ip-range must not contain more than two entries",
	} {
		var o cluster.Options
		for _, r := range strings.Fields(text) {
			o.ServiceRanges = append(o.ServiceRanges, netip.MustParsePrefix(r))
		}
		_, err := o.API(httpapi.Options{})
		assert.EqualError(t, err, want)
	}
	_, err := cluster.Options{ServiceRanges: make([]netip.Prefix, 1)}.API(httpapi.Options{})
	assert.EqualError(t, err, "cluster: service-cluster-ip-range[0] is not a valid cidr")
}

// TestAllOfARangeIsGiven: and no more, until something is released.
func TestAllOfARangeIsGiven(t *testing.T) {
	n := newNetwork(t, small())
	var ips, want []string
	for i := range 6 {
		ips = append(ips, n.mustCreate(service(fmt.Sprint("s", i))).Spec.ClusterIP)
		want = append(want, fmt.Sprint("10.1.0.", 9+i))
	}
	assert.ElementsMatch(t, want, ips)
	_, err := n.create(service("more"))
	assert.EqualError(t, err, `Internal error occurred: failed to allocate a serviceIP for Service "more": range is full`)
	_, err = n.create(service("more", onNodes))
	assert.True(t, apierrors.IsInternalError(err))
	n.delete("s3")
	assert.Equal(t, ips[3], n.mustCreate(service("more")).Spec.ClusterIP)

	n.delete("more")
	a := n.mustCreate(service("p1", onNodes, at(ips[3]))).Spec.Ports[0].NodePort
	n.delete("s4")
	b := n.mustCreate(service("p2", onNodes)).Spec.Ports[0].NodePort
	assert.ElementsMatch(t, []int32{31000, 31001}, []int32{a, b})
	n.delete("s5")
	_, err = n.create(service("p3", onNodes))
	assert.EqualError(t, err, "Internal error occurred: failed to allocate a nodePort: range is full")
	assert.Len(t, n.addresses(), 5, "what the refused one had taken is free")
	_, err = n.create(service("p3", onPort(31002)))
	assert.ErrorContains(t, err, "The range of valid ports is 31000-31001")
	n.delete("p1")
	assert.Equal(t, a, n.mustCreate(service("p3", onNodes)).Spec.Ports[0].NodePort)
}

// TestNothingIsHalfTaken: a write that takes one thing and cannot have the other, or is refused later, leaves what it took.
func TestNothingIsHalfTaken(t *testing.T) {
	n := newNetwork(t, cluster.Options{ServiceRanges: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/24"), netip.MustParsePrefix("fd00::/112")}, Policies: true})
	n.mustCreate(service("a", dualStack, func(s *corev1.ServiceSpec) { s.ClusterIP, s.ClusterIPs = "10.1.0.3", []string{"10.1.0.3", "fd00::3"} }))
	before := n.addresses()
	for why, s := range map[string]*corev1.Service{
		"second address": service("x", dualStack, func(s *corev1.ServiceSpec) { s.ClusterIP, s.ClusterIPs = "10.1.0.4", []string{"10.1.0.4", "fd00::3"} }),
		"node port":      service("x", onPort(80), at("10.1.0.4")),
		"validation":     service("x", at("10.1.0.4"), func(s *corev1.ServiceSpec) { s.SessionAffinity = "x" }),
		"name":           service("a", at("10.1.0.4")),
	} {
		_, err := n.create(s)
		assert.Error(t, err, why)
		assert.Equal(t, before, n.addresses(), why)
	}
	_, err := n.CoreV1().Services("a").Create(t.Context(), service("x", onPort(30001)), metav1.CreateOptions{DryRun: []string{"All"}})
	require.NoError(t, err)
	assert.Equal(t, before, n.addresses(), "a dry run")
	_, err = n.CoreV1().Services("a").Create(t.Context(), service("x", onPort(30001), func(s *corev1.ServiceSpec) { s.SessionAffinity = "x" }), metav1.CreateOptions{})
	assert.Error(t, err)

	_, err = n.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	policy, binding := deny("object.metadata.name != 'refused'")
	for resource, body := range map[string]string{"validatingadmissionpolicies": policy, "validatingadmissionpolicybindings": binding} {
		require.NoError(t, n.AdmissionregistrationV1().RESTClient().Post().AbsPath(admissionPath+resource).Body([]byte(body)).Do(t.Context()).Error())
	}
	_, err = n.create(service("refused", at("10.1.0.4"), onPort(30001)))
	assert.ErrorContains(t, err, "denied request: no")
	assert.Equal(t, before, n.addresses())
	n.mustCreate(service("b", at("10.1.0.4"), onPort(30001)))
}

// TestConcurrentServicesShareNothing: each of them gets an address and a port of its own, or is refused.
func TestConcurrentServicesShareNothing(t *testing.T) {
	o := cluster.Options{ServiceRanges: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/26")}, NodePorts: utilnet.PortRange{Base: 31000, Size: 40}}
	n := newNetwork(t, o)
	var work sync.WaitGroup
	for i := range 80 {
		work.Go(func() { _, _ = n.create(service(fmt.Sprint("s", i), onNodes)) })
	}
	work.Wait()
	list, err := n.CoreV1().Services("a").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, list.Items, 40)
	ips, ports := map[string]bool{}, map[int32]bool{}
	for _, s := range list.Items {
		ips[s.Spec.ClusterIP], ports[s.Spec.Ports[0].NodePort] = true, true
	}
	assert.Len(t, ips, 40)
	assert.Len(t, ports, 40)
	assert.Len(t, n.addresses(), 40, "refused writes leave none")
}

// TestAForkGivesAddressesOfItsOwn: it knows what was given before it, and nothing of what is given later.
func TestAForkGivesAddressesOfItsOwn(t *testing.T) {
	api, client := newServer(t, cluster.Options{Addresses: true})
	n := network{t, client}
	n.mustCreate(service("before", at("10.0.0.5"), onPort(30005)))
	fork := network{t, clientOf(t, api.Fork(t))}
	for _, in := range []network{n, fork} {
		_, err := in.create(service("x", at("10.0.0.5")))
		assert.ErrorContains(t, err, "provided IP is already allocated")
		_, err = in.create(service("x", onPort(30005)))
		assert.ErrorContains(t, err, "provided port is already allocated")
		in.mustCreate(service("after", at("10.0.0.6"), onPort(30006)))
	}
	fork.delete("before")
	fork.mustCreate(service("again", at("10.0.0.5"), onPort(30005)))
	assert.Equal(t, []string{"10.0.0.5 a/before", "10.0.0.6 a/after"}, n.addresses())
}

const fixtures = `
-- a.yaml --
apiVersion: v1
kind: Service
metadata: {namespace: a, name: known}
spec: {type: LoadBalancer, clusterIP: 10.0.0.7, clusterIPs: [10.0.0.7], externalTrafficPolicy: Local, healthCheckNodePort: 30007, ports: [{port: 80, nodePort: 30008}], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack}
-- b.yaml --
apiVersion: v1
kind: Service
metadata: {namespace: a, name: without}
spec: {ports: [{port: 80}]}
-- c.yaml --
apiVersion: networking.k8s.io/v1
kind: IPAddress
metadata: {name: 10.0.0.8}
spec: {parentRef: {resource: gateways, group: example.com, name: a}}
`

// TestWhatAFixtureHasIsTaken: at once, before its IPAddresses are there.
func TestWhatAFixtureHasIsTaken(t *testing.T) {
	_, client := newServer(t, cluster.Options{Addresses: true}, fixture.Txtar("", []byte(fixtures)))
	n := network{t, client}
	for _, ip := range []string{"10.0.0.7", "10.0.0.8"} {
		_, err := n.create(service("x", at(ip)))
		assert.ErrorContains(t, err, "provided IP is already allocated", ip)
	}
	for _, port := range []int32{30007, 30008} {
		_, err := n.create(service("x", onPort(port)))
		assert.ErrorContains(t, err, "provided port is already allocated")
	}
	s, err := n.CoreV1().Services("a").Get(t.Context(), "without", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Empty(t, s.Spec.ClusterIP, "a fixture is taken as it is")
	s.Labels = map[string]string{"a": "b"}
	s, err = n.CoreV1().Services("a").Update(t.Context(), s, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.NotEmpty(t, s.Spec.ClusterIP, "the next update gives it an address")
	n.delete("known")
	n.mustCreate(service("x", at("10.0.0.7"), onPort(30007)))
}

func TestOtherRangesGiveAddresses(t *testing.T) {
	n := newNetwork(t, small())
	for i := range 6 {
		n.mustCreate(service(fmt.Sprint("s", i)))
	}
	ranges := n.NetworkingV1().ServiceCIDRs()
	more := &networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: "more", Finalizers: []string{"example.com/keep"}}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"10.2.0.0/30"}}}
	more, err := ranges.Create(t.Context(), more, metav1.CreateOptions{})
	require.NoError(t, err)
	a := n.mustCreate(service("a")).Spec.ClusterIP
	b := n.mustCreate(service("b")).Spec.ClusterIP
	assert.ElementsMatch(t, []string{"10.2.0.1", "10.2.0.2"}, []string{a, b})
	n.delete("b")
	more.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "x", LastTransitionTime: metav1.Now()}}
	more, err = ranges.UpdateStatus(t.Context(), more, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = n.create(service("b"))
	assert.ErrorContains(t, err, "range is full", "not ready")
	more.Status.Conditions[0].Status = metav1.ConditionTrue
	_, err = ranges.UpdateStatus(t.Context(), more, metav1.UpdateOptions{})
	require.NoError(t, err)
	n.mustCreate(service("b"))
	n.delete("b")
	require.NoError(t, ranges.Delete(t.Context(), "more", metav1.DeleteOptions{}))
	_, err = n.create(service("b", at("10.2.0.1")))
	assert.ErrorContains(t, err, "the provided network does not match the current range", "being deleted")
}

// TestAddressesAreRepaired: an IPAddress that is missing comes back, one without its service goes, and so does the range of the server.
func TestAddressesAreRepaired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, cluster.Options{})
		n.mustCreate(service("s", at("10.0.0.5")))
		synctest.Wait() // for the look at the new service
		addresses := n.NetworkingV1().IPAddresses()
		wait := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		require.NoError(t, addresses.Delete(t.Context(), "10.0.0.5", metav1.DeleteOptions{}))
		_, err := n.create(service("x", at("10.0.0.5")))
		assert.ErrorContains(t, err, "already allocated", "the service still has it")
		wait(3*time.Minute - time.Second)
		assert.Empty(t, n.addresses())
		wait(2 * time.Second)
		assert.Equal(t, []string{"10.0.0.5 a/s"}, n.addresses())

		orphan := func(name, parent string) {
			_, err := addresses.Create(t.Context(), &networkingv1.IPAddress{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{networkingv1.LabelManagedBy: "ipallocator.k8s.io", networkingv1.LabelIPAddressFamily: "IPv4"}},
				Spec:       networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Resource: "services", Namespace: "a", Name: parent}},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
		}
		orphan("10.0.0.6", "absent")
		wait(59 * time.Second)
		orphan("10.0.0.7", "s")
		assert.Len(t, n.addresses(), 3)
		wait(2 * time.Second)
		assert.Equal(t, []string{"10.0.0.5 a/s", "10.0.0.7 a/s"}, n.addresses())
		wait(4 * time.Second)
		assert.Equal(t, []string{"10.0.0.5 a/s"}, n.addresses())

		require.NoError(t, n.NetworkingV1().ServiceCIDRs().Delete(t.Context(), "kubernetes", metav1.DeleteOptions{}))
		_, err = n.create(service("x"))
		assert.ErrorContains(t, err, "range is full")
		wait(11 * time.Second)
		n.mustCreate(service("x"))
	})
}

// replaced replaces the IPAddress that is to be deleted by another one of its name, once.
type replaced struct {
	*testing.T
	client *kubernetes.Clientset
	parent string
	by     *networkingv1.IPAddress
}

func (r *replaced) Admit(_ context.Context, a *admission.Attributes) error {
	if r.by != nil || a.Operation != admission.Delete || a.Resource.GroupResource().Resource != "ipaddresses" {
		return nil
	}
	r.by = kind.ValueOf[networkingv1.IPAddress](a.Old).DeepCopy()
	addresses := r.client.NetworkingV1().IPAddresses()
	require.NoError(r, addresses.Delete(r.Context(), a.Name, metav1.DeleteOptions{}))
	r.by.ResourceVersion, r.by.UID, r.by.Spec.ParentRef.Name = "", "", r.parent
	r.by.Labels[networkingv1.LabelManagedBy] = "ipallocator.k8s.io"
	var err error
	r.by, err = addresses.Create(r.Context(), r.by, metav1.CreateOptions{})
	require.NoError(r, err)
	return nil
}

func (r *replaced) Validate(context.Context, *admission.Attributes) error { return nil }

// newReplaced returns the test of a server whose IPAddresses are replaced.
func newReplaced(t *testing.T, parent string) (*replaced, network) {
	r := &replaced{T: t, parent: parent}
	options, err := cluster.Options{Addresses: true}.API(httpapi.Options{Admission: r})
	require.NoError(t, err)
	r.client = clientOf(t, apitest.New(t, apitest.Options{API: options}))
	return r, network{t, r.client}
}

// Between the look at an IPAddress and its deletion another one may get its name: it has a minute of its own.
func TestARepairDeletesOnlyTheIPAddressItSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, n := newReplaced(t, "late")
		for name, manager := range map[string]string{"10.0.0.6": "ipallocator.k8s.io", "10.0.0.7": "somebody"} {
			_, err := r.client.NetworkingV1().IPAddresses().Create(t.Context(), &networkingv1.IPAddress{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{networkingv1.LabelManagedBy: manager, networkingv1.LabelIPAddressFamily: "IPv4"}},
				Spec:       networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Resource: "services", Namespace: "a", Name: "absent"}},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
		}
		for _, want := range [][]string{{"10.0.0.6 a/absent", "10.0.0.7 a/absent"}, {"10.0.0.6 a/late", "10.0.0.7 a/absent"}, {"10.0.0.7 a/absent"}} {
			synctest.Wait()
			assert.Equal(t, want, n.addresses())
			time.Sleep(61 * time.Second)
		}
	})
}

// And one that is right by now stays.
func TestARepairOfAServiceDeletesOnlyTheIPAddressItSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, n := newReplaced(t, "s")
		n.mustCreate(service("s", at("10.0.0.5")))
		addresses := r.client.NetworkingV1().IPAddresses()
		_, err := addresses.Patch(t.Context(), "10.0.0.5", types.MergePatchType, []byte(`{"metadata":{"labels":{"ipaddress.kubernetes.io/managed-by":"somebody"}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		_, err = n.CoreV1().Services("a").Patch(t.Context(), "s", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		synctest.Wait()
		require.NotNil(t, r.by)
		now, err := addresses.Get(t.Context(), "10.0.0.5", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, r.by.UID, now.UID)
	})
}

// TestASeedGivesTheSameAddresses: as it gives the same uids.
func TestASeedGivesTheSameAddresses(t *testing.T) {
	given := func(seed uint64) (out []string) {
		options, err := cluster.Options{Addresses: true}.API(httpapi.Options{})
		require.NoError(t, err)
		st := store.New(store.Options{Seed: seed})
		defer st.Close()
		api := httpapi.New(st, options)
		defer api.Close()
		client, err := kubernetes.NewForConfig(&rest.Config{Transport: api.Transport(), QPS: -1})
		require.NoError(t, err)
		for i := range 5 {
			made := network{t, client}.mustCreate(service(fmt.Sprint("s", i), onNodes))
			out = append(out, fmt.Sprint(made.Spec.ClusterIP, " ", made.Spec.Ports[0].NodePort))
		}
		return out
	}
	assert.Equal(t, given(1), given(1))
	assert.NotEqual(t, given(1), given(2))
	lower := func(s string) bool { ip, _, _ := strings.Cut(s, " "); return netip.MustParseAddr(ip).As4()[3] < 17 }
	assert.False(t, slices.ContainsFunc(given(3), lower), "the lower part is for those who name an address")
}
