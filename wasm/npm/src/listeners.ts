// Those who listen.

/** Tells all of them the news. */
export function tellEach<T>(listeners: Iterable<(news: T) => void>, news: T): void {
  for (const listener of [...listeners]) {
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
