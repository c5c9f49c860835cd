// @ts-check
// The search for estates inside a ring on the map. View and ring are in the fragment
// of the address, so that the way back from an estate leads to the same hits.
import {ask} from './api.js';
import {Atlas} from './atlas.js';
import {towns} from './coast.js';
import {by, el, failure, picture} from './dom.js';
import {Hand} from './hand.js';
import {tidy} from './ring.js';
import {doorSize, items, yen} from './words.js';

/** How many estates the API returns at most. */
const limit = 50;

/** Corners are rounded to 0.0001°, about 10 m: what was searched is what the address says. @param {number} degrees */
const round = degrees => Math.round(degrees * 1e4) / 1e4;

const said = new URLSearchParams(location.hash.slice(1));
const numbers = (/** @type {string} */ text) => text.split(',').map(Number);
const [latitude, longitude, scale] = numbers(said.get('c') ?? '').length === 3 ? numbers(said.get('c') ?? '') : [];
const atlas = new Atlas(by('atlas'), Number.isFinite(latitude + longitude + scale) ? {latitude, longitude, scale} : {});
const list = by('list'), status = by('status'), trouble = by('error');

/** Counts searches; an answer to one that is not the last is of no interest. */
let searches = 0;

/** remember writes the view and a closed ring into the address. */
function remember() {
  const view = [atlas.latitude, atlas.longitude].map(round).join(',');
  const ring = atlas.closed ? `&a=${atlas.ring.map(p => p.join(',')).join(';')}` : '';
  history.replaceState(null, '', `#c=${view},${Number(atlas.scale.toPrecision(4))}${ring}`);
}

/** forget removes the hits, not the ring. */
function forget(/** @type {string} */ text) {
  searches++;
  atlas.dots = [];
  list.replaceChildren();
  trouble.replaceChildren();
  status.textContent = text;
  list.removeAttribute('aria-busy');
  atlas.draw();
}

/** @param {[number, number][]} corners */
async function search(corners) {
  const {ring, hulled} = tidy(corners.map(([a, b]) => [round(a), round(b)]));
  if (ring.length === 0) {
    clear('囲んだ範囲が小さすぎます。');
    return;
  }
  atlas.ring = ring;
  atlas.closed = true;
  forget('探しています…');
  const mine = searches;
  list.setAttribute('aria-busy', 'true');
  remember();
  const coordinates = [...ring, ring[0]].map(([latitude, longitude]) => ({latitude, longitude}));
  try {
    const {estates} = await ask('/api/estate/nazotte', {coordinates}, {list: 'estates'});
    if (mine === searches) render(estates, hulled);
  } catch (error) {
    if (mine !== searches) return;
    status.textContent = '';
    trouble.replaceChildren(failure(error));
  }
  if (mine === searches) list.removeAttribute('aria-busy');
}

/** @param {import('./tiles.js').Estate[]} estates @param {boolean} hulled */
function render(estates, hulled) {
  const words = estates.length === 0 ? 'この範囲に物件はありません。'
    : estates.length < limit ? `${items(estates.length)}、人気順`
      : `人気順に ${limit} 件まで表示しています。範囲を狭めると、ほかの物件も出ます。`;
  status.textContent = words + (hulled ? ' 線が交わっていたので、外側の輪郭で探しました。' : '');
  atlas.dots = estates.map(({latitude, longitude}) => ({latitude, longitude}));
  list.replaceChildren(...estates.map((e, i) => {
    const item = el('li', {}, el('a', {href: `estate.html?id=${e.id}`}, picture(e.thumbnail),
      el('span', {}, el('span', {class: 'name'}, e.name), el('span', {class: 'price'}, `${yen(e.rent)} / 月`),
        el('span', {class: 'line'}, e.address), el('span', {class: 'line'}, doorSize(e)))));
    const choose = (/** @type {boolean} */ on) => () => {
      atlas.dots[i].chosen = on;
      atlas.draw();
    };
    for (const [event, on] of /** @type {[string, boolean][]} */ ([['pointerenter', true], ['focusin', true], ['pointerleave', false], ['focusout', false]])) {
      item.addEventListener(event, choose(on));
    }
    return item;
  }));
  atlas.draw();
}

function clear(text = 'まだ囲んでいません。') {
  atlas.ring = [];
  atlas.closed = false;
  forget(text);
  remember();
}

new Hand(atlas, {
  draws: () => by('main').querySelector('[name=mode]:checked').value === 'draw',
  began: () => forget('囲んでいます…'),
  ended: search,
  moved: remember,
  hit: (x, y) => {
    const apart = atlas.dots.map(d => {
      const [dx, dy] = atlas.pixel(d.latitude, d.longitude);
      return Math.hypot(dx - x, dy - y);
    });
    const nearest = apart.indexOf(Math.min(...apart));
    if (nearest < 0 || apart[nearest] > 10) return false;
    list.children[nearest].querySelector('a').focus();
    return true;
  },
  clear: () => clear(),
});

/** @param {string} id @param {() => void} act */
const button = (id, act) => by(id).addEventListener('click', act);
const zoom = (/** @type {number} */ factor) => () => {
  atlas.zoom(factor);
  remember();
};
button('in', zoom(1.5));
button('out', zoom(1 / 1.5));
button('clear', () => clear());
button('visible', () => {
  const [north, west] = atlas.at(0, 0), [south, east] = atlas.at(atlas.width, atlas.height);
  search([[south, west], [south, east], [north, east], [north, west]]);
});

by('town').append(...[...towns].sort((a, b) => b[1] - a[1]).map(([name]) => el('option', {}, name)));
by('town').addEventListener('change', () => {
  const town = towns.find(([name]) => name === by('town').value);
  if (!town) return;
  atlas.go(town[1], town[2], 300);
  by('town').value = '';
  remember();
});

/** @type {any} */
const before = (said.get('a') ?? '').split(';').map(numbers);
if (before.length > 2 && before.every((/** @type {number[]} */ p) => p.length === 2 && p.every(Number.isFinite))) search(before);
addEventListener('hashchange', () => location.reload());
