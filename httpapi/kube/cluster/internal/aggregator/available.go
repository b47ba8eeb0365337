package aggregator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/transport"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"

	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/store"
)

// This file says whether the service of an APIService is available (upstream: kube-aggregator,
// controllers/status/remote/remote_available_controller.go).

const (
	// interval is the time after which a service is asked again, and the longest time between two attempts.
	interval = 30 * time.Second
	// checkTime bounds one question.
	checkTime = 5 * time.Second
	// failedCheck is the reason of a probe that failed. It is planned again.
	failedCheck = "FailedDiscoveryCheck"
	// attempts is how many endpoints of a service are asked at most.
	attempts = 5
)

// probe writes the condition of an APIService whose group another server has, and plans the next look at it.
func (g *aggregator) probe(ctx context.Context, name string) {
	defer g.discovering.Add(name)
	stored := g.service(name)
	if stored == nil || stored.Spec.Service == nil {
		g.probing.Drop(name)
		return
	}
	condition, err := g.check(ctx, stored)
	if written := g.write(ctx, stored, condition); written != nil {
		err = written
	}
	if err != nil {
		g.probing.Retry(name)
		return
	}
	g.probing.Succeeded(name)
	g.probing.AddAfter(name, interval)
}

// write stores a condition of an APIService that has changed.
func (g *aggregator) write(ctx context.Context, stored *apiregistrationv1.APIService, condition apiregistrationv1.APIServiceCondition) error {
	s := stored.DeepCopy()
	condition.Type, condition.LastTransitionTime = apiregistrationv1.Available, metav1.NewTime(g.api.Store().Now())
	helper.SetAPIServiceCondition(s, condition)
	if equality.Semantic.DeepEqual(stored.Status, s.Status) {
		return nil
	}
	in, err := kube.In[apiregistrationv1.APIService](typed.KindOf(g.api, apiServices()), g.api.Store())
	if err == nil {
		_, err = in.Status().Update(ctx, s, store.UpdateOptions{FieldManager: fieldManager})
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// check returns the condition of the service of an APIService, and the error of the question if there was one.
func (g *aggregator) check(ctx context.Context, s *apiregistrationv1.APIService) (apiregistrationv1.APIServiceCondition, error) {
	namespace, name := s.Spec.Service.Namespace, s.Spec.Service.Name
	unavailable := func(reason, format string, args ...any) apiregistrationv1.APIServiceCondition {
		return apiregistrationv1.APIServiceCondition{Status: apiregistrationv1.ConditionFalse, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	service := g.behind.Get(namespace, name)
	if service == nil {
		return unavailable("ServiceNotFound", "service/%s in %q is not present", name, namespace), nil
	}
	if service.Spec.Type == corev1.ServiceTypeClusterIP {
		i := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port(s) })
		if i < 0 {
			return unavailable("ServicePortError", "service/%s in %q is not listening on port %d", name, namespace, port(s)), nil
		}
		portName := service.Spec.Ports[i].Name
		switch all := g.slicesOf(namespace, name); {
		case len(all) == 0:
			return unavailable("EndpointsNotFound", "cannot find endpointslices for service/%s in %q", name, namespace), nil
		case !slices.ContainsFunc(all, func(e *discoveryv1.EndpointSlice) bool { return isReady(e, portName) }):
			return unavailable("MissingEndpoints", "endpointslices for service/%s in %q have no addresses with port name %q", name, namespace, portName), nil
		}
	}
	if err := g.ask(ctx, s); err != nil {
		return unavailable(failedCheck, "%s", err), err
	}
	return apiregistrationv1.APIServiceCondition{Status: apiregistrationv1.ConditionTrue, Reason: "Passed", Message: "all checks passed"}, nil
}

// slicesOf returns the EndpointSlices of a service.
func (g *aggregator) slicesOf(namespace, service string) (all []*discoveryv1.EndpointSlice) {
	for e := range g.slices.All(namespace) {
		if e.Labels[discoveryv1.LabelServiceName] == service {
			all = append(all, e)
		}
	}
	return all
}

// isReady reports whether an EndpointSlice has a port of a name, and an endpoint that is ready.
func isReady(s *discoveryv1.EndpointSlice, portName string) bool {
	return slices.ContainsFunc(s.Endpoints, func(e discoveryv1.Endpoint) bool { return e.Conditions.Ready == nil || *e.Conditions.Ready }) &&
		slices.ContainsFunc(s.Ports, func(p discoveryv1.EndpointPort) bool { return p.Name != nil && *p.Name == portName && p.Port != nil })
}

// ask asks a service for its discovery, until an endpoint answers. Upstream asks all at the same time.
func (g *aggregator) ask(ctx context.Context, s *apiregistrationv1.APIService) error {
	client, err := g.client(s)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	for range attempts {
		if err = g.askOnce(ctx, s, client); err == nil || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	return err
}

func (g *aggregator) askOnce(ctx context.Context, s *apiregistrationv1.APIService, client *http.Client) error {
	at, err := g.resolve(s)
	if err != nil {
		return err
	}
	at.Path = "/apis/" + s.Spec.Group + "/" + s.Spec.Version
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return err
	}
	transport.SetAuthProxyHeaders(req, asker, "", []string{"system:masters"}, nil)
	resp, err := client.Do(req)
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode < http.StatusOK || resp.StatusCode >= http.StatusMultipleChoices {
			err = fmt.Errorf("bad status from %v: %d", at, resp.StatusCode)
		}
	}
	if err != nil {
		return fmt.Errorf("failing or missing response from %v: %w", at, err)
	}
	return nil
}

// asker is the user that asks other servers for their discovery.
const asker = "system:kube-aggregator"
