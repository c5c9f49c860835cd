// @ts-check
import {search} from './search.js';
import {chairTile} from './tiles.js';

search({
  api: '/api/chair/search',
  page: 'chairs.html',
  list: 'chairs',
  noun: '椅子',
  ranges: [['priceRangeId', 'price', '価格'], ['widthRangeId', 'width', '幅'], ['depthRangeId', 'depth', '奥行'], ['heightRangeId', 'height', '高さ']],
  lists: [['kind', 'kind', '種類'], ['color', 'color', '色']],
  tile: chairTile,
});
