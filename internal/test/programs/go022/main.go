// Command go022 is the manager with controller-runtime 0.22 and k8s.io 0.34.3.
package main

import "github.com/kubecoord/kubecoord/internal/test/programs/manager"

func main() { manager.Main() }
