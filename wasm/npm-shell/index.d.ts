/** The shell, for the option `programs` of innerloop's agents. Nothing is loaded before it runs. */
declare const shell: {
  readonly name: "bash";
  readonly description: string;
  /** Where the module is. */
  wasm(): URL;
};
export default shell;
