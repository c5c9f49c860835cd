// @ts-check
// Links to the pages of a list, which are counted from 0.
import {el} from './dom.js';
import {number} from './words.js';

/** pager leads to the pages beside the present one, and to both ends. */
export function pager(page, pages, link) {
  const to = (n, text, on) => on ? el('a', {href: link(n)}, text) : el('span', {'aria-disabled': 'true'}, text);
  return pages < 2 ? '' : el('nav', {class: 'pager', 'aria-label': 'ページ'},
    to(0, '最初へ', page > 0), to(page - 1, '前へ', page > 0),
    el('b', {}, `${number(page + 1)} / ${number(pages)}`),
    to(page + 1, '次へ', page < pages - 1), to(pages - 1, '最後へ', page < pages - 1));
}
