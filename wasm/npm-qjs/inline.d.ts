/** QuickJS, in the script itself: for bundlers that leave files beside it behind. */
declare const qjs: {
  readonly name: "qjs";
  readonly description: string;
  /** The module, compressed by gzip. */
  wasm(): Uint8Array;
};
export default qjs;
