// Those who listen. A list is replaced, never changed: who hears of a piece of news is settled when
// it comes.

/** Somebody who listens. */
export type Listener<T> = (news: T) => void;

/** An empty list, which all that have nobody or nothing share. */
export const NONE: readonly never[] = [];

/** The list with one more listener, who is in it once. */
export function added<T>(list: readonly Listener<T>[], one: Listener<T>): readonly Listener<T>[] {
  return list.includes(one) ? list : [...list, one];
}

/** The list without that one. */
export function removed<T>(list: readonly Listener<T>[], one: Listener<T>): readonly Listener<T>[] {
  const others = list.filter((each) => each !== one);
  return others.length === 0 ? NONE : others;
}

/** Tells all of them the news. */
export function tellEach<T>(listeners: readonly Listener<T>[], news: T): void {
  for (const listener of listeners) {
    try {
      listener(news);
    } catch (error) {
      // A listener's mistake is the listener's: it surfaces as an uncaught error, and the others
      // still hear the news.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
