// @ts-check
// The search for estates inside a ring on the map. View and ring are in the fragment
// of the address, so that the way back from an estate leads to the same hits.
import {ask} from './api.js';
import {Atlas} from './atlas.js';
import {towns} from './coast.js';
import {by, el, failure} from './dom.js';
import {Hand} from './hand.js';
import {tidy} from './ring.js';
import {estateTile} from './tiles.js';
import {items} from './words.js';

/** How many estates the API returns at most. */
const limit = 50;

/** Corners are rounded to 0.0001°, about 10 m: what was searched is what the address says. */
const round = degrees => Math.round(degrees * 1e4) / 1e4;

const address = new URLSearchParams(location.hash.slice(1));
const lists = (name, length) => (address.get(name) ?? '').split(';').map(text => text.split(',').map(Number))
  .filter(list => list.length === length && list.every(Number.isFinite));
const [latitude, longitude, scale] = lists('c', 3)[0] ?? [];
const atlas = new Atlas(by('atlas'), {latitude, longitude, scale});
const list = by('list'), status = by('status'), trouble = by('error');

/** Counts searches; an answer to one that is not the last is of no interest. */
let searches = 0;

/** remember writes the view and a closed ring into the address. */
function remember() {
  const ring = atlas.closed ? `&a=${atlas.ring.join(';')}` : '';
  history.replaceState(null, '', `#c=${round(atlas.latitude)},${round(atlas.longitude)},${Number(atlas.scale.toPrecision(4))}${ring}`);
}

/** forget removes the hits, not the ring. */
function forget(text) {
  searches++;
  atlas.dots = [];
  list.replaceChildren();
  list.removeAttribute('aria-busy');
  trouble.replaceChildren();
  status.textContent = text;
  atlas.draw();
}

function clear(text = 'まだ囲んでいません。') {
  atlas.ring = [];
  atlas.closed = false;
  forget(text);
  remember();
}

async function search(corners) {
  const {ring, hulled} = tidy(corners.map(p => p.map(round)));
  if (ring.length === 0) {
    clear('囲んだ範囲が小さすぎます。');
    return;
  }
  atlas.ring = ring;
  atlas.closed = true;
  forget('探しています…');
  remember();
  const mine = searches;
  list.setAttribute('aria-busy', 'true');
  const coordinates = [...ring, ring[0]].map(([latitude, longitude]) => ({latitude, longitude}));
  try {
    const {estates} = await ask('/api/estate/nazotte', {coordinates}, 'estates');
    if (mine !== searches) return;
    render(estates, hulled);
  } catch (error) {
    if (mine !== searches) return;
    forget('');
    trouble.replaceChildren(failure(error));
  }
  list.removeAttribute('aria-busy');
}

function render(estates, hulled) {
  const words = estates.length === 0 ? 'この範囲に物件はありません。'
    : estates.length < limit ? `${items(estates.length)}、人気順`
      : `人気順に ${limit} 件まで表示しています。範囲を狭めると、ほかの物件も出ます。`;
  status.textContent = words + (hulled ? ' 線が交わっていたので、外側の輪郭で探しました。' : '');
  atlas.dots = estates.map(({latitude, longitude}) => ({latitude, longitude}));
  list.replaceChildren(...estates.map((estate, i) => {
    const item = estateTile(estate);
    for (const [event, chosen] of Object.entries({pointerenter: true, focusin: true, pointerleave: false, focusout: false})) {
      item.addEventListener(event, () => {
        atlas.dots[i].chosen = chosen;
        atlas.draw();
      });
    }
    return item;
  }));
  atlas.draw();
}

/** hit goes from a dot to its place in the list. */
function hit(x, y) {
  const apart = atlas.dots.map(d => {
    const [dotX, dotY] = atlas.pixel(d.latitude, d.longitude);
    return Math.hypot(dotX - x, dotY - y);
  });
  const nearest = Math.min(...apart);
  if (nearest > 10) return false;
  list.children[apart.indexOf(nearest)].querySelector('a').focus();
  return true;
}

new Hand(atlas, {
  draws: () => by('draw').checked,
  began: () => forget('囲んでいます…'),
  ended: search,
  moved: remember,
  hit,
  clear: () => clear(),
});

const button = (id, act) => by(id).addEventListener('click', () => {
  act();
  remember();
});
button('in', () => atlas.zoom(1.5));
button('out', () => atlas.zoom(1 / 1.5));
button('clear', () => clear());
button('visible', () => {
  const [north, west] = atlas.at(0, 0), [south, east] = atlas.at(atlas.width, atlas.height);
  search([[south, west], [south, east], [north, east], [north, west]]);
});

const go = by('town');
go.append(...towns.map(([name]) => el('option', {}, name)));
go.addEventListener('change', () => {
  const [, latitude, longitude] = towns.find(([name]) => name === go.value);
  atlas.go(latitude, longitude, 300);
  go.value = '';
  remember();
});

const drawn = lists('a', 2);
if (drawn.length > 0) search(drawn);
addEventListener('hashchange', () => location.reload());
