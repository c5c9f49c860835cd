// @ts-check
// The API: each call comes to its answer, or fails with a Refusal whose message is
// what the person is to read.

/** How long an answer may take, in milliseconds. */
const patience = 30000;

/** A Refusal is an answer that is not the one asked for; status 0: there was none. */
export class Refusal extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @type {Record<number, string>} */
const words = {
  400: '指定した値が正しくありません (400)。',
  404: '見つかりません (404)。',
  413: 'ファイルが大きすぎます (413)。',
  500: 'サーバーの中で問題が起きました (500)。',
  502: '店のプログラムが答えていません (502)。少し待ってから、もう一度試してください。',
  503: '混み合っているため、いまは受け付けられません (503)。少し待ってから、もう一度試してください。',
  504: '店のプログラムが時間内に答えませんでした (504)。',
};

/**
 * call sends a request and reads the answer.
 * @param {string} path
 * @param {RequestInit} request
 * @param {Record<number, string>} meaning words for a status, where this call knows better
 * @param {number} want the status of success
 */
async function call(path, request, meaning, want = 200) {
  try {
    const answer = await fetch(path, {...request, signal: AbortSignal.timeout(patience)});
    if (answer.status !== want) {
      throw new Refusal(answer.status, meaning[answer.status] ?? words[answer.status] ?? `サーバーの答えが ${answer.status} でした。`);
    }
    return await answer.text();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (error.name === 'TimeoutError') throw new Refusal(0, `${patience / 1000} 秒待ちましたが、答えがありません。`);
    throw new Refusal(0, 'サーバーにつながりません。通信の状態を確かめて、もう一度試してください。');
  }
}

/**
 * read takes an answer apart. Lists are checked here, so that pages need not be.
 * @param {string} text
 * @param {string} [list] the key of the list that the answer must have
 * @returns {any}
 */
function read(text, list) {
  try {
    const value = JSON.parse(text);
    if (value !== null && typeof value === 'object' && (!list || Array.isArray(value[list]))) return value;
  } catch { /* said below */ }
  throw new Refusal(200, 'サーバーの答えを読み取れません。');
}

/** @typedef {{meaning?: Record<number, string>, list?: string}} Expect */

/** @param {string} path @param {Expect} [expect] */
export async function get(path, {meaning = {}, list} = {}) {
  return read(await call(path, {}, meaning), list);
}

/** @param {string} path @param {unknown} value @param {Expect} [expect] */
export async function ask(path, value, {meaning = {}, list} = {}) {
  return read(await call(path, json(value), meaning), list);
}

/** tell is ask without an answer to read. @param {string} path @param {unknown} value @param {Expect} [expect] */
export async function tell(path, value, {meaning = {}} = {}) {
  await call(path, json(value), meaning);
}

/** @param {string} path @param {string} part @param {File} file @param {Expect} [expect] */
export async function upload(path, part, file, {meaning = {}} = {}) {
  const body = new FormData();
  body.append(part, file, `${part}.csv`);
  await call(path, {method: 'POST', body}, meaning, 201);
}

/** @param {unknown} value @returns {RequestInit} */
function json(value) {
  return {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(value)};
}
