// Imports of packages by a name that is known at run time, on platforms that allow them.

/** Imports a package by its name; rejects if it is not installed. */
export function importPackage(name: string): Promise<{ default: unknown }> {
  // The comments keep bundlers from resolving the name: few agents need the package, and a build
  // must not fail without it.
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name);
}
