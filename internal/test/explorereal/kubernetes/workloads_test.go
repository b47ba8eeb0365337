package kubernetes_test

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/statefulset"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/internal/test/explorereal"
)

func TestDeployments(t *testing.T) {
	selector, template := explorereal.PodsOf("web")
	web := &appsv1.Deployment{ObjectMeta: explorereal.Named("web"), Spec: appsv1.DeploymentSpec{Replicas: new(int32(2)), Selector: selector, Template: template}}
	explorereal.Explore(t, explore.Scenario{
		API: explorereal.Serve(t),
		Controllers: []explore.Controller{
			{Name: "deployment", Run: explorereal.Informed(func(ctx context.Context, k kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context), error) {
				c, err := deployment.NewDeploymentController(ctx, f.Apps().V1().Deployments(), f.Apps().V1().ReplicaSets(), f.Core().V1().Pods(), k)
				return func(ctx context.Context) { c.Run(ctx, 1) }, err
			})},
			{Name: "replicaset", Run: explorereal.Informed(func(ctx context.Context, k kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context), error) {
				c := replicaset.NewReplicaSetController(ctx, f.Apps().V1().ReplicaSets(), f.Core().V1().Pods(), k, replicaset.BurstReplicas)
				return func(ctx context.Context) { c.Run(ctx, 1) }, nil
			})},
		},
		World: explorereal.Kubelet,
		Steps: []explore.Step{
			explorereal.BuiltIn().Create(web),
			explorereal.BuiltIn().Patch("roll out", web, `{"spec":{"template":{"metadata":{"annotations":{"image":"two"}}}}}`),
			explorereal.BuiltIn().Patch("shrink", web, `{"spec":{"replicas":1}}`),
			explorereal.BuiltIn().Delete(web),
			explorereal.BuiltIn().Create(web),
		},
	}, explore.Options{},
		explorereal.Judged{Text: ".spec.replicas went from", Plan: "stale-restart"},
		explorereal.Judged{Text: "replicasets default/web-", Plan: "stale-restart"},
		explorereal.Judged{Text: "pods default/web-", Plan: "stale-restart"},
		explorereal.Judged{Text: "sends requests without end", Plan: "stale-restart"},
		explorereal.Judged{Text: "sends requests without end", Plan: "slow-events"},
		explorereal.Judged{Text: "sends requests without end", Plan: "collapse"},
	)
}

func TestStatefulSets(t *testing.T) {
	selector, template := explorereal.PodsOf("db")
	db := &appsv1.StatefulSet{ObjectMeta: explorereal.Named("db"), Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(2)), Selector: selector, Template: template, ServiceName: "db",
		PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: "Delete", WhenScaled: "Delete"},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}},
	}}
	explorereal.Explore(t, explore.Scenario{
		API: explorereal.Serve(t),
		Controllers: []explore.Controller{{Name: "statefulset", Run: explorereal.Informed(func(ctx context.Context, k kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context), error) {
			c := statefulset.NewStatefulSetController(ctx, f.Core().V1().Pods(), f.Apps().V1().StatefulSets(), f.Core().V1().PersistentVolumeClaims(),
				f.Apps().V1().ControllerRevisions(), k)
			return func(ctx context.Context) { c.Run(ctx, 1) }, nil
		})}},
		World: explorereal.Kubelet,
		Steps: []explore.Step{
			explorereal.BuiltIn().Create(db),
			explorereal.BuiltIn().Patch("shrink", db, `{"spec":{"replicas":1}}`),
			explorereal.BuiltIn().Patch("grow", db, `{"spec":{"replicas":2}}`),
			explorereal.BuiltIn().Delete(db),
			explorereal.BuiltIn().Create(db),
		},
	}, explore.Options{},
		explorereal.Judged{Text: "pods default/db-1 was deleted", Plan: "stale-restart"},
		explorereal.Judged{Text: "persistentvolumeclaims default/data-db-1 was deleted", Plan: "stale-restart"},
		explorereal.Judged{Text: "persistentvolumeclaims default/data-db-1 exists", Plan: "down 4"},
	)
}

func TestJobs(t *testing.T) {
	_, template := explorereal.PodsOf("sum")
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	sum := &batchv1.Job{ObjectMeta: explorereal.Named("sum"), Spec: batchv1.JobSpec{Completions: new(int32(2)), Parallelism: new(int32(2)), Suspend: new(true), Template: template}}
	explorereal.Explore(t, explore.Scenario{
		API: explorereal.Serve(t),
		Controllers: []explore.Controller{{Name: "job", Run: explorereal.Informed(func(ctx context.Context, k kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context), error) {
			s := f.Scheduling().V1beta1()
			c, err := job.NewController(ctx, k, f.Core().V1().Pods(), f.Batch().V1().Jobs(), s.Workloads(), s.PodGroups())
			return func(ctx context.Context) { c.Run(ctx, 1) }, err
		})}},
		World: explorereal.Kubelet,
		Steps: []explore.Step{
			explorereal.BuiltIn().Create(sum),
			explorereal.BuiltIn().Patch("resume", sum, `{"spec":{"suspend":false}}`),
			explorereal.BuiltIn().Delete(sum),
			explorereal.BuiltIn().Create(sum),
		},
	}, explore.Options{},
		explorereal.Judged{Text: "pods default/sum-*", Plan: "stale-restart"},
		explorereal.Judged{Text: `.status.conditions[].reason is "JobSuspended"`, Plan: "crash-"},
	)
}
