package kuberay_test

import (
	"context"
	"fmt"
	"testing"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/internal/test/explorereal"
)

func TestRayClusters(t *testing.T) {
	types := runtime.NewScheme()
	require.NoError(t, clientscheme.AddToScheme(types))
	require.NoError(t, rayv1.AddToScheme(types))
	u := explorereal.User{Types: types}
	_, head := explorereal.PodsOf("head")
	_, worker := explorereal.PodsOf("worker")
	sums := &rayv1.RayCluster{ObjectMeta: explorereal.Named("sums"), Spec: rayv1.RayClusterSpec{
		RayVersion:    "2.46.0",
		HeadGroupSpec: rayv1.HeadGroupSpec{RayStartParams: map[string]string{}, Template: head},
		WorkerGroupSpecs: []rayv1.WorkerGroupSpec{{
			GroupName: "workers", Replicas: new(int32(1)), MinReplicas: new(int32(0)), MaxReplicas: new(int32(5)), RayStartParams: map[string]string{}, Template: worker,
		}},
	}}
	explorereal.Explore(t, explore.Scenario{
		API: explorereal.Serve(t, explorereal.FileOf(t, "github.com/ray-project/kuberay/ray-operator", "config", "crd", "bases", "ray.io_rayclusters.yaml")),
		Controllers: []explore.Controller{{Name: "rayclusters", Run: explorereal.Managed(types, func(ctx context.Context, mgr ctrl.Manager) error {
			return ray.NewReconciler(ctx, mgr, ray.RayClusterReconcilerOptions{}).SetupWithManager(mgr, 1)
		})}},
		World: explorereal.Kubelet,
		Steps: []explore.Step{
			u.Create(sums),
			u.Patch("grow", sums, `{"spec":{"workerGroupSpecs":[`+workers(2)+`]}}`),
			u.Patch("shrink", sums, `{"spec":{"workerGroupSpecs":[`+workers(1)+`]}}`),
			u.Delete(sums),
			u.Create(sums),
		},
	}, explore.Options{},
		explorereal.Judged{Text: "pods default/sums-workers-worker-*", Plan: "stale-restart"},
		explorereal.Judged{Text: "sends requests without end", Plan: "stale-restart"},
		explorereal.Judged{Text: "sends requests without end", Plan: "slow-events"},
		explorereal.Judged{Text: "sends requests without end", Plan: "collapse"},
	)
}

// workers returns a group of workers as JSON.
func workers(n int) string {
	const container = `{"name":"c","image":"one"}`
	return fmt.Sprintf(`{"groupName":"workers","replicas":%d,"minReplicas":0,"maxReplicas":5,"rayStartParams":{},`+
		`"template":{"metadata":{"labels":{"app":"worker"}},"spec":{"containers":[%s]}}}`, n, container)
}
