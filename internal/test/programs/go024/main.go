// Command go024 is the manager with controller-runtime 0.24 and k8s.io 0.36.0.
package main

import "github.com/kubecoord/kubecoord/internal/test/programs/manager"

func main() { manager.Main() }
