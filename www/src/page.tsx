// The entry of the page. It renders at once, while the worker is still loading.

import { render } from "preact";
import { begin, fail, status } from "./state/app.js";
import { App } from "./views/app.js";
import { applyTheme } from "./views/header.js";
import "./styles/page.css";

applyTheme();
const root = document.getElementById("app");
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
}
begin().catch((error: unknown) => {
  status.value = "Failed";
  fail(error);
});
