// @ts-check
import {search} from './search.js';
import {estateTile} from './tiles.js';

search({
  api: '/api/estate/search',
  page: 'estates.html',
  list: 'estates',
  noun: '物件',
  ranges: [['rentRangeId', 'rent', '賃料'], ['doorWidthRangeId', 'doorWidth', 'ドアの幅'], ['doorHeightRangeId', 'doorHeight', 'ドアの高さ']],
  lists: [],
  tile: estateTile,
});
