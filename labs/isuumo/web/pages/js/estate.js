// @ts-check
// One estate: where it is, and its documents.
import {get, post} from './api.js';
import {Atlas} from './atlas.js';
import {detail, id, order, page} from './detail.js';
import {by, el} from './dom.js';
import {rent} from './tiles.js';
import {doorSize} from './words.js';

const meaning = {404: 'この物件は登録がありません。'};

async function request(email) {
  await post(`/api/estate/req_doc/${id}`, {email}, meaning);
  return {text: `資料を請求しました。宛先: ${email}`, last: false};
}

/** locate shows the place on a map. */
function locate({latitude, longitude, name}) {
  const [y, x] = [latitude.toFixed(4), longitude.toFixed(4)];
  by('near').hidden = false;
  by('place-words').replaceChildren(`北緯 ${y}°、東経 ${x}° · `, el('a', {href: `map.html#c=${y},${x},400`}, 'この周りを地図で探す'));
  by('atlas').setAttribute('aria-label', `${name}の場所`);
  new Atlas(by('atlas'), {latitude, longitude, scale: 110, still: true}).dots = [{latitude, longitude, chosen: true}];
}

page('estate', '物件', () => get(`/api/estate/${id}`, '', meaning), estate => {
  locate(estate);
  const facts = [['住所', estate.address], ['ドア', doorSize(estate)]];
  return [detail(estate, rent(estate), facts, order('資料を請求する', request))];
});
