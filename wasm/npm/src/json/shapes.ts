// What the types of the session's JSON are put together with.

/** An object with one of these fields, and none of the others. */
export type OneOf<T> = {
  [K in keyof T]: { [P in K]: T[P] } & { [P in Exclude<keyof T, K>]?: undefined };
}[keyof T];

/** `T` with every field of every object in it optional: what is left out stays as it is. */
export type Patch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Patch<T[K]> | undefined }
    : T;
