package printers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// Labels that name the roles of a node.
const (
	rolePrefix = "node-role.kubernetes.io/"
	roleLabel  = "kubernetes.io/role"
)

func nodeCells(o *corev1.Node, c clock) []any {
	info := o.Status.NodeInfo
	kernel := orWord(info.KernelVersion, unknown)
	if info.Architecture != "" {
		kernel += " (" + info.Architecture + ")"
	}
	return []any{
		o.Name, nodeStatus(o), orWord(nodeRoles(o), none), c.age(o), info.KubeletVersion,
		nodeAddress(o, corev1.NodeInternalIP), nodeAddress(o, corev1.NodeExternalIP),
		orWord(info.OSImage, unknown), kernel, orWord(info.ContainerRuntimeVersion, unknown),
	}
}

func nodeStatus(o *corev1.Node) string {
	status := "Unknown"
	for _, cond := range o.Status.Conditions { // the last one counts
		if cond.Type == corev1.NodeReady {
			status = "NotReady"
			if cond.Status == corev1.ConditionTrue {
				status = "Ready"
			}
		}
	}
	if o.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

func nodeRoles(o *corev1.Node) string {
	roles := map[string]bool{}
	for label, value := range o.Labels {
		if role, ok := strings.CutPrefix(label, rolePrefix); ok {
			roles[role] = true
		} else if label == roleLabel {
			roles[value] = true
		}
	}
	delete(roles, "")
	return join(slices.Sorted(maps.Keys(roles)))
}

func nodeAddress(o *corev1.Node, t corev1.NodeAddressType) string {
	for _, a := range o.Status.Addresses {
		if a.Type == t {
			return a.Address
		}
	}
	return none
}

func componentCells(o *corev1.ComponentStatus) []any {
	for _, cond := range o.Conditions {
		if cond.Type == corev1.ComponentHealthy {
			status := "Unhealthy"
			if cond.Status == corev1.ConditionTrue {
				status = "Healthy"
			}
			return []any{o.Name, status, cond.Message, cond.Error}
		}
	}
	return []any{o.Name, "Unknown", "", ""}
}

// quotaCells returns requests and limits in columns of their own. A resource is a limit if its name begins with "limits.".
func quotaCells(o *corev1.ResourceQuota, c clock) []any {
	var requests, limits []string
	for _, name := range slices.Sorted(maps.Keys(o.Status.Hard)) {
		used, hard := o.Status.Used[name], o.Status.Hard[name]
		item := fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String())
		if strings.HasPrefix(string(name), "limits.") {
			limits = append(limits, item)
		} else {
			requests = append(requests, item)
		}
	}
	return []any{o.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), c.age(o)}
}

func flowSchemaCells(o *flowcontrolv1.FlowSchema, c clock) []any {
	method, dangling := none, "?"
	if m := o.Spec.DistinguisherMethod; m != nil {
		method = string(m.Type)
	}
	for _, cond := range o.Status.Conditions {
		if cond.Type == flowcontrolv1.FlowSchemaConditionDangling {
			dangling = string(cond.Status)
			break
		}
	}
	return []any{
		o.Name, o.Spec.PriorityLevelConfiguration.Name, int64(o.Spec.MatchingPrecedence), method, c.age(o), dangling,
	}
}

func priorityLevelCells(o *flowcontrolv1.PriorityLevelConfiguration, c clock) []any {
	var shares, queues, handSize, limit any = none, none, none, none
	if l := o.Spec.Limited; l != nil {
		shares = int64(deref(l.NominalConcurrencyShares))
		if q := l.LimitResponse.Queuing; q != nil {
			queues, handSize, limit = int64(q.Queues), int64(q.HandSize), int64(q.QueueLengthLimit)
		}
	}
	return []any{o.Name, string(o.Spec.Type), shares, queues, handSize, limit, c.age(o)}
}
