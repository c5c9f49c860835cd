// @ts-check
// CSV files of chairs and estates.
import {upload} from './api.js';
import {by, el, failure} from './dom.js';

const meaning = {
  400: '列が足りないか、数であるべき値が数ではありません (400)。1 行も登録していません。',
  500: 'CSV の形が正しくないか、同じ id の行がもうあります (500)。1 行も登録していません。',
};

/** look counts the rows of a CSV text and takes the first field; line ends within quotes are no rows. @param {string} text */
export function look(text) {
  let rows = 0, quoted = false, blank = true;
  for (const c of text) {
    if (c === '"') quoted = !quoted;
    if (c === '\n' && !quoted) {
      rows += blank ? 0 : 1;
      blank = true;
    } else if (c !== '\r') blank = false;
  }
  return {rows: rows + (blank ? 0 : 1), first: /^\s*"?(\d+)/.exec(text)?.[1]};
}

/** @param {File} file */
async function read(file) {
  const bytes = await file.arrayBuffer();
  try {
    return look(new TextDecoder('utf-8', {fatal: true}).decode(bytes));
  } catch {
    throw new Error('このファイルは UTF-8 ではありません。送信していません。');
  }
}

/** @param {'chairs'|'estates'} part @param {string} path @param {string} page */
function handle(part, path, page) {
  const form = by(part);
  const outcome = form.querySelector('.outcome');
  const button = form.querySelector('button');
  form.addEventListener('submit', async (/** @type {Event} */ event) => {
    event.preventDefault();
    button.disabled = true;
    outcome.replaceChildren(el('p', {class: 'sub', role: 'status'}, '送信中…'));
    try {
      const file = by(`${part}-file`).files[0];
      const {rows, first} = await read(file);
      if (rows === 0) throw new Error('ファイルに行がありません。送信していません。');
      await upload(path, part, file, {meaning});
      outcome.replaceChildren(el('p', {class: 'ok', role: 'status'}, `${rows} 行を登録しました。`,
        ...first ? [' ', el('a', {href: `${page}?id=${first}`}, `最初の行 (id ${first}) を見る`)] : []));
    } catch (error) {
      outcome.replaceChildren(failure(error, false));
    }
    button.disabled = false;
  });
}

handle('chairs', '/api/chair', 'chair.html');
handle('estates', '/api/estate', 'estate.html');
