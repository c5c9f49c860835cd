// @ts-check
// The first page: ways into the searches, and what costs least.
import {get} from './api.js';
import {Atlas} from './atlas.js';
import {by, el, show} from './dom.js';
import {chairTile, estateTile, grid} from './tiles.js';
import {range} from './words.js';

/** How many tiles of a list are there before the rest is asked for. */
const first = 10;

/** shortened shows the beginning of a list, and the rest on demand. */
function shortened(tiles) {
  if (tiles.length === 0) return [el('p', {class: 'sub'}, 'いまは 1 件もありません。')];
  const rest = tiles.splice(first);
  if (rest.length === 0) return [grid(tiles)];
  return [grid(tiles), el('details', {}, el('summary', {class: 'more'}, `残りの ${rest.length} 件`), grid(rest))];
}

show(by('chairs'), get('/api/chair/low_priced', 'chairs'), ({chairs}) => shortened(chairs.map(chairTile)));
show(by('estates'), get('/api/estate/low_priced', 'estates'), ({estates}) => shortened(estates.map(estateTile)));

/** links fills a list with searches of one condition each. */
async function links(id, api, page, choose) {
  try {
    by(id).replaceChildren(...choose(await get(api)).map(([query, text]) => el('li', {}, el('a', {href: `${page}?${query}`}, text))));
  } catch {
    by(id).remove(); // the heading leads to the same search, which says what is wrong
  }
}

const ranges = (name, of) => of.ranges.map(r => [`${name}=${r.id}`, range(of, r)]);

links('chair-links', '/api/chair/search/condition', 'chairs.html', c => [
  ...c.kind.list.map(kind => [`kind=${encodeURIComponent(kind)}`, kind]),
  ...ranges('priceRangeId', c.price),
]);
links('estate-links', '/api/estate/search/condition', 'estates.html', c => ranges('rentRangeId', c.rent));

const atlas = new Atlas(by('atlas'), {still: true});
atlas.ring.push([36.9, 138.2], [37.6, 139.9], [36.9, 141.2], [35.2, 141.2], [34.5, 139.4], [34.9, 137.6]);
atlas.closed = true;
