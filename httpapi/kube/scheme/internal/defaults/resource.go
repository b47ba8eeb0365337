package defaults

import (
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func addResource(r rules, now func() time.Time) {
	on(r, func(q *resourcev1.ExactDeviceRequest) { devices(&q.AllocationMode, &q.Count) })
	on(r, func(q *resourcev1.DeviceSubRequest) { devices(&q.AllocationMode, &q.Count) })
	on(r, func(t *resourcev1.DeviceToleration) { value(&t.Operator, resourcev1.DeviceTolerationOpEqual) })
	on(r, func(t *resourcev1.DeviceTaint) { pointer(&t.TimeAdded, metav1.NewTime(now().Truncate(time.Second))) })
}

func devices(mode *resourcev1.DeviceAllocationMode, count *int64) {
	value(mode, resourcev1.DeviceAllocationModeExactCount)
	if *mode == resourcev1.DeviceAllocationModeExactCount {
		value(count, 1)
	}
}
