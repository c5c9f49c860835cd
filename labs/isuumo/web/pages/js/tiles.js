// @ts-check
// Rows as tiles: a picture, a name, a price, and what else decides.
import {el, picture} from './dom.js';
import {yen, chairSize, doorSize} from './words.js';

const tile = (page, row, price, ...lines) => el('li', {},
  el('a', {class: 'tile', href: `${page}?id=${row.id}`},
    picture(row.thumbnail),
    el('span', {},
      el('span', {class: 'name'}, row.name),
      el('span', {class: 'price'}, price),
      ...lines.map(line => el('span', {class: 'line'}, line)))));

export const rent = e => `${yen(e.rent)} / 月`;

export const chairTile = c => tile('chair.html', c, yen(c.price), `${c.kind}、${c.color}`, chairSize(c));
export const estateTile = e => tile('estate.html', e, rent(e), e.address, `ドア ${doorSize(e)}`);

export const grid = tiles => el('ul', {class: 'grid'}, ...tiles);
