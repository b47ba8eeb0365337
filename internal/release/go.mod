module github.com/kubecoord/kubecoord/internal/release

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	golang.org/x/exp v0.0.0-20260410095643-746e56fc9e2f
	golang.org/x/mod v0.41.0
)

require (
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/tools v0.51.0 // indirect
)
