// @ts-check
// Links to the pages of a list.
import {el} from './dom.js';
import {number} from './words.js';

/** near are the pages that a pager names: both ends and those beside the present one; −1 is a gap. @param {number} page @param {number} pages */
export function near(page, pages) {
  const out = [];
  for (let n = 0; n < pages; n++) {
    if (n === 0 || n === pages - 1 || Math.abs(n - page) <= 1) out.push(n);
    else if (out.at(-1) !== -1) out.push(-1);
  }
  return out;
}

/** @param {number} page counted from 0 @param {number} pages @param {(page: number) => string} link */
export function pager(page, pages, link) {
  if (pages < 2) return '';
  const to = (/** @type {number} */ n, /** @type {string} */ text, /** @type {string} */ rel) => el('a', {href: link(n), rel}, text);
  return el('nav', {class: 'pager', 'aria-label': 'ページ'},
    ...page > 0 ? [to(page - 1, '前へ', 'prev')] : [],
    ...near(page, pages).map(n => n < 0 ? el('span', {'aria-hidden': 'true'}, '…')
      : el('a', {href: link(n), 'aria-label': `${n + 1} ページ`, 'aria-current': n === page && 'page'}, number(n + 1))),
    ...page < pages - 1 ? [to(page + 1, '次へ', 'next')] : []);
}
