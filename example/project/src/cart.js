// The cart: one line per article, in the order in which they were first added.

import { discountOn } from "./discount.js";
import { formatMoney, parseMoney } from "./money.js";

const WIDTH = 32;

export class Cart {
  #lines = new Map();

  /** Adds pieces of an article at a price such as "2.40". */
  add(article, price, quantity = 1) {
    if (!Number.isInteger(quantity) || quantity < 1) {
      throw new Error(`not a quantity: ${quantity}`);
    }
    const line = this.#lines.get(article) ?? { price: parseMoney(price), quantity: 0 };
    line.quantity += quantity;
    this.#lines.set(article, line);
    return this;
  }

  /** Takes an article out, all pieces of it. */
  remove(article) {
    return this.#lines.delete(article);
  }

  /** Every line with its amount, discount and sum, in cents. */
  lines() {
    return [...this.#lines].map(([article, { price, quantity }]) => {
      const amount = price * quantity;
      const discount = discountOn(amount, quantity);
      return { article, quantity, amount, discount, sum: amount - discount };
    });
  }

  /** What to pay, in cents. */
  total() {
    return this.lines().reduce((total, line) => total + line.sum, 0);
  }

  /** The receipt as text. */
  receipt() {
    const rows = this.lines().map((line) => row(`${line.quantity} x ${line.article}`, line.sum));
    return [...rows, "-".repeat(WIDTH), row("total", this.total())].join("\n");
  }
}

function row(label, cents) {
  const money = formatMoney(cents);
  return label.slice(0, WIDTH - money.length - 1).padEnd(WIDTH - money.length) + money;
}
