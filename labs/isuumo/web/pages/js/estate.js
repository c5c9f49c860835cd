// @ts-check
// One estate: where it is, and its documents.
import {get, tell} from './api.js';
import {Atlas} from './atlas.js';
import {by, el, show} from './dom.js';
import {detail, order, wanted} from './detail.js';
import {doorSize, yen} from './words.js';

const id = wanted();

/** @param {string} email */
async function request(email) {
  await tell(`/api/estate/req_doc/${id}`, {email}, {meaning: {404: 'この物件は登録がありません。'}});
  return {said: `資料を請求しました。宛先: ${email}`};
}

/** @param {import('./tiles.js').Estate} estate */
function render(estate) {
  place(estate);
  return [detail(estate, `${yen(estate.rent)} / 月`, [
    ['住所', estate.address],
    ['ドア', doorSize(estate).replace('ドア ', '')],
  ], order('資料を請求する', '資料の宛先を入力します。', request))];
}

/** @param {import('./tiles.js').Estate} estate */
function place({latitude, longitude, name}) {
  by('near').hidden = false;
  const words = `北緯 ${latitude.toFixed(4)}°、東経 ${longitude.toFixed(4)}°`;
  by('place-words').replaceChildren(words, ' · ', el('a', {href: `map.html#c=${latitude.toFixed(4)},${longitude.toFixed(4)},400`}, 'この周りを地図で探す'));
  by('atlas').setAttribute('aria-label', `${name}の場所: ${words}`);
  const atlas = new Atlas(by('atlas'), {latitude, longitude, scale: 110, still: true});
  atlas.dots = [{latitude, longitude, chosen: true}];
}

if (id) show(by('estate'), get(`/api/estate/${id}`, {meaning: {404: 'この物件は登録がありません。'}}), render);
else by('estate').replaceChildren(el('p', {class: 'bad', role: 'alert'}, '物件の番号が正しくありません。'), el('p', {}, el('a', {href: 'estates.html'}, '物件を探す')));
