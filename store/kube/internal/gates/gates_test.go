package gates_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/kube/internal/gates"
)

func TestTheDefaultsAreTheOnesOfTheVersion(t *testing.T) {
	d := gates.Default()
	for name, want := range map[string]bool{
		"ContainerStopSignals": false, "MaxUnavailableStatefulSet": false, "VolumeLimitScaling": false, "PodLevelResources": true,
		"MultiCIDRServiceAllocator": true, "DRAConsumableCapacity": true, "AllAlpha": false, "WatchList": true, "NoSuchGate": false,
	} {
		assert.Equal(t, want, d.Enabled(name), name)
	}
	assert.Empty(t, d.Changed())
}

func TestGatesAreSetAndRefusedAsByKubeAPIServer(t *testing.T) {
	g, err := gates.New(map[string]bool{"ContainerStopSignals": true, "PodLevelResources": true, "SELinuxMount": true})
	require.NoError(t, err)
	assert.True(t, g.Enabled("ContainerStopSignals"))
	assert.Equal(t, "ContainerStopSignals SELinuxMount", g.Changed(), "what is as by default is not changed")
	g, err = gates.New(map[string]bool{"AllAlpha": true})
	require.NoError(t, err)
	assert.True(t, g.Enabled("ContainerStopSignals"))
	assert.False(t, g.Enabled("SELinuxMount"), "a beta gate")
	g, err = gates.New(map[string]bool{"AllBeta": false, "HostnameOverride": true})
	require.NoError(t, err)
	assert.False(t, g.Enabled("HPAConfigurableTolerance"))
	assert.True(t, g.Enabled("HostnameOverride"), "the gate itself counts more")
	for value, want := range map[string]string{
		"Foo=true":                        "unrecognized feature gate: Foo",
		"Foo=true,Bar=true":               "unrecognized feature gate: Bar",
		"MultiCIDRServiceAllocator=false": "cannot set feature gate MultiCIDRServiceAllocator to false, feature is locked to true",
		"SELinuxMount=x":                  `invalid value of SELinuxMount=x, err: strconv.ParseBool: parsing "x": invalid syntax`,
		"SELinuxMount":                    "missing bool value for SELinuxMount",
		"other:SELinuxMount=true":         "component not registered: other",
		"GangScheduling=true":             "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]",
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
