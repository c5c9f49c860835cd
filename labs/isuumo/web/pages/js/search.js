// @ts-check
// A search: the conditions as a form, the hits as a grid. The address of the page
// holds the query string of the API, without the size of a page.
import {get} from './api.js';
import {by, el, failure, show} from './dom.js';
import {pager} from './pager.js';
import {grid} from './tiles.js';
import {features, items, number, range} from './words.js';

/** Tiles of a page: full rows of 2, 3 and 4. */
const perPage = 24;

/**
 * What is searched for. ranges and lists are [parameter, key of the condition, label].
 * @typedef {object} Kind
 * @property {string} api path of the API
 * @property {string} page
 * @property {string} list key of the hits
 * @property {string} noun
 * @property {[string, string, string][]} ranges
 * @property {[string, string, string][]} lists
 * @property {(row: any) => HTMLElement} tile
 */

/** @param {Kind} kind */
export function search(kind) {
  const asked = conditions(kind, new URLSearchParams(location.search));
  const given = [...asked.keys()].length > 0;
  const page = Number(new URLSearchParams(location.search).get('page') ?? 0);
  narrow(given);
  const condition = get(`${kind.api}/condition`);
  condition.then(c => fill(kind, c, asked), error => by('form').replaceChildren(failure(error)));
  const place = by('result');
  if (!given) {
    place.replaceChildren(el('p', {class: 'sub'}, '条件を 1 つ以上選ぶと、人気順に表示します。'));
    return;
  }
  const query = new URLSearchParams(asked);
  query.set('page', String(page));
  query.set('perPage', String(perPage));
  const hits = get(`${kind.api}?${query}`, {list: kind.list, meaning: {400: '条件が正しくありません (400)。条件を選び直してください。'}});
  show(place, Promise.all([hits, condition.catch(() => null)]), ([answer, c]) => [
    ...heading(answer, page),
    chosen(kind, c, asked),
    ...rows(kind, answer, asked, page),
  ]);
}

/** conditions are the parameters of the address that are conditions, without empty ones. @param {Kind} kind @param {URLSearchParams} from */
function conditions(kind, from) {
  const out = new URLSearchParams();
  for (const [name] of [...kind.ranges, ...kind.lists]) {
    const value = from.get(name);
    if (value) out.set(name, value);
  }
  const marked = from.getAll('features').filter(Boolean).join(',');
  if (marked) out.set('features', marked);
  return out;
}

/** narrow closes the conditions on a narrow screen once there is something to see. */
function narrow(/** @type {boolean} */ given) {
  const wide = matchMedia('(min-width: 761px)');
  const details = /** @type {HTMLDetailsElement} */ (document.querySelector('.filters'));
  const set = () => { details.open = wide.matches || !given; };
  wide.addEventListener('change', set);
  set();
}

/** @param {{count: number}} answer @param {number} page */
function heading({count, ...answer}, page) {
  const shown = Object.values(answer).find(Array.isArray)?.length ?? 0;
  const from = page * perPage + 1;
  return [
    el('h2', {class: 'count', role: 'status'}, items(count)),
    el('p', {class: 'sub'}, shown > 0 ? `人気順、${number(from)} – ${number(from + shown - 1)} 件目` : ''),
  ];
}

/** @param {Kind} kind @param {any} answer @param {URLSearchParams} asked @param {number} page */
function rows(kind, answer, asked, page) {
  const hits = answer[kind.list];
  const link = (/** @type {number} */ n) => {
    const to = new URLSearchParams(asked);
    if (n > 0) to.set('page', String(n));
    return `${kind.page}?${to}`;
  };
  if (answer.count === 0) return [el('p', {}, `この条件に合う${kind.noun}はありません。条件を減らすと見つかることがあります。`)];
  if (hits.length === 0) return [el('p', {}, 'このページには 1 件もありません。'), el('p', {}, el('a', {href: link(0)}, '最初のページへ'))];
  return [grid(hits.map(kind.tile)), pager(page, Math.ceil(answer.count / perPage), link)];
}

/** chosen lists the conditions in words; each is a link to the search without it. @param {Kind} kind @param {any} condition @param {URLSearchParams} asked */
function chosen(kind, condition, asked) {
  /** @type {[string, string, string][]} text, parameter, what is left of it */
  const chips = [];
  for (const [name, key, label] of kind.ranges) {
    const value = asked.get(name);
    const r = condition?.[key].ranges.find((/** @type {{id: number}} */ r) => String(r.id) === value);
    if (value) chips.push([`${label} ${r ? range(condition[key], r) : value}`, name, '']);
  }
  for (const [name] of kind.lists) {
    const value = asked.get(name);
    if (value) chips.push([value, name, '']);
  }
  const marked = features(asked.get('features'));
  for (const f of marked) chips.push([f, 'features', marked.filter(x => x !== f).join(',')]);
  return el('ul', {class: 'chips', 'aria-label': '選んだ条件'}, ...chips.map(([text, name, left]) => {
    const to = new URLSearchParams(asked);
    if (left) to.set(name, left);
    else to.delete(name);
    return el('li', {}, el('a', {href: `${kind.page}?${to}`, 'aria-label': `条件から外す: ${text}`}, text, el('span', {'aria-hidden': 'true'}, ' ×')));
  }));
}

/** fill makes the form of the conditions. @param {Kind} kind @param {any} condition @param {URLSearchParams} asked */
function fill(kind, condition, asked) {
  const form = by('form');
  const select = (/** @type {string} */ name, /** @type {string} */ label, /** @type {[string, string][]} */ options) => el('label', {class: 'field'}, label,
    el('select', {name}, el('option', {value: ''}, '指定なし'),
      ...options.map(([value, text]) => el('option', {value, selected: asked.get(name) === value}, text))));
  const marked = features(asked.get('features'));
  const boxes = condition.feature.list.map((/** @type {string} */ f) => el('label', {class: 'box'},
    el('input', {type: 'checkbox', name: 'features', value: f, checked: marked.includes(f)}), f));
  const hint = el('p', {class: 'bad', role: 'alert'});
  const clear = el('a', {href: kind.page}, '条件をすべて外す');
  form.replaceChildren(
    ...kind.ranges.map(([name, key, label]) => select(name, label,
      condition[key].ranges.map((/** @type {import('./words.js').Range} */ r) => [String(r.id), range(condition[key], r)]))),
    ...kind.lists.map(([name, key, label]) => select(name, label, condition[key].list.map((/** @type {string} */ v) => [v, v]))),
    el('details', {class: 'features', open: marked.length > 0},
      el('summary', {}, `特徴${marked.length > 0 ? ` (${marked.length} 個を選択)` : ''}`),
      el('div', {class: 'boxes', role: 'group', 'aria-label': '特徴'}, ...boxes)),
    el('button', {class: 'go'}, '探す'), hint, clear);
  form.addEventListener('submit', (/** @type {Event} */ event) => {
    event.preventDefault();
    const query = conditions(kind, new URLSearchParams(/** @type {any} */ (new FormData(form))));
    if (query.toString() === '') hint.textContent = '条件を 1 つ以上選んでください。';
    else location.assign(`${kind.page}?${query}`);
  });
}
