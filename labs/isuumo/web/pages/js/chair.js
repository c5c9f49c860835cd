// @ts-check
// One chair: buy it, and see where it fits in.
import {get, tell} from './api.js';
import {by, el, show} from './dom.js';
import {detail, order, wanted} from './detail.js';
import {estateTile, grid} from './tiles.js';
import {chairSize, yen} from './words.js';

const id = wanted();
const gone = 'この椅子は売り切れたか、登録がありません。';

/** @param {string} email */
async function buy(email) {
  await tell(`/api/chair/buy/${id}`, {email}, {meaning: {404: '売り切れました。ほかの椅子を選んでください。'}});
  const said = `購入しました。控えの宛先: ${email}`;
  try {
    await get(`/api/chair/${id}`);
  } catch (error) {
    if (error.status === 404) return {said, closed: '最後の 1 脚でした。'};
  }
  return {said};
}

/** @param {import('./tiles.js').Chair} chair */
function render(chair) {
  recommend(chair);
  return [detail(chair, yen(chair.price), [
    ['種類', chair.kind],
    ['色', chair.color],
    ['大きさ', chairSize(chair)],
  ], order('購入する', '1 脚を購入します。', buy))];
}

/** @param {import('./tiles.js').Chair} chair */
function recommend(chair) {
  const [a, b] = [chair.width, chair.depth, chair.height].sort((x, y) => x - y);
  by('recommended').hidden = false;
  by('fits-why').textContent = `いちばん小さい 2 辺は ${a} cm と ${b} cm です。その向きでドアを通る物件を、人気順に表示します。`;
  show(by('estates'), get(`/api/recommended_estate/${id}`, {list: 'estates'}), ({estates}) =>
    [estates.length > 0 ? grid(estates.map(estateTile)) : el('p', {}, 'ドアを通せる物件はありません。')]);
}

if (id) show(by('chair'), get(`/api/chair/${id}`, {meaning: {404: gone}}), render);
else by('chair').replaceChildren(el('p', {class: 'bad', role: 'alert'}, '椅子の番号が正しくありません。'), el('p', {}, el('a', {href: 'chairs.html'}, '椅子を探す')));
