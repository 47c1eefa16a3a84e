module innerloop.test/interop

go 1.25.0

require (
	github.com/tetratelabs/wazero v1.12.0
	innerloop.example/agent v0.0.0
)

require golang.org/x/sys v0.44.0 // indirect

replace innerloop.example/agent => ../../../examples/go
