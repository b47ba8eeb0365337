package printers

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// nodeLost is the status.reason of pods whose node does not answer.
const nodeLost = "NodeLost"

func podCells(p *corev1.Pod, c clock) []any {
	s := summarize(p)
	restarts := strconv.FormatInt(s.restarts, 10)
	if s.restarts != 0 && !s.restarted.IsZero() {
		restarts += fmt.Sprintf(" (%s ago)", c.since(s.restarted))
	}
	ip := ""
	if len(p.Status.PodIPs) > 0 {
		ip = p.Status.PodIPs[0].IP
	}
	return []any{
		p.Name, fmt.Sprintf("%d/%d", s.ready, s.containers), s.status, restarts, c.age(p),
		orWord(ip, none), orWord(p.Spec.NodeName, none), orWord(p.Status.NominatedNodeName, none), readinessGates(p),
	}
}

// readinessGates returns how many of the pod's readiness gates are open.
func readinessGates(p *corev1.Pod) string {
	gates := p.Spec.ReadinessGates
	if len(gates) == 0 {
		return none
	}
	open := 0
	for _, gate := range gates {
		if podConditionIsTrue(p, gate.ConditionType) {
			open++
		}
	}
	return fmt.Sprintf("%d/%d", open, len(gates))
}

// podConditionIsTrue reports whether the first condition of a type is true.
func podConditionIsTrue(p *corev1.Pod, t corev1.PodConditionType) bool {
	for _, cond := range p.Status.Conditions {
		if cond.Type == t {
			return cond.Status == corev1.ConditionTrue
		}
	}
	return false
}

// podSummary is what a pod's row says about its containers.
type podSummary struct {
	status            string
	containers, ready int // sidecars included
	tally
}

// tally counts restarts of containers and remembers the end of the last one before.
type tally struct {
	restarts  int64
	restarted time.Time
}

func (t *tally) add(s corev1.ContainerStatus) {
	t.restarts += int64(s.RestartCount)
	if end := s.LastTerminationState.Terminated; end != nil && t.restarted.Before(end.FinishedAt.Time) {
		t.restarted = end.FinishedAt.Time
	}
}

func summarize(p *corev1.Pod) podSummary {
	s := podSummary{status: orWord(p.Status.Reason, string(p.Status.Phase)), containers: len(p.Spec.Containers)}
	for _, cond := range p.Status.Conditions {
		if cond.Type == corev1.PodScheduled && cond.Reason == corev1.PodReasonSchedulingGated {
			s.status = corev1.PodReasonSchedulingGated
		}
	}
	sidecars := map[string]bool{}
	for _, container := range p.Spec.InitContainers {
		always := container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
		sidecars[container.Name] = always
		if always {
			s.containers++
		}
	}
	initializing, ofSidecars := s.addInitContainers(p, sidecars)
	if !initializing || podConditionIsTrue(p, corev1.PodInitialized) {
		// The restarts of containers that ran once and ended no longer matter.
		s.tally = ofSidecars
		s.addContainers(p)
	}
	if p.DeletionTimestamp != nil {
		switch terminal := p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded; {
		case p.Status.Reason == nodeLost:
			s.status = "Unknown"
		case !terminal:
			s.status = "Terminating"
		}
	}
	return s
}

// addInitContainers adds the init containers up to the first one that has not done its work. It reports whether there is one,
// and the restarts of sidecars.
func (s *podSummary) addInitContainers(p *corev1.Pod, sidecars map[string]bool) (initializing bool, ofSidecars tally) {
	for i, status := range p.Status.InitContainerStatuses {
		s.add(status)
		if sidecars[status.Name] {
			ofSidecars.add(status)
		}
		ended, waiting := status.State.Terminated, status.State.Waiting
		switch {
		case ended != nil && ended.ExitCode == 0:
			continue
		case sidecars[status.Name] && deref(status.Started):
			if status.Ready {
				s.ready++
			}
			continue
		case ended != nil:
			s.status = "Init:" + reasonOfEnd(ended)
		case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing":
			s.status = "Init:" + waiting.Reason
		default:
			s.status = fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
		}
		return true, ofSidecars
	}
	return false, ofSidecars
}

// addContainers adds the other containers. The status is the reason of the first one that has a reason.
func (s *podSummary) addContainers(p *corev1.Pod) {
	running, failed := false, ""
	for i := len(p.Status.ContainerStatuses) - 1; i >= 0; i-- {
		status := p.Status.ContainerStatuses[i]
		s.add(status)
		switch ended, waiting := status.State.Terminated, status.State.Waiting; {
		case waiting != nil && waiting.Reason != "":
			s.status = waiting.Reason
		case ended != nil:
			s.status = reasonOfEnd(ended)
			if ended.ExitCode != 0 {
				failed = s.status
			}
		case status.Ready && status.State.Running != nil:
			running = true
			s.ready++
		}
	}
	if s.status != "Completed" {
		return
	}
	switch {
	case running && podConditionIsTrue(p, corev1.PodReady):
		s.status = "Running"
	case failed != "":
		s.status = failed
	case running:
		s.status = "NotReady"
	}
}

// reasonOfEnd returns why a container ended: its reason, signal or exit code.
func reasonOfEnd(end *corev1.ContainerStateTerminated) string {
	switch {
	case end.Reason != "":
		return end.Reason
	case end.Signal != 0:
		return fmt.Sprintf("Signal:%d", end.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", end.ExitCode)
}
