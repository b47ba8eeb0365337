package scheme

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecoord/kubecoord/store/kind"
)

func apiServiceKind() schema.GroupVersionKind {
	return apiregistrationv1.SchemeGroupVersion.WithKind("APIService")
}

// APIServices returns the kind APIService of apiregistration.k8s.io/v1, which client-go's scheme does not have. Local ones are
// available; package cluster makes them, and finds out whether the others are. The kind is made once per process and shared.
func APIServices() (kind.Kind, error) {
	k, err := apiServices()
	if err != nil {
		return nil, fmt.Errorf("scheme: %w", err)
	}
	return k, nil
}

// apiServices makes the kind (upstream: kube-aggregator, registry/apiservice).
var apiServices = sync.OnceValues(func() (kind.Kind, error) {
	gvk := apiServiceKind()
	return newBuilder().builtin(served{
		group: gvk.Group, version: gvk.Version, kind: gvk.Kind, plural: "apiservices", prefix: gvk.Group + "/apiservices", categories: apiExtensions(), cluster: true,
		status: true, ownStatus: true, needsVersion: true, name: kind.PathSegmentName, create: onCreate(createAPIService), defaults: on(defaultAPIService),
	})
})

// createAPIService makes a local one available.
func createAPIService(s *apiregistrationv1.APIService) {
	s.Status = apiregistrationv1.APIServiceStatus{}
	if s.Spec.Service == nil {
		s.Status.Conditions = []apiregistrationv1.APIServiceCondition{LocalAPIService(metav1.NewTime(s.CreationTimestamp.Time))}
	}
}

// LocalAPIService returns the condition of an APIService that its own server serves.
func LocalAPIService(since metav1.Time) apiregistrationv1.APIServiceCondition {
	return apiregistrationv1.APIServiceCondition{
		Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue, LastTransitionTime: since,
		Reason: "Local", Message: "Local APIServices are always available",
	}
}

// defaultAPIService sets the port of a service.
func defaultAPIService(s *apiregistrationv1.APIService) {
	if s.Spec.Service != nil && s.Spec.Service.Port == nil {
		s.Spec.Service.Port = new(int32(443))
	}
}
