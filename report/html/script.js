// @ts-check
// The page reads without this script; it adds the cursor, keys, theme and copying.
(() => {
'use strict';
const root = document.documentElement;
root.classList.add('js');
const $$ = (/** @type {string} */ s, /** @type {ParentNode} */ p = document) => [...p.querySelectorAll(s)];

// theme: the only thing that stays in the browser
const themes = ['auto', 'light', 'dark'];
const button = document.getElementById('theme');
const paint = (/** @type {string} */ t) => {
  if (t === 'auto') delete root.dataset.theme; else root.dataset.theme = t;
  if (button) button.textContent = 'theme: ' + t;
};
const kept = () => { try { return localStorage.getItem('kasoku-theme'); } catch { return null; } };
if (!root.dataset.theme) paint(kept() || 'auto'); else paint(root.dataset.theme);
button?.addEventListener('click', () => {
  const next = themes[(themes.indexOf(root.dataset.theme || 'auto') + 1) % 3];
  paint(next);
  try { localStorage.setItem('kasoku-theme', next); } catch { /* a file may not */ }
});

// numbers, as the rest of the page prints them
const fixed = (/** @type {number} */ v, /** @type {number} */ n) => v.toLocaleString('en', { minimumFractionDigits: n, maximumFractionDigits: n });
const print = (/** @type {number|null} */ v, /** @type {number} */ places, /** @type {string} */ suffix) => {
  if (v == null) return '–';
  if (v === 0) return '0' + suffix;
  if (places >= 0) return (v < 0.5 / 10 ** places ? '< ' + fixed(1 / 10 ** places, places) : fixed(v, places)) + suffix;
  return fixed(v, v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2) + suffix;
};

// one cursor for all charts, in seconds since the start of the run
/** @type {number|null} */
let cursor = null;
/** @type {{ax: Element, data: any}[]} */
let lines = [];
let longest = 0;
const hash = (/** @type {string} */ h) => { try { history.replaceState(null, '', location.pathname + location.search + h); } catch { /* a sandboxed page may not */ } };
const show = (/** @type {number|null} */ t) => {
  cursor = t;
  for (const { ax, data } of lines) {
    const i = t == null ? null : Math.floor(t / data.column);
    const inside = t != null && t < data.seconds;
    $$('.rv', ax).forEach((e, k) => {
      const s = data.series[k];
      e.textContent = t == null ? s.peak : print(inside ? s.values[/** @type {number} */ (i)] : null, s.places, s.suffix);
    });
    $$('.cur', ax).forEach(c => {
      const e = /** @type {HTMLElement} */ (c);
      e.style.display = inside ? 'block' : 'none';
      if (inside) e.style.left = Math.min(100, (/** @type {number} */ (i) + 0.5) * data.column / data.seconds * 100) + '%';
    });
    const at = ax.querySelector('.at');
    if (at) at.textContent = t == null ? 'values: peak' : 'values at ' + clock(data.start + t) + ', ' + t + ' s';
  }
};
const clock = (/** @type {number} */ s) => [s / 3600 % 24, s / 60 % 60, s % 60].map(x => String(Math.floor(x)).padStart(2, '0')).join(':');
const move = (/** @type {number|null} */ t) => {
  show(t == null ? null : Math.max(0, Math.min(longest - 1, t)));
  hash(cursor == null ? location.hash.replace(/^#t=\d+$/, '') : '#t=' + cursor);
};
const point = (/** @type {PointerEvent} */ e, /** @type {any} */ data) => {
  const p = /** @type {Element} */ (e.target).closest('.p');
  if (!p) return;
  const r = p.getBoundingClientRect();
  move(Math.max(0, Math.min(data.seconds - 1, Math.floor((e.clientX - r.left) / r.width * data.seconds))));
};
const charts = (/** @type {ParentNode} */ part) => {
  lines = lines.filter(l => l.ax.isConnected);
  for (const ax of $$('.ax', part)) chart(ax, JSON.parse(part.querySelector('#' + ax.id + '-data')?.textContent || '{}'));
  longest = Math.max(0, ...lines.map(l => l.data.seconds));
};
const chart = (/** @type {Element} */ ax, /** @type {any} */ data) => {
  lines.push({ ax, data });
  const e = /** @type {HTMLElement} */ (ax);
  e.addEventListener('pointermove', x => point(x, data));
  e.addEventListener('pointerdown', x => point(x, data));
  e.addEventListener('pointerleave', () => move(null));
  e.addEventListener('keydown', x => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[x.key];
    if (step) move(cursor == null ? data.first : cursor + step * data.column * (x.shiftKey ? 10 : 1));
    else if (x.key === 'Home') move(0);
    else if (x.key === 'End') move(longest - 1);
    else return;
    x.preventDefault();
  });
};

// linear or logarithmic latency
const linear = (/** @type {boolean} */ on) => { if (on) root.dataset.lat = 'lin'; else delete root.dataset.lat; };
linear(new URLSearchParams(location.search).get('lat') === 'lin');

// findings by link and by number
const open = () => {
  const d = /^#[af]\d+$/.test(location.hash) && document.querySelector(location.hash);
  if (d instanceof HTMLDetailsElement) d.open = true;
};
addEventListener('hashchange', open);
open();
addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Escape') move(null);
  else if (e.key === 'l') linear(root.dataset.lat !== 'lin');
  else if (/^[1-9]$/.test(e.key) && document.getElementById('f' + e.key)) location.hash = '#f' + e.key;
});
addEventListener('beforeprint', () => $$('details').forEach(d => d.setAttribute('open', '')));

// tables sorted by the column whose head is pressed, again the other way round; the
// address keeps it
const asked = () => new URLSearchParams(location.search);
const sortable = (/** @type {HTMLTableElement} */ table) => {
  const sorted = asked().get('sort') || '';
  const body = table.tBodies[0];
  const heads = /** @type {HTMLTableCellElement[]} */ ($$('thead th', table));
  const sort = (/** @type {number} */ k, /** @type {boolean} */ most) => {
    const value = (/** @type {HTMLTableRowElement} */ r) => r.cells[k].dataset.v ?? r.cells[k].textContent ?? '';
    const number = body.rows[0]?.cells[k].dataset.v != null;
    const rows = [...body.rows].map(r => ({ r, v: value(r) }));
    rows.sort((a, b) => {
      if (number && (a.v === '' || b.v === '')) return +(a.v === '') - +(b.v === '');
      const c = number ? +a.v - +b.v : a.v < b.v ? -1 : +(a.v > b.v);
      return most ? -c : c;
    });
    body.append(...rows.map(x => x.r));
    for (const h of heads) h.removeAttribute('aria-sort');
    heads[k].setAttribute('aria-sort', most ? 'descending' : 'ascending');
  };
  heads.forEach((h, k) => {
    if (!h.dataset.key) return;
    const b = document.createElement('button');
    b.type = 'button';
    b.append(...h.childNodes);
    h.append(b);
    b.addEventListener('click', () => {
      const was = h.getAttribute('aria-sort');
      const most = was ? was === 'ascending' : body.rows[0]?.cells[k].dataset.v != null;
      sort(k, most);
      const to = asked();
      to.set('sort', (most ? '-' : '') + h.dataset.key);
      try { history.replaceState(history.state, '', '?' + to + location.hash); } catch { /* a sandboxed page may not */ }
    });
    if (sorted.replace(/^-/, '') === h.dataset.key) sort(k, sorted.startsWith('-'));
  });
};

const copying = (/** @type {Element} */ b) => b.addEventListener('click', () => {
  const code = b.parentElement?.nextElementSibling;
  const text = $$('[data-code]', code || document).map(l => l.getAttribute('data-code')).join('\n') || code?.textContent || '';
  navigator.clipboard?.writeText(text).then(() => { b.textContent = 'copied'; setTimeout(() => { b.textContent = 'copy'; }, 1200); }, () => { });
});

// flame graphs: a frame widened to the whole, and frames found by name
const flame = (/** @type {SVGSVGElement} */ graph) => {
  const frames = /** @type {SVGSVGElement[]} */ ([...graph.children]).map(e => ({
    e, x: parseFloat(e.getAttribute('x') || '0'), w: parseFloat(e.getAttribute('width') || '0'), title: e.querySelector('title')?.textContent || '',
  }));
  const zoom = (/** @type {number} */ x0, /** @type {number} */ w0) => {
    for (const f of frames) {
      const from = Math.max(0, (f.x - x0) / w0 * 100), to = Math.min(100, (f.x + f.w - x0) / w0 * 100);
      f.e.style.display = to - from > 1e-6 ? '' : 'none';
      if (to - from <= 1e-6) continue;
      f.e.setAttribute('x', from + '%');
      f.e.setAttribute('width', to - from + '%');
      if (to - from > 2.5 && !f.e.querySelector('text')) {
        const text = document.createElementNS(graph.namespaceURI, 'text');
        text.setAttribute('x', '5');
        text.setAttribute('y', '13');
        text.textContent = f.title.split('\n')[0];
        f.e.append(text);
      }
    }
    graph.classList.toggle('zoomed', w0 < 100);
  };
  const focus = (/** @type {any} */ f) => {
    if (f.w < 100) zoom(f.x, f.w); else zoom(0, 100);
  };
  for (const f of frames) {
    f.e.setAttribute('tabindex', '0');
    f.e.addEventListener('click', () => focus(f));
    f.e.addEventListener('keydown', e => { if (e.key === 'Enter') focus(f); });
  }
  graph.closest('details')?.addEventListener('keydown', e => {
    if (e.key === 'Escape' && graph.classList.contains('zoomed')) { zoom(0, 100); e.stopPropagation(); }
  });
  const input = /** @type {HTMLInputElement|null} */ (graph.closest('details')?.querySelector('.seek') || null);
  const said = graph.closest('details')?.querySelector('[role=status]');
  input?.addEventListener('input', () => {
    const word = input.value.toLowerCase();
    let n = 0;
    for (const f of frames) {
      const hit = word !== '' && f.title.toLowerCase().includes(word);
      f.e.classList.toggle('hit', hit);
      n += +hit;
    }
    graph.classList.toggle('seeking', word !== '');
    if (said) said.textContent = word ? n + (n === 1 ? ' frame' : ' frames') : '';
  });
};

// what scrolls sideways can be scrolled by keys
const scrolling = (/** @type {ParentNode} */ part) => {
  for (const e of $$('.tw, pre, .q', part)) {
    if (e.scrollWidth > e.clientWidth) e.setAttribute('tabindex', '0'); else if (!e.matches('.q')) e.removeAttribute('tabindex');
  }
};
addEventListener('resize', () => scrolling(document));
$$('details').forEach(d => d.addEventListener('toggle', () => scrolling(d)));

// a part of a page that came later is made like the rest
const enhance = (/** @type {ParentNode} */ part) => {
  charts(part);
  scrolling(part);
  $$('table[data-sort]', part).forEach(t => sortable(/** @type {HTMLTableElement} */ (t)));
  $$('.copy', part).forEach(copying);
  $$('svg.flame', part).forEach(g => flame(/** @type {any} */ (g)));
};
enhance(document);
Object.assign(globalThis, { kasokuPage: { enhance, show: () => show(cursor), clock } });

const t = location.hash.match(/^#t=(\d+)$/);
if (t && lines.length) show(Math.min(longest - 1, +t[1]));
})();
