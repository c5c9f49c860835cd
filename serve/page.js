// @ts-check
// What a page of a server can do more than a file: it asks again. For the seconds under the brush, for one endpoint
// or statement, for what came since. What the server sends is made by its templates, as the page itself was.
(() => {
'use strict';
/** @type {{enhance: (part: ParentNode) => void, show: () => void, clock: (s: number) => string}} */
const page = /** @type {any} */ (globalThis).kasokuPage;
const $ = (/** @type {string} */ s, /** @type {ParentNode} */ p = document) => /** @type {HTMLElement|null} */ (p.querySelector(s));
const $$ = (/** @type {string} */ s, /** @type {ParentNode} */ p = document) => /** @type {HTMLElement[]} */ ([...p.querySelectorAll(s)]);
const make = (/** @type {string} */ name, /** @type {string} */ text = '', /** @type {Record<string, string>} */ attributes = {}) => {
  const e = document.createElement(name);
  e.textContent = text;
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  return e;
};
const main = /** @type {HTMLElement} */ ($('main'));
const run = main.dataset.run || '';
const address = run && '/runs/' + encodeURIComponent(run);
const length = () => +(main.dataset.length || 0);

// Places stand in an attribute: the policy of these pages refuses style that comes as text.
const place = (/** @type {ParentNode} */ part) => $$('[data-css]', part).forEach(e => { e.style.cssText = e.dataset.css || ''; });

// ---- the address holds what is seen
const query = () => new URLSearchParams(location.search);
const keep = (/** @type {Record<string, string>} */ change, /** @type {boolean} */ step = false) => {
  const q = query();
  for (const [k, v] of Object.entries(change)) if (v) q.set(k, v); else q.delete(k);
  const to = location.pathname + (q.size ? '?' + q : '') + location.hash;
  if (step) history.pushState(null, '', to); else history.replaceState(history.state, '', to);
};

// ---- asking
/** @type {Map<string, AbortController>} */
const under = new Map();
// ask returns what the server sends, null when a later question of the same kind was asked meanwhile.
const ask = async (/** @type {string} */ kind, /** @type {string} */ url) => {
  under.get(kind)?.abort();
  const stop = new AbortController();
  under.set(kind, stop);
  try {
    const answer = await fetch(url, { signal: stop.signal });
    const text = await answer.text();
    const doc = new DOMParser().parseFromString(text, 'text/html');
    if (!answer.ok) throw new Error((doc.querySelector('h1')?.textContent || answer.statusText).trim());
    return doc;
  } catch (e) {
    if (stop.signal.aborted) return null;
    throw e;
  }
};
const adopt = (/** @type {Element} */ e) => { const n = /** @type {HTMLElement} */ (document.importNode(e, true)); place(n); return n; };

// ---- rows lead on, tables are filtered and folded
const most = 12;
const tables = (/** @type {ParentNode} */ part) => {
  for (const row of /** @type {HTMLTableRowElement[]} */ ($$('tr[data-key]', part))) {
    const key = row.dataset.key || '';
    const cell = row.cells[0];
    if (!cell) continue;
    if (key.startsWith('r=')) { runRow(row, key.slice(2).split(',')); continue; }
    if (!run) continue;
    const b = make('button', '', { type: 'button', class: 'lead' });
    b.append(...[...cell.childNodes].filter(n => n.nodeName !== 'SMALL'));
    cell.prepend(b);
    b.addEventListener('click', () => { keep({ f: key }, true); drawer(b); });
  }
  for (const table of /** @type {HTMLTableElement[]} */ ($$('table[data-sort]', part))) fold(table);
};
const fold = (/** @type {HTMLTableElement} */ table) => {
  const rows = [...table.tBodies[0].rows];
  if (rows.length <= most) return;
  const box = make('div', '', { class: 'find' });
  const input = /** @type {HTMLInputElement} */ (make('input', '', { type: 'search', placeholder: 'filter', 'aria-label': 'filter ' + (table.dataset.sort || 'rows') }));
  const all = make('button', '', { type: 'button' });
  const said = make('span', '', { role: 'status' });
  box.append(input, all, said);
  table.closest('.tw')?.before(box);
  let open = false;
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0, found = 0;
    for (const r of table.tBodies[0].rows) {
      const text = (r.textContent || '').toLowerCase();
      const hit = words.every(w => text.includes(w));
      found += +hit;
      r.hidden = !hit || (!open && shown >= most);
      shown += +!r.hidden;
    }
    all.textContent = open ? 'show ' + most : 'show all ' + found;
    all.hidden = found <= most;
    said.textContent = found ? (words.length ? found + ' of ' + rows.length : '') : 'Nothing matches.';
  };
  input.addEventListener('input', () => { apply(); keep({ q: input.value }); });
  all.addEventListener('click', () => { open = !open; apply(); });
  table.addEventListener('click', e => { if (/** @type {Element} */ (e.target).closest('th')) apply(); });
  input.value = query().get('q') || '';
  apply();
};

// ---- home: two ticks compare
/** @type {string[]} */
let ticked = [];
const runRow = (/** @type {HTMLTableRowElement} */ row, /** @type {string[]} */ runs) => {
  const cell = row.cells[1] || row.cells[0];
  const link = make('a', '', { href: '/runs/' + encodeURIComponent(runs[runs.length - 1]) });
  link.append(...[...cell.childNodes].filter(n => n.nodeName !== 'SMALL'));
  const name = link.textContent || runs.join(',');
  cell.prepend(link);
  const box = /** @type {HTMLInputElement} */ (make('input', '', { type: 'checkbox', 'aria-label': 'compare ' + name }));
  row.cells[0].prepend(box);
  box.addEventListener('change', () => {
    const key = runs.join(',');
    ticked = box.checked ? [...ticked, key] : ticked.filter(k => k !== key);
    for (const b of /** @type {HTMLInputElement[]} */ ($$('tr[data-key] input[type=checkbox]'))) b.disabled = ticked.length >= 2 && !b.checked;
    pair();
  });
};
const pair = () => {
  let bar = $('.pair');
  if (!bar) { bar = make('p', '', { class: 'pair', role: 'status' }); $('table')?.closest('.tw')?.before(bar); }
  bar.replaceChildren();
  if (ticked.length === 1) bar.textContent = 'Tick a second one to compare.';
  if (ticked.length !== 2) return;
  const order = $$('tr[data-key]').map(r => (r.dataset.key || '').slice(2)); // the newest first
  const [b, a] = [...ticked].sort((x, y) => order.indexOf(y) - order.indexOf(x));
  bar.append(make('a', 'Compare ' + brief(b) + ' → ' + brief(a), { href: '/compare?' + new URLSearchParams({ a: b, b: a }) }));
};
const brief = (/** @type {string} */ names) => { const n = names.split(','); return n.length > 1 ? n[0] + ' and ' + (n.length - 1) + ' more' : n[0]; };

// ---- one brush over all charts
/** @type {{t: number[]|null, b: number[]|null}} */
const brush = { t: null, b: null };
const text = (/** @type {number[]|null} */ s) => s ? s[0] + '-' + s[1] : '';
const parse = (/** @type {string|null} */ s) => { const m = /^(\d+)-(\d+)$/.exec(s || ''); return m && +m[1] < +m[2] ? [+m[1], +m[2]] : null; };
const form = () => /** @type {HTMLFormElement|null} */ ($('form.brush'));
const paint = () => {
  for (const p of $$('.ax > .p[role=img]')) {
    for (const side of /** @type {('t'|'b')[]} */ (['t', 'b'])) {
      let band = $('.sel-' + side, p);
      const s = brush[side];
      if (!s) { band?.remove(); continue; }
      if (!band) { band = make('div', '', { class: 'sel-' + side }); p.append(band); }
      band.style.left = 100 * s[0] / length() + '%';
      band.style.width = 100 * Math.min(s[1] - s[0], length() - s[0]) / length() + '%';
    }
  }
  for (const a of /** @type {HTMLAnchorElement[]} */ ($$('[data-start] a'))) { // to pages of others, of the same seconds
    const start = +(a.parentElement?.dataset.start || 0), [from, to] = brush.t || [0, length()];
    a.href = Object.entries({ from: start + 1e3 * from, to: start + 1e3 * to }).reduce((h, [word, ms]) =>
      h.replaceAll(`{${word}_ms}`, String(ms)).replaceAll(`{${word}_s}`, String(Math.floor(ms / 1e3))), a.dataset.at || '');
  }
  const f = form();
  if (!f) return;
  const said = $('.sel', f);
  if (said) {
    said.textContent = !brush.t ? 'Drag over the charts, with Shift for a second stretch to compare with.'
      : brush.b ? 'B, ' + brush.b[0] + ' to ' + brush.b[1] + ' s → A, ' + brush.t[0] + ' to ' + brush.t[1] + ' s' : 'Tables below are of ' + brush.t[0] + ' to ' + brush.t[1] + ' s. Shift-drag compares.';
  }
  f.classList.toggle('on', !!brush.t);
  if (brush.t && !f.contains(document.activeElement)) { f.from.value = brush.t[0]; f.to.value = brush.t[1]; }
  if (!brush.t && !f.contains(document.activeElement)) { f.from.value = f.to.value = ''; }
};
/** @type {Map<string, HTMLElement>} */
const whole = new Map(); // the sections of the whole run, while those of a stretch stand in their place
const sectionOf = (/** @type {string} */ id) => $('#' + id)?.closest('section');
const parts = ['endpoints', 'queries', 'messages'];
const restore = () => {
  for (const [id, s] of whole) sectionOf(id)?.replaceWith(s);
  whole.clear();
};
const select = async () => {
  keep({ t: text(brush.t), b: text(brush.b) });
  paint();
  const status = $('form.brush [role=status]');
  if (!brush.t) { under.get('part')?.abort(); restore(); if (status) status.textContent = ''; return; }
  performance.mark('select');
  try {
    const doc = await ask('part', address + '/part?' + new URLSearchParams({ t: text(brush.t), ...(brush.b && { b: text(brush.b) }) }));
    if (!doc) return;
    for (const id of parts) {
      const old = sectionOf(id);
      const fresh = doc.getElementById(id)?.closest('section');
      if (!old) continue;
      if (!whole.has(id)) whole.set(id, old);
      let next;
      if (fresh) next = adopt(fresh);
      else {
        next = make('section', '', { 'aria-labelledby': id });
        next.append(make('h2', (/** @type {HTMLElement} */ (whole.get(id)).querySelector('h2')?.textContent || ''), { id }), make('p', 'Nothing of it in these seconds.', { class: 'para d' }));
      }
      old.replaceWith(next);
      page.enhance(next);
      tables(next);
    }
    if (status) status.textContent = '';
    performance.measure('brush to tables', 'select');
  } catch (e) { if (status) status.textContent = e instanceof Error ? e.message : String(e); }
};
const brushing = (/** @type {HTMLElement} */ ax) => {
  /** @type {{side: 't'|'b', from: number, moved: boolean}|null} */
  let drag = null;
  const at = (/** @type {PointerEvent} */ e) => {
    const p = $('.p[role=img]', ax);
    if (!p) return 0;
    const r = p.getBoundingClientRect();
    return Math.max(0, Math.min(length(), (e.clientX - r.left) / r.width * length()));
  };
  const cover = (/** @type {number} */ a, /** @type {number} */ b) => {
    const from = Math.min(Math.floor(Math.min(a, b)), length() - 1);
    return [Math.max(0, from), Math.max(from + 1, Math.ceil(Math.max(a, b)))];
  };
  ax.addEventListener('pointerdown', e => {
    if (e.button !== 0 || !run || main.hasAttribute('data-running') || !(/** @type {Element} */ (e.target).closest('.p[role=img]'))) return;
    drag = { side: e.shiftKey ? 'b' : 't', from: at(e), moved: false };
    ax.setPointerCapture(e.pointerId);
    e.preventDefault();
  });
  ax.addEventListener('pointermove', e => {
    if (!drag) return;
    const now = at(e);
    if (!drag.moved && Math.abs(now - drag.from) * ax.clientWidth / Math.max(1, length()) < 4) return;
    drag.moved = true;
    const s = cover(drag.from, now);
    if (drag.side === 'b' && !brush.t) brush.t = s; else brush[drag.side] = s;
    paint();
  });
  const end = () => { const was = drag; drag = null; if (was?.moved) void select(); };
  ax.addEventListener('pointerup', end);
  ax.addEventListener('pointercancel', end);
};
const brushForm = () => {
  const f = form();
  if (!f) return;
  sectionOf('time')?.before(f);
  f.addEventListener('submit', e => {
    e.preventDefault();
    const s = parse(f.from.value.trim() + '-' + f.to.value.trim());
    const status = $('[role=status]', f);
    if (!s) { if (status) status.textContent = 'whole seconds, the first below the last'; return; }
    brush.t = s;
    void select();
  });
  f.addEventListener('reset', () => { brush.t = brush.b = null; void select(); });
};

// ---- the drawer: an endpoint or a statement beside the page
const drawer = async (/** @type {HTMLElement|null} */ from = null) => {
  const key = query().get('f') || '';
  let aside = $('aside');
  if (!key || !run) {
    if (aside) { const back = aside.dataset.from; aside.remove(); document.documentElement.classList.remove('beside'); if (back) $(`tr[data-key="${CSS.escape(back)}"] button.lead`)?.focus(); }
    return;
  }
  if (!aside) { aside = make('aside', '', { 'aria-label': 'Details' }); document.body.append(aside); }
  document.documentElement.classList.add('beside');
  dispatchEvent(new Event('resize')); // what has less room now may scroll
  aside.dataset.from = key;
  aside.replaceChildren(close(), make('p', 'asking', { class: 'd' }));
  const [kind] = key.split('=', 1);
  try {
    const doc = await ask('focus', address + '/focus?' + new URLSearchParams({ [kind]: key.slice(kind.length + 1) }));
    if (!doc) return;
    const inner = doc.querySelector('.drawer');
    aside.replaceChildren(close(), ...(inner ? [adopt(inner)] : []));
    for (const e of $$('[id]', aside)) if (/^f\d+$/.test(e.id)) e.id = 'focus-' + e.id; // those of the page keep their address
    page.enhance(aside);
    tables(aside);
    void marks();
    if (from) $('h2', aside)?.focus();
  } catch (e) { aside.replaceChildren(close(), make('p', e instanceof Error ? e.message : String(e), { class: 'alert' })); }
};
const close = () => {
  const b = make('button', 'close', { type: 'button', class: 'shut' });
  b.addEventListener('click', () => { keep({ f: '' }, true); void drawer(); });
  return b;
};

// ---- what a person adds: a score, a note
const edits = () => {
  for (const f of /** @type {HTMLFormElement[]} */ ($$('form.edit[data-run]'))) {
    f.addEventListener('submit', async e => {
      e.preventDefault();
      const said = $('[role=status]', f);
      try {
        for (const input of /** @type {HTMLInputElement[]} */ ($$('input', f))) {
          if (input.value === input.defaultValue) continue;
          const answer = await fetch('/api/v1/runs/' + encodeURIComponent(f.dataset.run || '') + '/' + input.name, { method: 'POST', body: new URLSearchParams({ [input.name]: input.value }) });
          if (!answer.ok) throw new Error((await answer.json()).detail);
          input.defaultValue = input.value;
        }
        if (said) said.textContent = 'saved';
        await renew();
      } catch (x) { if (said) said.textContent = x instanceof Error ? x.message : String(x); }
    });
  }
};

// ---- what people say of findings: done, not now; it stays for the runs to come
/** @type {{marks: {finding: string, mark: string}[], allowed: boolean, words: string[]}|null} */
let said = null;
const marks = async () => {
  if (!$('details[data-finding]')) return;
  if (!said) { try { said = await (await fetch('/api/v1/marks')).json(); } catch { return; } }
  if (!said?.marks) return;
  const of = new Map(said.marks.map(m => [m.finding, m.mark]));
  for (const d of $$('details[data-finding]')) {
    const key = d.dataset.finding || '', mark = of.get(key) || '';
    const title = $('summary .t', d);
    $('.mark', d)?.remove();
    if (mark && title) title.append(make('small', mark, { class: 'mark' }));
    d.classList.toggle('marked', !!mark);
    $('.marks', d)?.remove();
    if (!said.allowed) continue;
    const box = make('p', '', { class: 'marks d2' });
    for (const word of said.words) {
      const b = make('button', word, { type: 'button', 'aria-pressed': String(mark === word) });
      b.addEventListener('click', async () => {
        const answer = await fetch('/api/v1/marks', { method: 'POST', body: new URLSearchParams({ finding: key, mark: mark === word ? '' : word }) });
        if (!answer.ok) { box.append(' ' + (await answer.json()).detail); return; }
        said = null;
        await marks();
        /** @type {HTMLElement|undefined} */ ($$('.marks button', d).find(x => x.textContent === word))?.focus();
      });
      box.append(b);
    }
    $('.fb > div:last-child', d)?.append(box);
  }
};

// ---- a run begun here: the button says what it does, and nothing is asked twice
const starts = () => {
  const f = /** @type {HTMLFormElement|null} */ ($('form.start'));
  if (!f) return;
  const said = $('[role=status]', f);
  const send = async (/** @type {string} */ what, /** @type {URLSearchParams} */ body) => {
    try {
      const answer = await fetch('/api/v1/' + what, { method: 'POST', body });
      if (!answer.ok) throw new Error((await answer.json()).detail);
      if (said) said.textContent = what === 'stop' ? 'stopping; what was measured stays' : 'begun';
    } catch (x) { if (said) said.textContent = x instanceof Error ? x.message : String(x); }
  };
  f.addEventListener('submit', e => { e.preventDefault(); void send('start', new URLSearchParams({ label: f.label.value, note: f.note.value })); });
  $('.stop', f)?.addEventListener('click', () => void send('stop', new URLSearchParams()));
};

// ---- what came since
// renew takes over what differs of the page as it is now, part by part: nothing else moves.
const areas = (/** @type {ParentNode} */ m) => new Map([...m.querySelectorAll(':scope > header, :scope > section, :scope > .now, :scope > .start')].map(e => [e.getAttribute('aria-labelledby') || e.tagName + e.className + (e.querySelector('a')?.getAttribute('href') || ''), e]));
// was is how the server sent each part: scripts have changed what stands here since.
/** @type {Map<string, string>} */
const was = new Map([...areas(main)].map(([id, e]) => [id, e.outerHTML]));
const renew = async () => {
  const doc = await ask('page', location.pathname + location.search);
  if (!doc) return;
  const now = /** @type {HTMLElement|null} */ (doc.querySelector("main"));
  if (!now) return;
  if (ticked.length) return; // the reader was faster
  main.dataset.state = now.dataset.state || '';
  if (now.hasAttribute('data-running') !== main.hasAttribute('data-running')) { location.reload(); return; }
  main.dataset.length = now.dataset.length || '';
  document.title = doc.title;
  const open = new Set($$('details[open]', main).map(d => d.id));
  const focused = document.activeElement?.id;
  const had = areas(main);
  /** @type {Element|null} */
  let last = null;
  for (const [id, e] of areas(now)) {
    const old = had.get(id);
    had.delete(id);
    if (old && was.get(id) === e.outerHTML) { last = old; continue; }
    const typed = old && $$('input', old).some(i => /** @type {HTMLInputElement} */ (i).value !== /** @type {HTMLInputElement} */ (i).defaultValue);
    if (typed) { last = old; continue; } // what a person types stays until it is sent
    const next = adopt(e);
    was.set(id, e.outerHTML);
    for (const d of $$('details', next)) if (d.id && open.has(d.id)) d.setAttribute('open', '');
    if (old) old.replaceWith(next); else if (last) last.after(next); else main.prepend(next);
    ready(next);
    last = next;
  }
  for (const old of had.values()) old.remove();
  if (focused) document.getElementById(focused)?.focus();
  page.show();
  if (brush.t && whole.size) { whole.clear(); await select(); } // the tables are of the stretch again
};
const stalled = 4000; // ms without a word, of a run that has one each second
const listen = () => {
  const home = location.pathname === '/' || location.pathname === '/live';
  if (!home && !main.hasAttribute('data-running')) return;
  let heard = Date.now();
  /** @type {EventSource|null} */
  let source = null;
  const later = () => { heard = Date.now(); document.documentElement.classList.remove('stalled'); };
  const news = () => {
    if (location.pathname === '/live') location.reload();
    else if (!ticked.length) void renew().catch(() => {});
  };
  const join = () => {
    source = new EventSource('/api/v1/events?' + new URLSearchParams({ run }));
    source.addEventListener('open', later);
    source.addEventListener('state', e => { // what came before this, or while the line was down
      if (JSON.parse(e.data) !== main.dataset.state) news();
    });
    source.addEventListener('second', e => { later(); if (JSON.parse(e.data).run === run) void renew().catch(() => {}); });
    source.addEventListener('runs', () => { later(); news(); });
    source.addEventListener('error', () => { // a browser asks again but after an answer such as 401
      if (source?.readyState === EventSource.CLOSED) setTimeout(() => { if (!document.hidden) join(); }, 5000);
    });
  };
  // A browser has six connections to a server at most: a page that no one sees keeps none.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) { source?.close(); return; }
    heard = Date.now();
    join();
  });
  if (!document.hidden) join();
  if (run) setInterval(() => {
    const lost = !document.hidden && Date.now() - heard > stalled;
    document.documentElement.classList.toggle('stalled', lost);
    let said = $('.stall');
    if (!lost) { said?.remove(); return; }
    if (!said) { said = make('p', '', { class: 'alert stall', role: 'status' }); $('header', main)?.prepend(said); }
    said.textContent = 'No data for ' + Math.round((Date.now() - heard) / 1000) + ' s, retrying.';
  }, 1000);
};

