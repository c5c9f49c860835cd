// @ts-check
// From a stroke of the pointer to a ring that the search takes: closed, without
// crossings. Points are [x, y] of any plane.

/** turn is positive if a, b, c turn left. */
const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

/** crossing returns where the lines a–b and c–d cross between their ends, or null. */
function crossing(a, b, c, d) {
  const from = turn(c, d, a), to = turn(c, d, b);
  if (from * to >= 0 || turn(a, b, c) * turn(a, b, d) >= 0) return null;
  const share = from / (from - to);
  return [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])];
}

/** simplify leaves out what is within a tolerance of the line of the others (Douglas and Peucker, 1973). */
export function simplify(points, tolerance) {
  const a = points[0], b = points[points.length - 1];
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
  let far = 0, most = tolerance;
  points.forEach((p, i) => {
    const off = length > 0 ? Math.abs(turn(a, b, p)) / length : Math.hypot(p[0] - a[0], p[1] - a[1]);
    if (off > most) [far, most] = [i, off];
  });
  if (far === 0) return [a, b];
  return [...simplify(points.slice(0, far + 1), tolerance).slice(0, -1), ...simplify(points.slice(far), tolerance)];
}

/** loop cuts off the ends of a stroke that goes on past its own beginning. */
export function loop(stroke) {
  for (let span = stroke.length - 2; span > stroke.length / 2; span--) {
    for (let i = 0; i + span + 1 < stroke.length; i++) {
      const at = crossing(stroke[i], stroke[i + 1], stroke[i + span], stroke[i + span + 1]);
      if (at) return [at, ...stroke.slice(i + 1, i + span + 1)];
    }
  }
  return stroke;
}

/** crosses reports whether a ring crosses itself. */
function crosses(ring) {
  const next = i => ring[(i + 1) % ring.length];
  return ring.some((a, i) => ring.some((b, j) => j > i && crossing(a, next(i), b, next(j))));
}

/** hull is the convex ring around points (Andrew's monotone chain, 1979). */
function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = side => {
    const out = [];
    for (const p of side) {
      while (out.length > 1 && turn(out[out.length - 2], out[out.length - 1], p) <= 0) out.pop();
      out.push(p);
    }
    return out.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** tidy drops repeated points. A ring that crosses itself becomes its hull, one without an area nothing. */
export function tidy(points) {
  let ring = points.filter((p, i) => String(p) !== String(points[(i || points.length) - 1]));
  const hulled = crosses(ring);
  if (hulled) ring = hull(ring);
  const area = ring.reduce((sum, p, i) => sum + turn(ring[0], p, ring[(i + 1) % ring.length]), 0);
  return {ring: Math.abs(area) < 1e-9 ? [] : ring, hulled};
}
