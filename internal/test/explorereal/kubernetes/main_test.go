package kubernetes_test

import (
	"testing"

	"github.com/kubecoord/kubecoord/internal/test/explorereal"
)

func TestMain(m *testing.M) { explorereal.Main(m) }
