// SPDX-License-Identifier: Apache-2.0
// Elements made of text nodes only: nothing from the data is ever read as markup.

type Child = Node | string | undefined | false;
type Attributes = Record<string, string>;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  for (const child of children) {
    if (child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** A section with its heading; the heading names it for screen readers. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  const heading = el('h2', { id: `${id}-title` }, title);
  return el('section', { id, 'aria-labelledby': heading.id }, heading, ...children);
}

/** A mark that is told by shape and word, not by colour alone. */
export function mark(ok: boolean, words = ok ? 'met' : 'missed'): HTMLElement {
  return el('span', { class: ok ? 'mark ok' : 'mark bad', role: 'img', 'aria-label': words }, ok ? '✓' : '✗');
}

/** `color`: the name of a custom property, so that it follows the page's colours. */
export function swatch(color: string): HTMLElement {
  const dot = el('span', { class: 'swatch', 'aria-hidden': 'true' });
  dot.style.background = `var(${color})`;
  return dot;
}

/** A table that scrolls by itself when the screen is narrower. */
export function scrolling(label: string, table: HTMLTableElement): HTMLElement {
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, table);
}
