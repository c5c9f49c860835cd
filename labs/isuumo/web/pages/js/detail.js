// @ts-check
// What the pages of one chair and one estate have in common.
import {el, failure, picture} from './dom.js';
import {features} from './words.js';

/** wanted is the id in the address, as text; empty if it is no number. */
export function wanted() {
  const id = new URLSearchParams(location.search).get('id') ?? '';
  return /^\d+$/.test(id) ? id : '';
}

/**
 * detail shows a row: the picture, then all that is known, then a form.
 * @param {{name: string, thumbnail: string, description: string, features: string}} row
 * @param {string} price
 * @param {[string, string][]} facts
 * @param {HTMLElement} form
 */
export function detail(row, price, facts, form) {
  document.title = `${row.name} · isuumo`;
  const marked = features(row.features);
  return el('article', {class: 'detail'},
    el('div', {class: 'show'}, picture(row.thumbnail)),
    el('div', {},
      el('h1', {}, row.name),
      el('p', {class: 'price big'}, price),
      el('p', {class: 'about'}, row.description),
      el('dl', {}, ...[...facts, ['特徴', marked.length > 0 ? marked.join('、') : 'なし']].map(([term, value]) =>
        el('div', {}, el('dt', {}, term), el('dd', {}, value)))),
      form));
}

/**
 * order is a form that asks for a mail address and does something with it. What
 * was done stands below it; closed says that it cannot be done again, and why.
 * @param {string} verb
 * @param {string} note
 * @param {(email: string) => Promise<{said: string, closed?: string}>} act
 */
export function order(verb, note, act) {
  const field = el('input', {type: 'email', id: 'email', name: 'email', required: true, autocomplete: 'email', 'aria-describedby': 'order-note'});
  const button = el('button', {class: 'go'}, verb);
  const outcome = el('div', {class: 'outcome'});
  const form = el('form', {class: 'order', 'aria-label': verb},
    el('label', {for: 'email'}, 'メールアドレス'),
    el('div', {class: 'row'}, field, button),
    el('p', {class: 'note', id: 'order-note'}, note),
    outcome);
  const set = (/** @type {string} */ name, /** @type {boolean} */ on) => [field, button].forEach(e => e.toggleAttribute(name, on));
  form.addEventListener('submit', async event => {
    event.preventDefault();
    set('disabled', true);
    outcome.replaceChildren(el('p', {class: 'sub', role: 'status'}, '送信中…'));
    let closed;
    try {
      const done = await act(/** @type {HTMLInputElement} */ (field).value);
      closed = done.closed;
      outcome.replaceChildren(el('p', {class: 'ok', role: 'status'}, done.said, closed ? ` ${closed}` : ''));
    } catch (error) {
      closed = error.status === 404 ? error.message : '';
      outcome.replaceChildren(failure(error, false));
    }
    set('disabled', Boolean(closed));
    if (!closed) button.focus();
  });
  return form;
}
