module github.com/kubecoord/kubecoord

go 1.26.0

require (
	github.com/blang/semver/v4 v4.0.0
	github.com/google/btree v1.1.3
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822
	github.com/stretchr/testify v1.12.1
	go.yaml.in/yaml/v2 v2.4.4
	go.yaml.in/yaml/v3 v3.0.6
	golang.org/x/sync v0.24.0
	google.golang.org/protobuf v1.36.12
	sigs.k8s.io/json v0.0.0-20260909141634-11ed52e25bc5
)
