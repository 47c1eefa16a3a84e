// What `build.mjs` puts into the entries `innerloop/inline`, as texts.

/** The package's module, by gzip and in base64; the script of a worker. */
declare module "inline:*" {
  const text: string;
  export default text;
}
