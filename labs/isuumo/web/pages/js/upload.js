// @ts-check
// CSV files of chairs and estates.
import {upload} from './api.js';
import {by, el, failure, said} from './dom.js';

const meaning = {
  400: '列が足りないか、数であるべき値が数ではありません (400)。1 行も登録していません。',
  500: 'CSV の形が正しくないか、同じ id の行がもうあります (500)。1 行も登録していません。',
};

async function send(part, path, page) {
  const file = by(`${part}-file`).files[0];
  let text;
  try {
    text = new TextDecoder('utf-8', {fatal: true}).decode(await file.arrayBuffer());
  } catch {
    throw new Error('このファイルは UTF-8 ではありません。送信していません。');
  }
  if (!text.trim()) throw new Error('ファイルに行がありません。送信していません。');
  await upload(path, part, file, meaning);
  const first = parseInt(text.replace('"', ''));
  return el('p', {class: 'ok', role: 'status'}, `${file.name} を登録しました。 `, el('a', {href: `${page}?id=${first}`}, `最初の行 (id ${first}) を見る`));
}

function handle(part, path, page) {
  const form = by(part), outcome = form.querySelector('.outcome'), button = form.querySelector('button');
  form.addEventListener('submit', async event => {
    event.preventDefault();
    button.disabled = true;
    outcome.replaceChildren(said('送信中…'));
    outcome.replaceChildren(await send(part, path, page).catch(error => failure(error, false)));
    button.disabled = false;
  });
}

handle('chairs', '/api/chair', 'chair.html');
handle('estates', '/api/estate', 'estate.html');
