package machineapi_test

import (
	"context"
	"testing"

	machinev1 "github.com/openshift/api/machine/v1beta1"
	"github.com/openshift/machine-api-operator/pkg/controller/machine"
	"github.com/openshift/machine-api-operator/pkg/controller/machineset"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/featuregate"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/httpapi/kube/explorekube"
	"github.com/kubecoord/kubecoord/internal/test/explorereal"
)

// cloud is an Actuator whose instances are ConfigMaps, so that one that is left over is seen. Its calls are idempotent, as Actuator demands.
type cloud struct{ client.Client }

const instances = "kube-system"

func instanceOf(m *machinev1.Machine) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: instances, Name: m.Name}}
}

// Create starts the instance of a machine.
func (c cloud) Create(ctx context.Context, m *machinev1.Machine) error {
	if err := c.Client.Create(ctx, instanceOf(m)); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return c.Update(ctx, m)
}

// Update writes the id of the instance and its address into the machine.
func (c cloud) Update(ctx context.Context, m *machinev1.Machine) error {
	if m.Spec.ProviderID == nil {
		before := client.MergeFrom(m.DeepCopy())
		m.Spec.ProviderID = new("cloud:///" + m.Name)
		if err := c.Patch(ctx, m, before); err != nil {
			return err
		}
	}
	if len(m.Status.Addresses) == 0 {
		before := client.MergeFrom(m.DeepCopy())
		m.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: m.Name}}
		return c.Status().Patch(ctx, m, before)
	}
	return nil
}

// Exists reports whether there is an instance.
func (c cloud) Exists(ctx context.Context, m *machinev1.Machine) (bool, error) {
	err := c.Get(ctx, client.ObjectKeyFromObject(instanceOf(m)), &corev1.ConfigMap{})
	return err == nil, client.IgnoreNotFound(err)
}

// Delete stops the instance.
func (c cloud) Delete(ctx context.Context, m *machinev1.Machine) error {
	return client.IgnoreNotFound(c.Client.Delete(ctx, instanceOf(m)))
}

func TestMachineSets(t *testing.T) {
	types := runtime.NewScheme()
	require.NoError(t, clientscheme.AddToScheme(types))
	require.NoError(t, machinev1.Install(types))
	labels := map[string]string{"pool": "a"}
	pool := &machinev1.MachineSet{ObjectMeta: explorereal.Named("pool"), Spec: machinev1.MachineSetSpec{
		Replicas: new(int32(2)), Selector: metav1.LabelSelector{MatchLabels: labels}, DeletePolicy: "Oldest",
		Template: machinev1.MachineTemplateSpec{ObjectMeta: machinev1.ObjectMeta{Labels: labels}},
	}}
	u := explorereal.User{Types: types}
	const crds = "machine/v1beta1/zz_generated.crd-manifests/0000_10_machine-api_01_machine"
	explorereal.Explore(t, explore.Scenario{
		API: explorereal.Serve(t, explorereal.FileOf(t, "github.com/openshift/api", crds+"s-Default.crd.yaml"), explorereal.FileOf(t, "github.com/openshift/api", crds+"sets-Default.crd.yaml")),
		Controllers: []explore.Controller{{Name: "machines", Run: explorereal.Managed(types, func(_ context.Context, mgr ctrl.Manager) error {
			live, err := client.New(mgr.GetConfig(), client.Options{Scheme: types, Mapper: mgr.GetRESTMapper()})
			if err != nil {
				return err
			}
			gate := featuregate.NewFeatureGate()
			if err := gate.Add(map[featuregate.Feature]featuregate.FeatureSpec{"MachineAPIMigration": {}}); err != nil {
				return err
			}
			if err := machine.AddWithActuator(mgr, cloud{live}, gate); err != nil {
				return err
			}
			return machineset.Add(mgr, manager.Options{}, gate)
		})}},
		World: joining(types),
		Steps: []explore.Step{
			u.Create(pool),
			u.Patch("grow", pool, `{"spec":{"replicas":3}}`),
			u.Patch("shrink", pool, `{"spec":{"replicas":1}}`),
			u.Delete(pool),
			u.Create(pool),
		},
	}, explore.Options{})
}

// joining is a World in which each instance joins the cluster as a Node, which is linked to its Machine.
func joining(types *runtime.Scheme) func(context.Context, explore.Conn) error {
	return func(ctx context.Context, conn explore.Conn) error {
		mapper, err := explorekube.RESTMapper(conn)
		if err != nil {
			return err
		}
		c, err := client.NewWithWatch(explorereal.Config(conn), client.Options{Scheme: types, Mapper: mapper})
		if err != nil {
			return err
		}
		explorereal.Follow(ctx, func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, &machinev1.MachineList{}, &client.ListOptions{Raw: &o})
		}, func(m *machinev1.Machine, deleted bool) {
			if !deleted && m.DeletionTimestamp == nil && m.Spec.ProviderID != nil && m.Status.NodeRef == nil {
				explorereal.Pause(ctx)
				join(ctx, c, m)
			}
		})
		return nil
	}
}

func join(ctx context.Context, c client.Client, m *machinev1.Machine) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: m.Name}}
	if err := c.Create(ctx, node); err != nil {
		return
	}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	_ = c.Status().Update(ctx, node)
	before := client.MergeFrom(m.DeepCopy())
	m.Status.NodeRef = &corev1.ObjectReference{Kind: "Node", Name: m.Name}
	_ = c.Status().Patch(ctx, m, before) // the machine may be gone
}
