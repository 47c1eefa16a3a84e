/** QuickJS, for the option `programs` of innerloop's agents. Nothing is loaded before it runs. */
declare const qjs: {
  readonly name: "qjs";
  readonly description: string;
  /** Where the module is. */
  wasm(): URL;
};
export default qjs;
