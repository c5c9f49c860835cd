// @ts-check
// The hand on the map: pointer, wheel, two fingers and keys. It draws the ring and
// moves the map; what a finished ring is for, its owner knows.
import {loop, simplify} from './ring.js';

/** How far a pointer moves before it is not a click, and how near a click hits, in pixels. */
const slack = 5, reach = 12;

/** Corners of a stroke: enough for any shape that a hand draws on purpose. */
const most = 60;

/**
 * @typedef {object} Owner
 * @property {() => boolean} draws whether one pointer draws, rather than moves the map
 * @property {() => void} began a new ring was begun, what was found is of the past
 * @property {(corners: [number, number][]) => void} ended a ring of latitudes and longitudes
 * @property {() => void} moved the map shows something else
 * @property {(x: number, y: number) => boolean} hit a click; true if there was something
 * @property {() => void} clear
 */

export class Hand {
  /** @param {import('./atlas.js').Atlas} atlas @param {Owner} owner */
  constructor(atlas, owner) {
    this.atlas = atlas;
    this.owner = owner;
    /** @type {Map<number, [number, number]>} pointers that are down */
    this.pointers = new Map();
    /** @type {[number, number][]} pixels of the stroke in progress */
    this.stroke = [];
    this.freehand = false;
    const {canvas} = atlas;
    canvas.addEventListener('pointerdown', e => this.down(e));
    canvas.addEventListener('pointermove', e => this.move(e));
    canvas.addEventListener('pointerup', e => this.up(e, true));
    canvas.addEventListener('pointercancel', e => this.up(e, false));
    canvas.addEventListener('wheel', e => {
      e.preventDefault();
      atlas.zoom(2 ** (-e.deltaY / 300), e.offsetX, e.offsetY);
      owner.moved();
    }, {passive: false});
    canvas.addEventListener('keydown', e => {
      if (e.ctrlKey || e.altKey || e.metaKey || !this.key(e.key)) return;
      e.preventDefault();
      atlas.cross = true;
      atlas.draw();
    });
    canvas.addEventListener('blur', () => {
      atlas.cross = false;
      atlas.draw();
    });
  }

  /** @param {PointerEvent} e */
  down(e) {
    if (e.button !== 0) return;
    this.atlas.canvas.setPointerCapture(e.pointerId);
    this.atlas.cross = false;
    this.pointers.set(e.pointerId, [e.offsetX, e.offsetY]);
    if (this.pointers.size > 1) this.abandon();
    else this.stroke = [[e.offsetX, e.offsetY]];
  }

  /** abandon forgets the stroke: a second finger has come to move the map. */
  abandon() {
    if (this.freehand) this.owner.clear();
    this.freehand = false;
    this.stroke = [];
  }

  /** @param {PointerEvent} e */
  move(e) {
    const before = this.pointers.get(e.pointerId);
    if (!before) return;
    /** @type {[number, number]} */
    const now = [e.offsetX, e.offsetY];
    this.pointers.set(e.pointerId, now);
    const others = [...this.pointers.entries()].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
    if (others.length > 0) {
      this.pinch(before, now, others[0]);
    } else if (this.stroke.length > 0) {
      const [x, y] = this.stroke[0];
      const moving = this.stroke.length > 1 || Math.hypot(now[0] - x, now[1] - y) > slack;
      if (!moving) return;
      if (this.owner.draws()) this.draw();
      else {
        const from = this.stroke.length > 1 ? before : this.stroke[0];
        this.atlas.pan(now[0] - from[0], now[1] - from[1]);
      }
      this.stroke.push(now);
    }
  }

  draw() {
    if (!this.freehand) this.owner.began();
    this.freehand = true;
    this.atlas.closed = false;
    this.atlas.ring = this.stroke.map(([x, y]) => this.atlas.at(x, y));
    this.atlas.draw();
  }

  /** pinch keeps the places below two fingers there. @param {[number, number]} before @param {[number, number]} now @param {[number, number]} other */
  pinch(before, now, other) {
    const apart = (/** @type {[number, number]} */ p) => Math.max(Math.hypot(p[0] - other[0], p[1] - other[1]), 1);
    this.atlas.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    this.atlas.zoom(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  /** @param {PointerEvent} e @param {boolean} whole false: the system took the pointer away */
  up(e, whole) {
    if (!this.pointers.delete(e.pointerId)) return;
    const stroke = this.stroke, freehand = this.freehand;
    this.stroke = [];
    this.freehand = false;
    if (stroke.length === 0 || stroke.length > 1 && !freehand) this.owner.moved();
    else if (!whole) this.owner.clear();
    else if (freehand) this.owner.ended(this.corners(stroke));
    else if (!this.open() && this.owner.hit(...stroke[0])) return;
    else if (this.owner.draws()) this.corner(...stroke[0]);
  }

  /** corners makes a few corners of a stroke. @param {[number, number][]} stroke @returns {[number, number][]} */
  corners(stroke) {
    let tolerance = 1.5;
    let out = simplify(stroke, tolerance);
    while (out.length > most) out = simplify(stroke, tolerance *= 1.4);
    return loop(out).map(([x, y]) => this.atlas.at(x, y));
  }

  /** open reports whether a ring is being set corner by corner. */
  open() {
    return !this.atlas.closed && this.atlas.ring.length > 0;
  }

  /** corner sets one; near the first one, the ring is closed. @param {number} x @param {number} y */
  corner(x, y) {
    const {atlas, owner} = this;
    if (!this.open()) {
      owner.began();
      atlas.ring = [];
      atlas.closed = false;
    }
    const first = atlas.ring.length > 0 ? atlas.pixel(...atlas.ring[0]) : [Infinity, Infinity];
    if (Math.hypot(x - first[0], y - first[1]) < reach) {
      if (atlas.ring.length > 2) owner.ended(atlas.ring);
      return;
    }
    atlas.ring = [...atlas.ring, atlas.at(x, y)];
    atlas.draw();
  }

  /** key does what a key stands for; false if nothing. @param {string} key */
  key(key) {
    const {atlas, owner} = this;
    const step = 60;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => atlas.pan(step, 0),
      ArrowRight: () => atlas.pan(-step, 0),
      ArrowUp: () => atlas.pan(0, step),
      ArrowDown: () => atlas.pan(0, -step),
      '+': () => atlas.zoom(1.5),
      ';': () => atlas.zoom(1.5),
      '-': () => atlas.zoom(1 / 1.5),
      Enter: () => this.corner(atlas.width / 2, atlas.height / 2),
      Backspace: () => { if (this.open()) atlas.ring = atlas.ring.slice(0, -1); },
      f: () => { if (this.open() && atlas.ring.length > 2) owner.ended(atlas.ring); },
      Escape: () => owner.clear(),
    };
    if (!Object.hasOwn(keys, key)) return false;
    keys[key]();
    owner.moved();
    return true;
  }
}
