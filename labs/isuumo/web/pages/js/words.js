// @ts-check
// Numbers as people read them.

/** @typedef {{id: number, min: number, max: number}} Range */
/** @typedef {{prefix: string, suffix: string, ranges: Range[]}} Ranges */

const digits = new Intl.NumberFormat('en');

export const number = (/** @type {number} */ n) => digits.format(n);
export const yen = (/** @type {number} */ n) => `${digits.format(n)} 円`;
export const items = (/** @type {number} */ n) => `${digits.format(n)} 件`;

/** range says what is in a range: its end is outside, −1 is no end. @param {Ranges} of @param {Range} r */
export function range({prefix, suffix}, {min, max}) {
  const text = (/** @type {number} */ n) => `${prefix}${digits.format(n)}`;
  const space = /\w$/.test(suffix) ? ' ' : '';
  if (min < 0 && max < 0) return 'すべて';
  if (min < 0) return `${text(max)} ${suffix}${space}未満`;
  if (max < 0) return `${text(min)} ${suffix}${space}以上`;
  return `${text(min)} – ${text(max)} ${suffix}`;
}

/** size of a chair, in centimetres. @param {{width: number, depth: number, height: number}} chair */
export const chairSize = ({width, depth, height}) => `幅 ${width} × 奥行 ${depth} × 高さ ${height} cm`;

/** door of an estate. @param {{doorWidth: number, doorHeight: number}} estate */
export const doorSize = ({doorWidth, doorHeight}) => `ドア 幅 ${doorWidth} × 高さ ${doorHeight} cm`;

/** features come as one text joined by commas. @param {unknown} text @returns {string[]} */
export const features = text => (typeof text === 'string' && text !== '' ? text.split(',') : []);
