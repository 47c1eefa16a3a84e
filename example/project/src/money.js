// Amounts of money as whole cents, so that sums are exact.

/** Reads "12.50", "12.5" or "12" as cents. */
export function parseMoney(text) {
  const match = /^(\d+)(?:\.(\d{1,2}))?$/.exec(text.trim());
  if (!match) throw new Error(`not an amount: ${text}`);
  return Number(match[1]) * 100 + Number((match[2] ?? "").padEnd(2, "0"));
}

/** Writes cents as "12.50". */
export function formatMoney(cents) {
  const sign = cents < 0 ? "-" : "";
  const digits = String(Math.abs(cents)).padStart(3, "0");
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The given percentage of an amount, rounded half up to a whole cent. */
export function percentOf(cents, percent) {
  return Math.floor((cents * percent + 50) / 100);
}
