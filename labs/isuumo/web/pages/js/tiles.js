// @ts-check
// Rows as tiles: a picture, a name, a price, and what else decides.
import {el, picture} from './dom.js';
import {yen, chairSize, doorSize} from './words.js';

/** @typedef {{id: number, name: string, thumbnail: string, price: number, width: number, depth: number, height: number, kind: string, color: string, description: string, features: string}} Chair */
/** @typedef {{id: number, name: string, thumbnail: string, rent: number, address: string, doorWidth: number, doorHeight: number, latitude: number, longitude: number, description: string, features: string}} Estate */

/** @param {string} href @param {string} thumbnail @param {string} name @param {string} price @param {string[]} lines */
function tile(href, thumbnail, name, price, lines) {
  return el('li', {},
    el('a', {class: 'tile', href},
      picture(thumbnail),
      el('span', {class: 'name'}, name),
      el('span', {class: 'price'}, price),
      ...lines.map(line => el('span', {class: 'line'}, line))));
}

/** @param {Chair} c */
export const chairTile = c => tile(`chair.html?id=${c.id}`, c.thumbnail, c.name, yen(c.price), [`${c.kind}、${c.color}`, chairSize(c)]);

/** @param {Estate} e */
export const estateTile = e => tile(`estate.html?id=${e.id}`, e.thumbnail, e.name, `${yen(e.rent)} / 月`, [e.address, doorSize(e)]);

/** @param {Node[]} tiles */
export const grid = tiles => el('ul', {class: 'grid'}, ...tiles);
