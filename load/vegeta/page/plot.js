// @ts-check
// Draws the latencies with uPlot. Scale and zoom are in the URL, the theme in the browser.
(() => {
'use strict';
/** @type {{attack: string, ok: boolean, results: number, max: number, x: number[], y: number[]}[]} */
const series = JSON.parse(document.getElementById('data')?.textContent || '[]');
const root = document.documentElement;
const $ = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const chart = $('chart');
const color = (/** @type {string} */ name) => getComputedStyle(root).getPropertyValue('--' + name).trim();
const attacks = [...new Set(series.map(s => s.attack))];
const fillOf = (/** @type {any} */ s) => color('s' + (attacks.indexOf(s.attack) % 5 + 1));
const strokeOf = (/** @type {any} */ s) => s.ok ? fillOf(s) : color('bad');

// numbers: three digits, the whole part never cut
const print = (/** @type {number} */ v) => {
  const places = v >= 99.95 ? 0 : v >= 9.995 ? 1 : v >= 0.9995 ? 2 : 3;
  return v.toLocaleString('en', { minimumFractionDigits: places, maximumFractionDigits: places });
};
const seconds = (/** @type {number} */ s) => s.toLocaleString('en', { minimumFractionDigits: 3, maximumFractionDigits: 3 }) + ' s';
const count = (/** @type {number} */ n) => n.toLocaleString('en');

// state in the URL
const state = new URLSearchParams(location.search);
let linear = state.get('lat') === 'lin';
const number = (/** @type {string} */ key) => state.has(key) && Number.isFinite(Number(state.get(key))) ? Number(state.get(key)) : null;
let from = number('from'), to = number('to');
const keep = () => {
  const q = new URLSearchParams();
  if (linear) q.set('lat', 'lin');
  if (from != null && to != null) { q.set('from', String(from)); q.set('to', String(to)); }
  const text = q.toString();
  try { history.replaceState(null, '', location.pathname + (text ? '?' + text : '') + location.hash); } catch { /* a sandboxed page may not */ }
};

// legend: also the readout
const legend = series.map((s, i) => {
  const li = document.createElement('li'), b = document.createElement('button');
  b.type = 'button';
  b.setAttribute('aria-pressed', 'true');
  if (!s.ok) b.className = 'bad';
  const part = (/** @type {string} */ cls, /** @type {string} */ text) => {
    const e = document.createElement('span');
    e.className = cls; e.textContent = text;
    return e;
  };
  const key = part('k', ''), value = part('v', '');
  const name = part('n', (s.attack ? s.attack + ': ' : '') + (s.ok ? 'OK' : 'ERROR'));
  name.append(part('', count(s.results)));
  b.append(key, name, value);
  b.addEventListener('click', () => {
    const on = b.getAttribute('aria-pressed') === 'false';
    b.setAttribute('aria-pressed', String(on));
    plot.setSeries(i + 1, { show: on });
  });
  li.append(b);
  $('legend').append(li);
  return { key, value };
});
const read = (/** @type {any} */ u) => {
  const idx = u?.cursor.idx;
  $('at').textContent = idx == null ? 'largest' : 'at ' + seconds(u.data[0][idx]);
  series.forEach((s, i) => {
    const at = u?.cursor.idxs?.[i + 1];
    legend[i].value.textContent = idx == null ? print(s.max) : at == null ? '–' : print(u.data[i + 1][at]);
  });
};

// chart
const all = Math.max(...series.flatMap(s => s.x[s.x.length - 1]), 0.001);
const data = series.length === 1 ? [series[0].x, series[0].y] : uPlot.join(series.map(s => [s.x, s.y]));
const nearest = (/** @type {any} */ u, /** @type {number} */ k, /** @type {number} */ at) => {
  // The series do not share their times: the point of each that is next to the cursor, within 12 pixels.
  const xs = u.data[0], ys = u.data[k];
  const left = (/** @type {number} */ i) => Math.abs(u.valToPos(xs[i], 'x') - u.cursor.left);
  let lo = at, hi = at;
  while (lo >= 0 && ys[lo] == null) lo--;
  while (hi < ys.length && ys[hi] == null) hi++;
  const best = lo < 0 ? hi : hi >= ys.length ? lo : left(lo) <= left(hi) ? lo : hi;
  return ys[best] != null && left(best) <= 12 ? best : null;
};
const font = '11px ' + getComputedStyle(document.body).fontFamily;
const tick = (/** @type {number} */ v) => v.toLocaleString('en', { maximumFractionDigits: 6 });
// Of a log scale, lines at 1, 10, 100; those between them are noise.
const decades = (/** @type {any} */ _, /** @type {number[]} */ vs) => linear ? vs : vs.map(v => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9 ? v : null);
const size = () => ({ width: chart.clientWidth, height: Math.max(280, Math.min(560, Math.round(innerHeight * 0.62))) });
const options = () => ({
  ...size(),
  legend: { show: false },
  cursor: {
    drag: { x: true, y: false },
    dataIdx: nearest,
    points: { size: 8 },
  },
  scales: {
    x: { time: false, range: (/** @type {any} */ _, /** @type {number} */ lo, /** @type {number} */ hi) => /** @type {[number, number]} */ ([lo, hi]) },
    y: linear ? { range: (/** @type {any} */ _, /** @type {number} */ __, /** @type {number} */ hi) => [0, (hi || 1) * 1.05] } : { distr: 3, log: 10 },
  },
  axes: [
    { stroke: color('fg3'), font, grid: { show: false }, ticks: { stroke: color('line'), size: 4 }, values: (/** @type {any} */ _, /** @type {number[]} */ vs) => vs.map(v => tick(v) + ' s') },
    { stroke: color('fg3'), font, size: 64, filter: decades, grid: { stroke: color('line'), width: 1, filter: decades }, ticks: { show: false }, values: (/** @type {any} */ _, /** @type {(number|null)[]} */ vs) => vs.map(v => v == null ? null : tick(v)) },
  ],
  series: [{}, ...series.map((s, i) => ({
    stroke: strokeOf(s), width: 1,
    paths: () => null,
    show: legend[i].value.parentElement?.getAttribute('aria-pressed') !== 'false',
    points: { show: true, size: s.ok ? 3 : 7, width: s.ok ? 0 : 2, fill: fillOf(s), stroke: strokeOf(s) },
  }))],
  hooks: {
    setCursor: [read],
    setScale: [(/** @type {any} */ u, /** @type {string} */ key) => {
      if (key !== 'x') return;
      const { min, max } = u.scales.x;
      const whole = min <= 0 && max >= all;
      from = whole ? null : Number(min.toFixed(6)); to = whole ? null : Number(max.toFixed(6));
      /** @type {HTMLButtonElement} */ ($('all')).disabled = whole;
      keep();
    }],
  },
});
/** @type {any} */
let plot;
const zoom = (/** @type {number} */ min, /** @type {number} */ max) => plot.setScale('x', { min, max });
const draw = () => {
  const a = from, b = to;
  plot?.destroy();
  series.forEach((s, i) => { legend[i].key.style.background = fillOf(s); legend[i].key.style.borderColor = strokeOf(s); });
  $('scale').textContent = linear ? 'latency: linear' : 'latency: log';
  plot = new uPlot(options(), data, chart);
  if (a != null && b != null && b > a) zoom(a, b); else zoom(0, all);
  read(null);
};

// controls
const toggle = () => { linear = !linear; keep(); draw(); };
$('scale').addEventListener('click', toggle);
$('all').addEventListener('click', () => zoom(0, all));
chart.addEventListener('dblclick', () => zoom(0, all));
chart.addEventListener('mouseleave', () => read(null));
addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'l') toggle(); else if (e.key === 'Escape') zoom(0, all);
});
addEventListener('resize', () => plot.setSize(size()));

// theme: the only thing that stays in the browser
const themes = ['auto', 'light', 'dark'];
const paint = (/** @type {string} */ t) => {
  if (t === 'auto') delete root.dataset.theme; else root.dataset.theme = t;
  $('theme').textContent = 'theme: ' + t;
};
const kept = () => { try { return localStorage.getItem('kasoku-theme'); } catch { return null; } };
paint(kept() || 'auto');
$('theme').addEventListener('click', () => {
  const next = themes[(themes.indexOf(root.dataset.theme || 'auto') + 1) % 3];
  paint(next);
  try { localStorage.setItem('kasoku-theme', next); } catch { /* a file may not */ }
  draw();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
draw();
})();