const ready = (/** @type {ParentNode} */ part) => {
  page.enhance(part);
  tables(part);
  $$('.ax', part).forEach(brushing);
  if (part instanceof Element && part.matches('.start')) starts();
  void marks();
  paint();
};

// ---- keys
const neighbour = async (/** @type {number} */ by) => {
  if (!run) return;
  const all = (await (await fetch('/api/v1/runs')).json()).runs.filter((/** @type {any} */ r) => !r.error)
    .sort((/** @type {any} */ a, /** @type {any} */ b) => a.started < b.started ? -1 : 1)
    .map((/** @type {any} */ r) => r.path.replace(/^.*\//, '').replace(/\.kasoku$/, ''));
  const to = all[all.indexOf(run) + by];
  if (to) location.href = '/runs/' + encodeURIComponent(to);
};
addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(/** @type {Element} */ (e.target).tagName)) {
    if (e.key === 'Escape') /** @type {HTMLElement} */ (e.target).blur();
    return;
  }
  if (e.key === '/') { const f = $('.find input'); if (f) { e.preventDefault(); f.focus(); f.scrollIntoView({ block: 'center' }); } }
  else if (e.key === 'Escape') {
    if (query().get('f')) { keep({ f: '' }, true); void drawer(); }
    else if (brush.b) { brush.b = null; void select(); }
    else if (brush.t) { brush.t = null; void select(); }
  } else if (e.key === 'g') location.href = '/';
  else if (e.key === '[' || e.key === ']') void neighbour(e.key === ']' ? 1 : -1);
  else if (e.key === '?') { const k = $('.keys'); if (k) { k.setAttribute('open', ''); k.scrollIntoView({ block: 'end' }); } }
});
addEventListener('popstate', () => {
  void drawer();
  brush.t = parse(query().get('t')); brush.b = parse(query().get('b'));
  if (brush.t || whole.size) void select();
});

place(document);
tables(document);
$$('.ax').forEach(brushing);
brushForm();
edits();
starts();
void marks();
brush.t = parse(query().get('t'));
brush.b = brush.t && parse(query().get('b'));
if (run && brush.t) void select();
if (query().get('f')) void drawer();
listen();
document.documentElement.dataset.ready = '';
})();
