//go:build unix

package kubectl

import (
	"testing"

	"github.com/kubecoord/kubecoord/store"
)

func everyKind(t *testing.T) []store.AnyKind { return nil }
