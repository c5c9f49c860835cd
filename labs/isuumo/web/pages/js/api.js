// @ts-check
// The API: a call comes to its answer, or fails with an error whose message is what the
// person is to read.

/** How long an answer may take, in seconds. */
const patience = 30;

/** refusal is the error for an answer with a status, 0: none came. */
const refusal = (status, message) => Object.assign(new Error(message), {status});

const words = {
  400: '指定した値が正しくありません (400)。',
  404: '見つかりません (404)。',
  413: 'ファイルが大きすぎます (413)。',
  500: 'サーバーの中で問題が起きました (500)。',
  502: '店のプログラムが動いていません (502)。',
  503: '混み合っているため、いまは受け付けられません (503)。少し待ってから、もう一度試してください。',
};

/** call returns the text of an answer; meaning has words for a status where the caller knows better. */
async function call(path, request, meaning, want = 200) {
  try {
    const answer = await fetch(path, {...request, signal: AbortSignal.timeout(patience * 1000)});
    if (answer.status === want) return await answer.text();
    throw refusal(answer.status, meaning[answer.status] ?? words[answer.status] ?? `サーバーの答えが ${answer.status} でした。`);
  } catch (error) {
    if (error.status) throw error;
    throw refusal(0, error.name === 'TimeoutError' ? `${patience} 秒待ちましたが、答えがありません。`
      : 'サーバーにつながりません。通信の状態を確かめてください。');
  }
}

/** read takes an answer apart; list names the key of a list that it must have. */
function read(text, list) {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value && (!list || Array.isArray(value[list]))) return value;
  } catch { /* as below */ }
  throw refusal(200, 'サーバーの答えを読み取れません。');
}

const json = value => ({method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(value)});

export const get = async (path, list = '', meaning = {}) => read(await call(path, {}, meaning), list);

export const ask = async (path, value, list) => read(await call(path, json(value), {}), list);

/** post sends a value to which the answer is empty. */
export const post = (path, value, meaning) => call(path, json(value), meaning);

export function upload(path, part, file, meaning) {
  const body = new FormData();
  body.append(part, file, `${part}.csv`);
  return call(path, {method: 'POST', body}, meaning, 201);
}
