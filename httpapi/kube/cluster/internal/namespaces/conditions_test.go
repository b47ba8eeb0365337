package namespaces

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

// TestAConditionKeepsItsTimeUntilItsStatusChanges: another message alone is no transition (upstream: status_condition_utils.go).
func TestAConditionKeepsItsTimeUntilItsStatusChanges(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	condition := func(status corev1.ConditionStatus, message string) []corev1.NamespaceCondition {
		return []corev1.NamespaceCondition{{Type: corev1.NamespaceContentRemaining, Status: status, Message: message}}
	}
	var s corev1.NamespaceStatus
	assert.True(t, setConditions(&s, condition(corev1.ConditionTrue, "two"), start))
	assert.False(t, setConditions(&s, condition(corev1.ConditionTrue, "two"), start.Add(time.Second)), "nothing changes")
	assert.True(t, setConditions(&s, condition(corev1.ConditionTrue, "one"), start.Add(2*time.Second)))
	assert.Equal(t, start, s.Conditions[0].LastTransitionTime.Time)
	assert.True(t, setConditions(&s, condition(corev1.ConditionFalse, ""), start.Add(3*time.Second)))
	assert.Equal(t, start.Add(3*time.Second), s.Conditions[0].LastTransitionTime.Time)
}
