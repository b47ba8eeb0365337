package printers

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// apiServiceCells returns the cells of an APIService (upstream: kube-aggregator, registry/apiservice/etcd, ConvertToTable).
func apiServiceCells(obj runtime.Object, c clock) []any {
	s, ok := obj.(*apiregistrationv1.APIService)
	if !ok {
		return nil
	}
	service, status := "Local", string(apiregistrationv1.ConditionUnknown)
	if of := s.Spec.Service; of != nil {
		service = of.Namespace + "/" + of.Name
	}
	for _, have := range s.Status.Conditions {
		if have.Type != apiregistrationv1.Available {
			continue
		}
		if status = string(have.Status); have.Status != apiregistrationv1.ConditionTrue && have.Reason != "" {
			status = fmt.Sprintf("%s (%s)", have.Status, have.Reason)
		}
	}
	return []any{s.Name, service, status, c.age(s)}
}
