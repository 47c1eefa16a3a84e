// Types of the texts that `build.mjs` puts into the entries `innerloop/inline`.

/** The package's module as gzip in base64, or the script of a worker. */
declare module "inline:*" {
  const text: string;
  export default text;
}
