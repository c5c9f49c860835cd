// @ts-check
// Elements. Texts become text nodes, so nothing that the API says is read as HTML.

/** el makes an element; an attribute that is false, null or undefined is left out. */
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value != null) e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...children);
  return e;
}

/** by returns the element with an id. @returns {any} */
export const by = id => document.getElementById(id);

/** picture shows a thumbnail of our own origin, or says that there is none. */
export function picture(path) {
  const none = () => el('span', {class: 'pic none'}, '画像なし');
  if (typeof path !== 'string' || !path.startsWith('/images/')) return none();
  const img = el('img', {class: 'pic', src: path, alt: '', loading: 'lazy'});
  img.addEventListener('error', () => img.replaceWith(none()));
  return img;
}

/** said is a line that a screen reader reads out when it appears. */
export const said = text => el('p', {class: 'sub', role: 'status'}, text);

/** failure says what went wrong, and offers to load the page again. */
export function failure(error, again = true) {
  const p = el('p', {class: 'bad', role: 'alert'}, error.message);
  if (!again) return p;
  const button = el('button', {type: 'button'}, '再読み込み');
  button.addEventListener('click', () => location.reload());
  return el('div', {}, p, button);
}

/** show fills a place with what an answer is rendered to, or with why there is none. */
export async function show(place, answer, render) {
  place.setAttribute('aria-busy', 'true');
  place.replaceChildren(said('読み込み中…'));
  try {
    place.replaceChildren(...render(await answer));
  } catch (error) {
    place.replaceChildren(failure(error));
  }
  place.removeAttribute('aria-busy');
}
