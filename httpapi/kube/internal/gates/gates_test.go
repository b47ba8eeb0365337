package gates_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/gates"
)

// TestTheDefaultsAreTheOnesOfARunningServer has the metrics of a kube-apiserver without flags. internal/test/etcd/referee/reference compares
// them with a running one.
func TestTheDefaultsAreTheOnesOfARunningServer(t *testing.T) {
	recorded, err := os.ReadFile("testdata/metrics.txt")
	require.NoError(t, err)
	d, compared := gates.Default(), 0
	for _, m := range regexp.MustCompile(`(?m)^kubernetes_feature_enabled\{name="(\w+)",stage="\w*"\} (\d)$`).FindAllStringSubmatch(string(recorded), -1) {
		compared++
		assert.Equal(t, m[2] == "1", d.Enabled(m[1]), m[1])
		_, err := gates.New(map[string]bool{m[1]: m[2] == "1"})
		assert.NoError(t, err, m[1])
	}
	assert.Equal(t, d.Len()+len([]string{"AllAlpha", "AllBeta"}), compared, "gates that the server does not have")
	assert.Greater(t, compared, 200)
	assert.False(t, d.Enabled("NoSuchGate"))
	assert.Empty(t, d.Changed())
}

func TestGatesAreSetAndRefusedAsByKubeAPIServer(t *testing.T) {
	g, err := gates.New(map[string]bool{"ContainerStopSignals": true, "PodLevelResources": true, "SchedulerAsyncAPICalls": true})
	require.NoError(t, err)
	assert.True(t, g.Enabled("ContainerStopSignals"))
	assert.Equal(t, "ContainerStopSignals SchedulerAsyncAPICalls", g.Changed(), "what is as by default is not changed")
	g, err = gates.New(map[string]bool{"AllAlpha": true, "GenericWorkload": true})
	require.NoError(t, err)
	assert.True(t, g.Enabled("ContainerStopSignals"))
	assert.False(t, g.Enabled("SchedulerAsyncAPICalls"), "a beta gate")
	g, err = gates.New(map[string]bool{"AllBeta": false, "PodLevelResources": true})
	require.NoError(t, err)
	assert.False(t, g.Enabled("VolumeLimitScaling"))
	assert.True(t, g.Enabled("PodLevelResources"), "the gate itself counts more")
	for value, want := range map[string]string{
		"Foo=true":                        "unrecognized feature gate: Foo",
		"Foo=true,Bar=true":               "unrecognized feature gate: Bar",
		"MultiCIDRServiceAllocator=false": "cannot set feature gate MultiCIDRServiceAllocator to false, feature is locked to true",
		"SELinuxMount=x":                  `invalid value of SELinuxMount=x, err: strconv.ParseBool: parsing "x": invalid syntax`,
		"SELinuxMount":                    "missing bool value for SELinuxMount",
		"other:SELinuxMount=true":         "component not registered: other",
		"WorkloadWithJob=true":            "WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]",
	} {
		set, err := gates.Parse([]string{value})
		if err == nil {
			_, err = gates.New(set)
		}
		assert.EqualError(t, err, want, value)
	}
	set, err := gates.Parse([]string{"kube:A=true, B=false", "C=1", ""})
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"A": true, "B": false, "C": true}, set)
}
