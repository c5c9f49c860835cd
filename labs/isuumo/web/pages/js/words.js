// @ts-check
// Numbers as people read them. A number stays on the line of its unit.

export const number = n => n.toLocaleString('en');
export const yen = n => `${number(n)}\u00a0円`;
export const items = n => `${number(n)} 件`;

/** range says what is in a range of a search condition: max is outside, −1 is no end. */
export function range({prefix, suffix}, {min, max}) {
  const text = n => prefix + number(n);
  const space = /\w$/.test(suffix) ? ' ' : '';
  if (min < 0) return `${text(max)} ${suffix}${space}未満`;
  if (max < 0) return `${text(min)} ${suffix}${space}以上`;
  return `${text(min)} – ${text(max)} ${suffix}`;
}

/** sizes are in centimetres. */
const size = (...sides) => sides.map(([name, n]) => `${name}\u00a0${n}`).join(' ×\u00a0') + '\u00a0cm';
export const chairSize = c => size(['幅', c.width], ['奥行', c.depth], ['高さ', c.height]);
export const doorSize = e => size(['幅', e.doorWidth], ['高さ', e.doorHeight]);

/** features come as one text joined by commas; there may be none. @returns {string[]} */
export const features = text => text ? text.split(',') : [];
