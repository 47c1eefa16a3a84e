// Runs under qjs and under Node: prints one line per case, throws at the end if one failed.

import { Cart } from "./src/cart.js";
import { discountPercent } from "./src/discount.js";
import { formatMoney, parseMoney, percentOf } from "./src/money.js";

let count = 0;
let failed = 0;

function test(name, run) {
  count += 1;
  try {
    run();
    console.log(`ok ${count} - ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`not ok ${count} - ${name}: ${error.message}`);
  }
}

function equal(actual, expected) {
  if (actual !== expected) throw new Error(`expected ${expected}, got ${actual}`);
}

function throws(run) {
  try {
    run();
  } catch {
    return;
  }
  throw new Error("expected an error");
}

test("amounts are read as cents", () => {
  equal(parseMoney("12.50"), 1250);
  equal(parseMoney("12.5"), 1250);
  equal(parseMoney("12"), 1200);
  throws(() => parseMoney("twelve"));
});

test("cents are written as amounts", () => {
  equal(formatMoney(1250), "12.50");
  equal(formatMoney(5), "0.05");
  equal(formatMoney(-120), "-1.20");
});

test("percentages are rounded half up", () => {
  equal(percentOf(1000, 5), 50);
  equal(percentOf(10, 5), 1);
  equal(percentOf(9, 5), 0);
});

test("nine pieces have no discount", () => equal(discountPercent(9), 0));
test("ten pieces have 5 %", () => equal(discountPercent(10), 5));
test("forty-nine pieces have 5 %", () => equal(discountPercent(49), 5));
test("fifty pieces have 10 %", () => equal(discountPercent(50), 10));

test("pieces of one article add up", () => {
  const cart = new Cart().add("pencil", "0.80", 6).add("pencil", "0.80", 4);
  equal(cart.lines().length, 1);
  equal(cart.total(), 760);
});

test("a removed article costs nothing", () => {
  const cart = new Cart().add("pencil", "0.80").add("paper", "4.20");
  equal(cart.remove("pencil"), true);
  equal(cart.remove("pencil"), false);
  equal(cart.total(), 420);
});

test("a quantity is a whole number above zero", () => {
  throws(() => new Cart().add("pencil", "0.80", 0));
  throws(() => new Cart().add("pencil", "0.80", 1.5));
});

test("the receipt lines up", () => {
  const cart = new Cart().add("pencil", "0.80", 12).add("paper", "4.20");
  equal(
    cart.receipt(),
    [
      "12 x pencil                 9.12",
      "1 x paper                   4.20",
      "--------------------------------",
      "total                      13.32",
    ].join("\n"),
  );
});

console.log(`${count - failed} of ${count} passed`);
if (failed > 0) throw new Error(`${failed} of ${count} failed`);
