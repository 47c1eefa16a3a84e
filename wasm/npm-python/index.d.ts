/** Python, for the option `programs` of innerloop's agents. Nothing is loaded before it runs. */
declare const python: {
  readonly name: "python";
  readonly description: string;
  readonly aliases: readonly ["python3"];
  /** No compiled files are left in the workspace. */
  readonly env: { readonly PYTHONDONTWRITEBYTECODE: "1" };
  /** Where the module is, compressed by gzip. */
  wasm(): URL;
};
export default python;
