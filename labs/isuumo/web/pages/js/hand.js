// @ts-check
// The hand on the map: pointer, wheel, two fingers and keys. It draws the ring and
// moves the map; what a finished ring is for, its owner knows.
import {loop, simplify} from './ring.js';

/** How far a pointer moves before it is no click, and how near a click hits, in pixels. */
const slack = 5, reach = 12;

/** Corners of a stroke: enough for any shape that a hand draws on purpose. */
const most = 60;

export class Hand {
  /**
   * The owner is notified that a ring was begun, was ended with these corners, or is to
   * be cleared, that the map moved, and of a hit, a click, which it may take. It says
   * whether a pointer draws; else it moves the map.
   * @param {import('./atlas.js').Atlas} atlas
   */
  constructor(atlas, owner) {
    this.atlas = atlas;
    this.owner = owner;
    /** @type {Map<number, [number, number]>} those that are down */
    this.pointers = new Map();
    /** @type {[number, number][]} pixels of the stroke in progress */
    this.stroke = [];
    this.freehand = false;
    const on = (name, act) => atlas.canvas.addEventListener(name, act, {passive: false});
    on('pointerdown', e => this.down(e));
    on('pointermove', e => this.move(e));
    on('pointerup', e => this.up(e, true));
    on('pointercancel', e => this.up(e, false));
    on('wheel', e => {
      e.preventDefault();
      atlas.zoom(2 ** (-e.deltaY / 300), e.offsetX, e.offsetY);
      owner.moved();
    });
    on('keydown', e => {
      if (e.ctrlKey || e.altKey || e.metaKey || !this.key(e.key)) return;
      e.preventDefault();
      this.mark(true);
    });
    on('blur', () => this.mark(false));
  }

  mark(on) {
    this.atlas.cross = on;
    this.atlas.draw();
  }

  down(e) {
    if (e.button !== 0) return;
    this.atlas.canvas.setPointerCapture(e.pointerId);
    this.mark(false);
    this.pointers.set(e.pointerId, [e.offsetX, e.offsetY]);
    this.stroke = [[e.offsetX, e.offsetY]];
    if (this.pointers.size === 1) return;
    if (this.freehand) this.owner.clear(); // the second finger has come to move the map
    this.freehand = false;
    this.stroke = [];
  }

  move(e) {
    const before = this.pointers.get(e.pointerId);
    if (!before) return;
    /** @type {[number, number]} */
    const now = [e.offsetX, e.offsetY];
    this.pointers.set(e.pointerId, now);
    for (const [id, other] of this.pointers) {
      if (id !== e.pointerId) this.pinch(before, now, other);
    }
    if (this.stroke.length === 0) return;
    const from = this.stroke.length > 1 ? before : this.stroke[0];
    if (this.stroke.length === 1 && Math.hypot(now[0] - from[0], now[1] - from[1]) < slack) return;
    this.stroke.push(now);
    if (this.owner.draws()) this.draw();
    else this.atlas.pan(now[0] - from[0], now[1] - from[1]);
  }

  draw() {
    if (!this.freehand) this.owner.began();
    this.freehand = true;
    this.atlas.closed = false;
    this.atlas.ring = this.stroke.map(p => this.atlas.at(...p));
    this.atlas.draw();
  }

  /** pinch keeps the places below two fingers there. */
  pinch(before, now, other) {
    const apart = p => Math.max(Math.hypot(p[0] - other[0], p[1] - other[1]), 1);
    this.atlas.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    this.atlas.zoom(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  /** up ends a stroke, unless it is not whole: the system took the pointer away. */
  up(e, whole) {
    if (!this.pointers.delete(e.pointerId)) return;
    const {stroke, freehand, owner} = this;
    this.stroke = [];
    this.freehand = false;
    if (freehand && whole) owner.ended(this.corners(stroke));
    else if (freehand) owner.clear();
    else if (stroke.length !== 1) owner.moved();
    else if (whole && (this.open() || !owner.hit(...stroke[0])) && owner.draws()) this.corner(...stroke[0]);
  }

  /** corners makes a few corners of a stroke. */
  corners(stroke) {
    let tolerance = 1.5;
    let out = simplify(stroke, tolerance);
    while (out.length > most) out = simplify(stroke, tolerance *= 1.4);
    return loop(out).map(p => this.atlas.at(...p));
  }

  /** open reports whether a ring is being set corner by corner. */
  open() {
    return !this.atlas.closed && this.atlas.ring.length > 0;
  }

  /** corner sets one; near the first one, the ring is closed. */
  corner(x, y) {
    const {atlas, owner} = this;
    if (!this.open()) {
      owner.began();
      atlas.ring = [];
      atlas.closed = false;
    } else {
      const [firstX, firstY] = atlas.pixel(...atlas.ring[0]);
      if (Math.hypot(x - firstX, y - firstY) < reach) {
        this.close();
        return;
      }
    }
    atlas.ring = [...atlas.ring, atlas.at(x, y)];
    atlas.draw();
  }

  close() {
    if (this.open() && this.atlas.ring.length > 2) this.owner.ended(this.atlas.ring);
  }

  /** key does what a key stands for; false if nothing. */
  key(key) {
    const {atlas, owner} = this;
    const keys = {
      ArrowLeft: () => atlas.pan(60, 0),
      ArrowRight: () => atlas.pan(-60, 0),
      ArrowUp: () => atlas.pan(0, 60),
      ArrowDown: () => atlas.pan(0, -60),
      '+': () => atlas.zoom(1.5),
      '-': () => atlas.zoom(1 / 1.5),
      Enter: () => this.corner(atlas.width / 2, atlas.height / 2),
      Backspace: () => { if (this.open()) atlas.ring = atlas.ring.slice(0, -1); },
      f: () => this.close(),
      Escape: () => owner.clear(),
    };
    if (!Object.hasOwn(keys, key)) return false;
    keys[key]();
    owner.moved();
    return true;
  }
}
