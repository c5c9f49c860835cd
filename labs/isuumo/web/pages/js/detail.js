// @ts-check
// What the pages of one chair and one estate have in common.
import {by, el, failure, picture, said, show} from './dom.js';
import {features} from './words.js';

/** The id in the address, as text; empty if it is no number. */
export const id = /^\d+$/.exec(new URLSearchParams(location.search).get('id') ?? '')?.[0] ?? '';

/** page shows the row of the id, or says why not. */
export function page(name, noun, read, render) {
  const answer = id ? read() : Promise.reject(new Error(`${noun}の番号が正しくありません。`));
  show(by(name), answer, render);
}

/** detail shows a row: the picture, then all that is known, then a form. */
export function detail(row, price, facts, form) {
  document.title = `${row.name} · isuumo`;
  return el('article', {class: 'detail'},
    picture(row.thumbnail),
    el('div', {},
      el('h1', {}, row.name),
      el('p', {class: 'price big'}, price),
      el('p', {}, row.description),
      el('dl', {}, ...[...facts, ['特徴', features(row.features).join('、') || 'なし']].map(([term, value]) =>
        el('div', {}, el('dt', {}, term), el('dd', {}, value)))),
      form));
}

/**
 * order is a form that asks for a mail address and acts on it. act returns what was
 * done, and whether it was the last time; it was, too, if there is nothing any more.
 */
export function order(verb, act) {
  const field = el('input', {type: 'email', id: 'email', required: true, autocomplete: 'email'});
  const button = el('button', {class: 'go'}, verb);
  const outcome = el('div', {class: 'outcome'});
  const form = el('form', {class: 'order', 'aria-label': verb},
    el('label', {for: 'email'}, 'メールアドレス'), el('div', {class: 'row'}, field, button), outcome);
  const lock = on => [field, button].forEach(e => { e.disabled = on; });
  form.addEventListener('submit', async event => {
    event.preventDefault();
    lock(true);
    outcome.replaceChildren(said('送信中…'));
    let last = false;
    try {
      const done = await act(field.value);
      last = done.last;
      outcome.replaceChildren(el('p', {class: 'ok', role: 'status'}, done.text));
    } catch (error) {
      last = error.status === 404;
      outcome.replaceChildren(failure(error, false));
    }
    lock(last);
  });
  return form;
}
