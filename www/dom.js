// Elements without a framework. Text goes in as text, never as markup.

/** A new element with attributes and children. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The element of that id. */
export function byId(id) {
  return document.getElementById(id);
}
