package addresses

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecoord/kubecoord/store/kind"
)

// The errors of a port (upstream: registry/core/service/portallocator).
var (
	errFull      = errors.New("range is full")
	errPortTaken = errors.New("provided port is already allocated")
)

// firstDryPort is the first port that a dry run shows, which is no free one.
const firstDryPort = 32769

// takePort takes a port that a writer names.
func (c *claim) takePort(port int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.takenPortsLocked()[uint16(port)] || slices.Contains(c.takenPorts, port)
	switch {
	case c.dryRun && taken:
		return errPortTaken
	case c.dryRun:
		c.takenPorts = append(c.takenPorts, port)
		return nil
	case !c.opts.Ports.Contains(port):
		return fmt.Errorf("provided port is not in the valid range. The range of valid ports is %s", c.opts.Ports.String())
	case taken:
		return errPortTaken
	}
	c.holdPortLocked(port)
	return nil
}

// takeAnyPort takes a free port: from the upper part of the range, where writers name fewer, as long as it has one.
func (c *claim) takeAnyPort() (int, error) {
	if c.dryRun {
		port := firstDryPort
		if len(c.takenPorts) > 0 {
			port = slices.Max(c.takenPorts) + 1
		}
		c.takenPorts = append(c.takenPorts, port)
		return port, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	taken, lower := c.takenPortsLocked(), reserved(c.opts.Ports.Size, 32, 128)
	for _, part := range [][2]int{{lower, c.opts.Ports.Size}, {0, lower}} {
		size := part[1] - part[0]
		if size == 0 {
			continue
		}
		start := int(c.start(len(c.takenPorts), uint64(size)))
		for i := range size {
			if port := c.opts.Ports.Base + part[0] + (start+i)%size; !taken[port] {
				c.holdPortLocked(port)
				return port, nil
			}
		}
	}
	return 0, errFull
}

// holdPortLocked takes a port until the write has ended.
func (c *claim) holdPortLocked(port int) {
	c.ports[port] = true
	c.takenPorts = append(c.takenPorts, port)
}

// takenPortsLocked returns the ports of all services and of the writes that have not ended. A write gives its ports up, under the lock,
// only when its service can be read.
func (al *Allocator) takenPortsLocked() []bool {
	taken := make([]bool, 1<<16)
	for port := range al.ports {
		taken[port] = true
	}
	for o := range al.services.All("") {
		s := &kind.ValueOf[corev1.Service](o).Spec
		taken[uint16(s.HealthCheckNodePort)] = true
		for _, p := range s.Ports {
			taken[uint16(p.NodePort)] = true
		}
	}
	taken[0] = false
	return taken
}

// reserved returns how many values at the beginning of a range are given only when no others are left: writers choose among them.
func reserved(size, step, most int) int {
	const least = 16
	if size <= least {
		return 0
	}
	return min(max(least, size/step), most)
}
