package initial_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// server returns the Lease of a server, or nil.
func server(all *store.Objects) *lease.Lease {
	for o := range all.All("kube-system") {
		if strings.HasPrefix(o.GetObjectMeta().Name, "apiserver-") {
			return o.(*lease.Lease)
		}
	}
	return nil
}

func TestAServerRenewsItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer(t, cluster.KubeAPIServer())
		leases := objects(t, api, "coordination.k8s.io", "leases")
		first := server(leases)
		time.Sleep(25 * time.Second)
		synctest.Wait()
		now := server(leases)
		assert.Equal(t, 20*time.Second, now.Spec.RenewTime.Sub(first.Spec.RenewTime.Time))
		assert.Equal(t, first.UID, now.UID)
		assert.Equal(t, first.Spec.HolderIdentity, now.Spec.HolderIdentity)
		require.NoError(t, leases.Delete(context.Background(), "kube-system", now.Name, store.DeleteOptions{}))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.NotNil(t, server(leases), "it is made again")
	})
}

func TestTheConfigurationOfPriorityAndFairnessComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := newServer(t, cluster.KubeAPIServer())
		flows, levels := objects(t, api, "flowcontrol.apiserver.k8s.io", "flowschemas"), objects(t, api, "flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations")
		ctx := context.Background()
		version := levels.Get("", "exempt").GetObjectMeta().ResourceVersion
		for _, name := range []string{"catch-all", "probes"} {
			require.NoError(t, flows.Delete(ctx, "", name, store.DeleteOptions{}))
		}
		require.NoError(t, levels.Delete(ctx, "", "catch-all", store.DeleteOptions{}))
		precede := func(name string, automatic string) {
			require.NoError(t, flows.Modify(ctx, "", name, "", func(o meta.Object) error {
				kind.ValueOf[flowcontrolv1.FlowSchema](o).Spec.MatchingPrecedence = 777
				o.GetObjectMeta().Annotations = map[string]string{flowcontrolv1.AutoUpdateAnnotationKey: automatic}
				if automatic == "" {
					o.GetObjectMeta().Annotations = map[string]string{"own": "x"}
				}
				return nil
			}, store.UpdateOptions{}))
		}
		precede("system-leader-election", "true")
		precede("system-nodes", "false")
		precede("global-default", "")
		time.Sleep(59 * time.Second)
		synctest.Wait()
		assert.Nil(t, flows.Get("", "catch-all"))
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, 11, flows.Len())
		assert.NotNil(t, flows.Get("", "catch-all"))
		assert.Equal(t, 8, levels.Len())
		for name, want := range map[string]int32{"system-leader-election": 100, "system-nodes": 777, "global-default": 777} {
			assert.Equal(t, want, kind.ValueOf[flowcontrolv1.FlowSchema](flows.Get("", name)).Spec.MatchingPrecedence, name)
		}
		assert.Equal(t, map[string]string{"own": "x", flowcontrolv1.AutoUpdateAnnotationKey: "false"}, flows.Get("", "global-default").GetObjectMeta().Annotations)
		assert.Equal(t, version, levels.Get("", "exempt").GetObjectMeta().ResourceVersion, "what is right is not written")
	})
}
