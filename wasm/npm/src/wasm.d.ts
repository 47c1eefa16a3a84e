// Types of imported WebAssembly modules, for platforms whose bundlers hand them over compiled.

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}
