package registry_test

import (
	"github.com/kubecoord/kubecoord/internal/kinds"
)

var dryAll = []string{kinds.DryRunAll}
