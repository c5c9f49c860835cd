// @ts-check
// From a stroke of the pointer to a ring that the search takes: closed, without
// crossings. Points are [x, y] of any plane.

/** @typedef {[number, number]} Point */

/** turn is positive if a, b, c turn left. @param {Point} a @param {Point} b @param {Point} c */
const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

/** crossing returns where the lines a–b and c–d cross between their ends, or null. @param {Point} a @param {Point} b @param {Point} c @param {Point} d @returns {Point|null} */
function crossing(a, b, c, d) {
  const from = turn(c, d, a), to = turn(c, d, b);
  if (from * to >= 0 || turn(a, b, c) * turn(a, b, d) >= 0) return null;
  const share = from / (from - to);
  return [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])];
}

/** simplify leaves out points that are less than a tolerance off the line of the others (Douglas and Peucker, 1973). @param {Point[]} points @param {number} tolerance @returns {Point[]} */
export function simplify(points, tolerance) {
  if (points.length < 3) return points;
  const a = points[0], b = points[points.length - 1];
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
  let far = 0, most = 0;
  for (let i = 1; i < points.length - 1; i++) {
    const p = points[i];
    const off = length > 0 ? Math.abs(turn(a, b, p)) / length : Math.hypot(p[0] - a[0], p[1] - a[1]);
    if (off > most) [far, most] = [i, off];
  }
  if (most <= tolerance) return [a, b];
  return [...simplify(points.slice(0, far + 1), tolerance).slice(0, -1), ...simplify(points.slice(far), tolerance)];
}

/** loop cuts off the ends of a stroke that goes past its own beginning. @param {Point[]} stroke @returns {Point[]} */
export function loop(stroke) {
  for (let span = stroke.length - 2; span > stroke.length / 2; span--) {
    for (let i = 0; i + span + 1 < stroke.length; i++) {
      const at = crossing(stroke[i], stroke[i + 1], stroke[i + span], stroke[i + span + 1]);
      if (at) return [at, ...stroke.slice(i + 1, i + span + 1)];
    }
  }
  return stroke;
}

/** crosses reports whether a ring, closed by its last side, crosses itself. @param {Point[]} ring */
export function crosses(ring) {
  const n = ring.length;
  for (let i = 0; i < n; i++) {
    for (let j = i + 2; j < n; j++) {
      if (crossing(ring[i], ring[(i + 1) % n], ring[j], ring[(j + 1) % n])) return true;
    }
  }
  return false;
}

/** hull is the convex ring around points (Andrew's monotone chain, 1979). @param {Point[]} points @returns {Point[]} */
export function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (/** @type {Point[]} */ side) => {
    /** @type {Point[]} */
    const out = [];
    for (const p of side) {
      while (out.length > 1 && turn(out[out.length - 2], out[out.length - 1], p) <= 0) out.pop();
      out.push(p);
    }
    return out.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** tidy makes a ring without repeated points; one that crosses itself becomes its hull. Fewer than three corners are none. @param {Point[]} points @returns {{ring: Point[], hulled: boolean}} */
export function tidy(points) {
  let ring = points.filter((p, i) => {
    const before = points[(i || points.length) - 1];
    return p[0] !== before[0] || p[1] !== before[1];
  });
  const hulled = crosses(ring);
  if (hulled) ring = hull(ring);
  const area = ring.reduce((sum, p, i) => sum + turn([0, 0], p, ring[(i + 1) % ring.length]), 0);
  return {ring: ring.length < 3 || area === 0 ? [] : ring, hulled};
}
