// Imports by a name that is known at run time, on platforms that have them.

/** Imports a package. Bundlers leave it alone: most agents need no such package to be built. */
export function importPackage(name: string): Promise<{ default: unknown }> {
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name);
}
