// Lists of listeners. A list is replaced, never changed, so that a listener which adds or removes
// one does not change who hears the news that is being told.

/** A function that is called with each piece of news. */
export type Listener<T> = (news: T) => void;

/** The empty list, shared by everything without listeners: an agent that waits stays small. */
export const NONE: readonly never[] = [];

/** Returns the list with one more listener; one that is in it already is not added again. */
export function added<T>(list: readonly Listener<T>[], one: Listener<T>): readonly Listener<T>[] {
  return list.includes(one) ? list : [...list, one];
}

/** Returns the list without that listener. */
export function removed<T>(list: readonly Listener<T>[], one: Listener<T>): readonly Listener<T>[] {
  const others = list.filter((each) => each !== one);
  return others.length === 0 ? NONE : others;
}

/** Calls all listeners with the news, in the order in which they were added. */
export function tellEach<T>(listeners: readonly Listener<T>[], news: T): void {
  for (const listener of listeners) {
    try {
      listener(news);
    } catch (error) {
      // A listener that throws must not keep the news from the others, nor break the session that
      // tells it. Its error is thrown outside, where it surfaces as an uncaught one.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
