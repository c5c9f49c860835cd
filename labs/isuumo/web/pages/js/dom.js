// @ts-check
// Elements. Texts become text nodes, so nothing that the API says is read as HTML.

/**
 * el makes an element. An attribute that is false, null or undefined is left out.
 * @param {string} tag
 * @param {Record<string, string|number|boolean|null|undefined>} [attributes]
 * @param {...(Node|string)} children
 */
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value != null) e.setAttribute(name, value === true ? '' : String(value));
  }
  e.append(...children);
  return e;
}

/**
 * by returns the element with an id; a page without it is broken.
 * @param {string} id
 * @returns {any}
 */
export function by(id) {
  const e = document.getElementById(id);
  if (!e) throw new Error(`no element #${id}`);
  return e;
}

/** picture shows a thumbnail of our own origin, or says that there is none. */
export function picture(/** @type {unknown} */ path) {
  const none = () => el('span', {class: 'pic none'}, '画像なし');
  if (typeof path !== 'string' || !path.startsWith('/images/')) return none();
  const img = el('img', {class: 'pic', src: path, alt: '', loading: 'lazy'});
  img.addEventListener('error', () => img.replaceWith(none()));
  return img;
}

/** waiting is the line that stands where something is about to appear. */
export function waiting(text = '読み込み中…') {
  return el('p', {class: 'sub', role: 'status'}, text);
}

/** failure says in words what went wrong, with a way to try again. */
export function failure(/** @type {Error} */ error, again = true) {
  const p = el('p', {class: 'bad', role: 'alert'}, error.message);
  if (!again) return p;
  const button = el('button', {type: 'button'}, '再読み込み');
  button.addEventListener('click', () => location.reload());
  return el('div', {class: 'failure'}, p, button);
}

/**
 * show fills a place with what a promise comes to, with a line before and words on failure.
 * @template T
 * @param {HTMLElement} place
 * @param {Promise<T>} promise
 * @param {(value: T) => (Node|string)[]} render
 */
export async function show(place, promise, render) {
  place.setAttribute('aria-busy', 'true');
  place.replaceChildren(waiting());
  try {
    place.replaceChildren(...render(await promise));
  } catch (error) {
    place.replaceChildren(failure(error));
  } finally {
    place.removeAttribute('aria-busy');
  }
}
