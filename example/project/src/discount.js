// Volume discounts: the more pieces of one article, the cheaper.

import { percentOf } from "./money.js";

/** The largest tier stands first. */
const TIERS = [
  { from: 50, percent: 10 },
  { from: 10, percent: 5 },
];

/** The discount in percent for this many pieces of one article. */
export function discountPercent(quantity) {
  const tier = TIERS.find(({ from }) => quantity > from);
  return tier ? tier.percent : 0;
}

/** What to take off a line's amount, in cents. */
export function discountOn(amount, quantity) {
  return percentOf(amount, discountPercent(quantity));
}
