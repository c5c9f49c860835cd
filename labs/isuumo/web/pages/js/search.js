// @ts-check
// A search: the conditions as a form, the hits as a grid. The address of the page
// holds the query string of the API, without the size of a page.
import {get} from './api.js';
import {by, el, failure, said, show} from './dom.js';
import {pager} from './pager.js';
import {grid} from './tiles.js';
import {features, items, number, range} from './words.js';

/** Tiles of a page: full rows of 2, 3 and 4. */
const perPage = 24;

/**
 * search makes the page. Its ranges and lists are the conditions that have one value:
 * parameter, key in the conditions, label.
 */
export function search(kind) {
  const address = new URLSearchParams(location.search);
  const asked = conditions(kind, address);
  const page = Number(address.get('page') ?? 0);
  const given = asked.size > 0;
  narrow(given);
  const condition = get(`${kind.api}/condition`);
  condition.then(c => fill(kind, c, asked), error => by('form').replaceChildren(failure(error)));
  if (!given) {
    by('result').replaceChildren(el('p', {class: 'sub'}, '条件を 1 つ以上選ぶと、人気順に表示します。'));
    return;
  }
  const hits = get(`${kind.api}?${asked}&page=${page}&perPage=${perPage}`, kind.list, {400: '条件が正しくありません (400)。条件を選び直してください。'});
  show(by('result'), hits, answer => [
    el('div', {role: 'status'}, el('h2', {}, items(answer.count)), el('p', {class: 'sub'}, place(page, answer[kind.list].length))),
    ...rows(kind, answer, asked, page),
  ]);
}

/** conditions are the parameters of an address or a form that are conditions, without empty ones. */
function conditions(kind, from) {
  const out = new URLSearchParams();
  for (const [name] of [...kind.ranges, ...kind.lists]) {
    if (from.get(name)) out.set(name, from.get(name));
  }
  const marked = from.getAll('features').filter(Boolean).join(',');
  if (marked) out.set('features', marked);
  return out;
}

/** narrow closes the conditions on a narrow screen once there is something to see. */
function narrow(given) {
  const wide = matchMedia('(min-width: 761px)');
  const set = () => { by('filters').open = wide.matches || !given; };
  wide.addEventListener('change', set);
  set();
}

/** place says which of the hits are shown. */
const place = (page, n) => n > 0 ? `人気順、${number(page * perPage + 1)} – ${number(page * perPage + n)} 件目` : '';

function rows(kind, answer, asked, page) {
  const hits = answer[kind.list];
  const link = n => `${kind.page}?${asked}${n > 0 ? `&page=${n}` : ''}`;
  if (answer.count === 0) return [el('p', {}, `この条件に合う${kind.noun}はありません。条件を減らすと見つかることがあります。`)];
  if (hits.length === 0) return [el('p', {}, 'このページには 1 件もありません。'), el('a', {href: link(0)}, '最初のページへ')];
  return [grid(hits.map(kind.tile)), pager(page, Math.ceil(answer.count / perPage), link)];
}

/** fill makes the form of the conditions. */
function fill(kind, condition, asked) {
  const select = (name, label, options) => el('label', {class: 'field'}, label,
    el('select', {name}, el('option', {value: ''}, '指定なし'),
      ...options.map(([value, text]) => el('option', {value, selected: asked.get(name) === value}, text))));
  const marked = features(asked.get('features'));
  const boxes = condition.feature.list.map(f => el('label', {class: 'box'},
    el('input', {type: 'checkbox', name: 'features', value: f, checked: marked.includes(f)}), f));
  const hint = el('p', {class: 'bad', role: 'alert'});
  const form = by('form');
  form.replaceChildren(
    ...kind.ranges.map(([name, key, label]) => select(name, label, condition[key].ranges.map(r => [String(r.id), range(condition[key], r)]))),
    ...kind.lists.map(([name, key, label]) => select(name, label, condition[key].list.map(v => [v, v]))),
    el('details', {open: marked.length > 0},
      el('summary', {}, '特徴 (すべて満たすもの)'),
      el('div', {class: 'boxes', role: 'group', 'aria-label': '特徴'}, ...boxes)),
    el('button', {class: 'go'}, '探す'), hint, el('a', {href: kind.page}, '条件をすべて外す'));
  form.addEventListener('submit', event => {
    event.preventDefault();
    const query = conditions(kind, new FormData(form));
    if (query.size > 0) location.assign(`${kind.page}?${query}`);
    else hint.textContent = '条件を 1 つ以上選んでください。';
  });
}
