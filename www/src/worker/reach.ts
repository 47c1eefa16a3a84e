// Explanations of why an address cannot be reached, with what to do. Browsers tell scripts nothing
// beyond "it failed", so that the likely causes are named, those that can be checked first.

const LOCAL = /^(localhost|127\.|\[::1\]|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|.*\.local$)/;

/** Returns the explanation for a request that failed without an answer. */
export async function unreachable(url: string, error: unknown): Promise<string> {
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return `${originOf(url)} does not answer within 15 seconds.`;
  }
  const { protocol, hostname } = addressOf(url);
  if (hostname === "") return `“${url}” is no address.`;
  const isLocal = LOCAL.test(hostname);
  if (isLocal && (await isDenied())) {
    return (
      `The browser does not let this page reach ${originOf(url)}: allow access to the local ` +
      "network in the page's site settings, beside the address bar, and try again."
    );
  }
  if (protocol === "http:" && location.protocol === "https:" && !isLocal) {
    return `A page from https may not reach ${originOf(url)}: give an address with https.`;
  }
  const here = location.origin;
  const starts = isLocal
    ? `Is the server running, and does it let this page in? Ollama does when it is started with ` +
      `OLLAMA_ORIGINS=${here}; others have an option for CORS.`
    : `Either it cannot be reached from here, or it does not let pages of ${here} in (CORS). ` +
      "A proxy of your own may help: give its address as the base URL.";
  return `There is no answer from ${originOf(url)}. ${starts}`;
}

function addressOf(url: string): { protocol: string; hostname: string } {
  try {
    return new URL(url);
  } catch {
    return { protocol: "", hostname: "" };
  }
}

function originOf(url: string): string {
  try {
    return new URL(url).origin;
  } catch {
    return url;
  }
}

// True if the person has denied access to the local network, for which Chromium asks. The
// permission's name differs between versions.
async function isDenied(): Promise<boolean> {
  for (const name of ["local-network-access", "loopback-network", "local-network"]) {
    try {
      const { state } = await navigator.permissions.query({ name: name as PermissionName });
      if (state === "denied") return true;
    } catch {
      // `query` throws for a permission that the browser does not know.
    }
  }
  return false;
}
