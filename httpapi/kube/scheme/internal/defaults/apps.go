package defaults

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func addApps(r rules) {
	on(r, func(s *appsv1.ReplicaSetSpec) { pointer(&s.Replicas, 1) })
	on(r, deployment)
	on(r, daemonSet)
	on(r, statefulSet)
}

func deployment(s *appsv1.DeploymentSpec) {
	pointer(&s.Replicas, 1)
	value(&s.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if s.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		pointer(&s.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		pointer(&s.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		pointer(&s.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	pointer(&s.RevisionHistoryLimit, 10)
	pointer(&s.ProgressDeadlineSeconds, 600)
}

func daemonSet(s *appsv1.DaemonSetSpec) {
	value(&s.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if s.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		pointer(&s.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		pointer(&s.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		pointer(&s.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	pointer(&s.RevisionHistoryLimit, 10)
}

// statefulSet adds rollingUpdate only if the strategy's type was left out too.
func statefulSet(s *appsv1.StatefulSetSpec) {
	value(&s.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	update := &s.UpdateStrategy
	if update.Type == "" {
		update.Type = appsv1.RollingUpdateStatefulSetStrategyType
		pointer(&update.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if update.Type == appsv1.RollingUpdateStatefulSetStrategyType && update.RollingUpdate != nil {
		pointer(&update.RollingUpdate.Partition, 0)
		pointer(&update.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
	}
	pointer(&s.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	value(&s.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	value(&s.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	pointer(&s.Replicas, 1)
	pointer(&s.RevisionHistoryLimit, 10)
}
