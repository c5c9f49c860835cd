// @ts-check
// The first page: ways into the searches, and what costs least.
import {Atlas} from './atlas.js';
import {get} from './api.js';
import {by, el, show} from './dom.js';
import {chairTile, estateTile, grid} from './tiles.js';
import {range} from './words.js';

/** How many tiles of a list stand there before the rest is asked for. */
const first = 10;

/** shortened shows the beginning of a list, and the rest on demand. @param {HTMLElement[]} tiles @returns {HTMLElement[]} */
function shortened(tiles) {
  if (tiles.length === 0) return [el('p', {class: 'sub'}, 'いまは 1 件もありません。')];
  const list = grid(tiles);
  if (tiles.length <= first) return [list];
  const rest = tiles.slice(first);
  rest.forEach(tile => { tile.hidden = true; });
  const more = el('button', {type: 'button', class: 'more'}, `残りの ${rest.length} 件も表示`);
  more.addEventListener('click', () => {
    rest.forEach(tile => { tile.hidden = false; });
    rest[0].querySelector('a')?.focus();
    more.remove();
  });
  return [list, more];
}

show(by('chairs'), get('/api/chair/low_priced', {list: 'chairs'}), ({chairs}) => shortened(chairs.map(chairTile)));
show(by('estates'), get('/api/estate/low_priced', {list: 'estates'}), ({estates}) => shortened(estates.map(estateTile)));

/** links fills a list with searches of one condition each. @param {string} id @param {string} path @param {(c: any) => [string, string][]} choose */
async function links(id, path, choose) {
  try {
    const page = id.startsWith('chair') ? 'chairs.html' : 'estates.html';
    by(id).replaceChildren(...choose(await get(path)).map(([query, text]) => el('li', {}, el('a', {href: `${page}?${query}`}, text))));
  } catch {
    by(id).remove(); // the link above leads to the same search, which says what is wrong
  }
}

/** @param {string} name @param {import('./words.js').Ranges} of @returns {[string, string][]} */
const ranges = (name, of) => of.ranges.map(r => [`${name}=${r.id}`, range(of, r)]);

links('chair-links', '/api/chair/search/condition', c => [
  ...c.kind.list.map((/** @type {string} */ kind) => [new URLSearchParams({kind}).toString(), kind]),
  ...ranges('priceRangeId', c.price),
]);
links('estate-links', '/api/estate/search/condition', c => ranges('rentRangeId', c.rent));

new Atlas(by('atlas'), {still: true});
