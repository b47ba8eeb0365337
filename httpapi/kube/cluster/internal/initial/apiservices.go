package initial

import (
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// AutoManaged is the label of the APIServices that a server makes itself: "onstart" for its own groups, "true" for the groups of
// definitions (upstream: kube-aggregator, controllers/autoregister).
const AutoManaged = "kube-aggregator.kubernetes.io/automanaged"

// groupPriorities has the groups of a server with their priorities (upstream: controlplane/apiserver, DefaultGenericAPIServicePriorities,
// and cmd/kube-apiserver/app, aggregator.go).
var groupPriorities = sync.OnceValue(func() map[string]int32 {
	return map[string]int32{
		"": 18000, "apps": 17800, "events.k8s.io": 17750, "authentication.k8s.io": 17700, "authorization.k8s.io": 17600, "autoscaling": 17500,
		"batch": 17400, "certificates.k8s.io": 17300, "networking.k8s.io": 17200, "policy": 17100, "rbac.authorization.k8s.io": 17000,
		"storage.k8s.io": 16800, "admissionregistration.k8s.io": 16700, "apiextensions.k8s.io": 16700, "scheduling.k8s.io": 16600,
		"coordination.k8s.io": 16500, "node.k8s.io": 16300, "discovery.k8s.io": 16200, "resource.k8s.io": 16200, "flowcontrol.apiserver.k8s.io": 16100,
		"storagemigration.k8s.io": 15800,
	}
})

// versionPriority returns the priority of a version of a group.
func versionPriority(group, version string) int32 {
	switch gv := group + "/" + version; {
	case group == "":
		return 1
	case gv == "autoscaling/v2":
		return 30
	case gv == "resource.k8s.io/v1", group == "flowcontrol.apiserver.k8s.io":
		return 21
	case version == "v1", gv == "resource.k8s.io/v1beta2":
		return 15
	case gv == "coordination.k8s.io/v1beta1":
		return 13
	case group == "coordination.k8s.io", gv == "admissionregistration.k8s.io/v1beta1":
		return 12
	case strings.Contains(version, "beta"), group == "admissionregistration.k8s.io":
		return 9
	}
	return 1
}

// Registration returns the spec of the APIService of a group and version that the server has: of built-in kinds, or of definitions.
func Registration(group, version string, native bool) apiregistrationv1.APIServiceSpec {
	spec := apiregistrationv1.APIServiceSpec{Group: group, Version: version, GroupPriorityMinimum: 1000, VersionPriority: 100}
	switch priority := groupPriorities()[group]; {
	case !native:
	case group == apiregistrationv1.GroupName: // has no APIService, and comes first
		spec.GroupPriorityMinimum = 20000
	default:
		spec.GroupPriorityMinimum, spec.VersionPriority = priority, versionPriority(group, version)
	}
	return spec
}

// apiServices returns the APIServices of the groups that kinds are in, without definitions.
func apiServices(kinds []kind.Kind) (all []object) {
	seen := map[string]bool{}
	priorities := groupPriorities()
	for _, k := range kinds {
		for _, of := range k.Groups() {
			info := of.Info()
			_, known := priorities[info.Group]
			if !known || !info.Native {
				continue
			}
			for _, v := range info.Versions {
				if name := v.Name + "." + info.Group; !seen[name] && !v.Unserved {
					seen[name] = true
					all = append(all, apiService(name, info.Group, v.Name))
				}
			}
		}
	}
	return all
}

func apiService(name, group, version string) object {
	return object{
		group: apiregistrationv1.SchemeGroupVersion.Group, plural: "apiservices", manager: serverManager, shared: true, name: name,
		value: func() any {
			return &apiregistrationv1.APIService{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{AutoManaged: "onstart"}},
				Spec:       Registration(group, version, true),
			}
		},
		change: func(o meta.Object) {
			s := kind.ValueOf[apiregistrationv1.APIService](o)
			s.Status.Conditions = []apiregistrationv1.APIServiceCondition{scheme.LocalAPIService(metav1.NewTime(s.CreationTimestamp.Time))}
		},
	}
}
