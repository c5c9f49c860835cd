// @ts-check
// One chair: buy it, and see where it fits in.
import {get, post} from './api.js';
import {detail, id, order, page} from './detail.js';
import {by, el, show} from './dom.js';
import {estateTile, grid} from './tiles.js';
import {chairSize, yen} from './words.js';

const read = () => get(`/api/chair/${id}`, '', {404: 'この椅子は売り切れたか、登録がありません。'});

async function buy(email) {
  await post(`/api/chair/buy/${id}`, {email}, {404: '売り切れました。ほかの椅子を選んでください。'});
  const last = await read().then(() => false, error => error.status === 404);
  return {text: `購入しました。控えの宛先: ${email}${last ? ' 最後の 1 脚でした。' : ''}`, last};
}

/** recommend shows where the chair fits in: only its two smallest sides decide. */
function recommend(chair) {
  const [a, b] = [chair.width, chair.depth, chair.height].sort((x, y) => x - y);
  by('recommended').hidden = false;
  by('fits-why').textContent = `${a} × ${b} cm の向きでドアを通る物件を、人気順に表示します。`;
  show(by('estates'), get(`/api/recommended_estate/${id}`, 'estates'), ({estates}) =>
    [estates.length > 0 ? grid(estates.map(estateTile)) : el('p', {}, 'ドアを通せる物件はありません。')]);
}

page('chair', '椅子', read, chair => {
  recommend(chair);
  const facts = [['種類', chair.kind], ['色', chair.color], ['大きさ', chairSize(chair)]];
  return [detail(chair, yen(chair.price), facts, order('購入する', buy))];
});
