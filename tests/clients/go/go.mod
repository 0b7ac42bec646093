module sidecar.test/conformance

go 1.21

require github.com/sourcegraph/jsonrpc2 v0.2.1
