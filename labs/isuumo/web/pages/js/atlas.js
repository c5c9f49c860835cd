// @ts-check
// A map on a canvas: coast, towns, a ring and dots. Latitude and longitude are the
// two axes of a plane, so a line that is straight here is straight for the search.
import {land, towns} from './coast.js';

/** The length of a degree of longitude in degrees of latitude, in the middle of Japan. */
const narrow = Math.cos(36.5 * Math.PI / 180);

/** What a new map shows. */
const japan = {south: 30.6, north: 45.8, west: 128.4, east: 146.2};

const limits = {smallest: 12, largest: 4000}; // of the scale

/** @typedef {{latitude: number, longitude: number, chosen?: boolean}} Dot */

export class Atlas {
  /**
   * @param {HTMLCanvasElement} canvas it is as large as its parent
   * @param {{latitude?: number, longitude?: number, scale?: number, still?: boolean}} [view] without a scale: all of Japan; still: a picture, with fewer names
   */
  constructor(canvas, {latitude = 0, longitude = 0, scale = 0, still = false} = {}) {
    this.canvas = canvas;
    this.latitude = latitude;
    this.longitude = longitude;
    /** Pixels per degree of latitude; 0: not yet known. */
    this.scale = scale;
    this.still = still;
    /** @type {Dot[]} */
    this.dots = [];
    /** @type {[number, number][]} latitude and longitude of each corner */
    this.ring = [];
    this.closed = false;
    /** Marks the middle, where the keyboard sets a corner. */
    this.cross = false;
    this.width = this.height = 0;
    this.due = false;
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  resize() {
    const {clientWidth: width, clientHeight: height} = this.canvas;
    if (!width || !height) return;
    [this.width, this.height] = [width, height];
    this.canvas.width = width * devicePixelRatio;
    this.canvas.height = height * devicePixelRatio;
    if (!this.scale) this.fit(japan);
    this.paint(); // at once: a canvas whose size was set is empty
  }

  /** fit shows all of a box. @param {{south: number, north: number, west: number, east: number}} box */
  fit({south, north, west, east}) {
    this.go((south + north) / 2, (west + east) / 2,
      0.94 * Math.min(this.height / (north - south), this.width / (east - west) / narrow));
  }

  /** @param {number} latitude @param {number} longitude @param {number} [scale] */
  go(latitude, longitude, scale = this.scale) {
    this.latitude = Math.min(Math.max(latitude, 20), 50);
    this.longitude = Math.min(Math.max(longitude, 120), 155);
    this.scale = Math.min(Math.max(scale, limits.smallest), limits.largest);
    this.draw();
  }

  /** zoom keeps the place below a pixel where it is. */
  zoom(/** @type {number} */ factor, x = this.width / 2, y = this.height / 2) {
    const before = this.at(x, y);
    this.go(this.latitude, this.longitude, this.scale * factor);
    const after = this.at(x, y);
    this.go(this.latitude + before[0] - after[0], this.longitude + before[1] - after[1]);
  }

  /** pan moves the map by pixels. @param {number} dx @param {number} dy */
  pan(dx, dy) {
    this.go(this.latitude + dy / this.scale, this.longitude - dx / this.scale / narrow);
  }

  /** pixel returns where a place is. @param {number} latitude @param {number} longitude @returns {[number, number]} */
  pixel(latitude, longitude) {
    return [this.width / 2 + (longitude - this.longitude) * narrow * this.scale, this.height / 2 - (latitude - this.latitude) * this.scale];
  }

  /** at returns the latitude and longitude of a pixel. @param {number} x @param {number} y @returns {[number, number]} */
  at(x, y) {
    return [this.latitude - (y - this.height / 2) / this.scale, this.longitude + (x - this.width / 2) / narrow / this.scale];
  }

  /** draw paints before the next frame, however often it is called until then. */
  draw() {
    if (this.due || !this.width) return;
    this.due = true;
    requestAnimationFrame(() => this.paint());
  }

  paint() {
    this.due = false;
    const c = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
    const style = getComputedStyle(document.documentElement);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`);
    c.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    c.lineJoin = 'round';
    this.paintLand(c, colour);
    this.paintDegrees(c, colour);
    this.paintTowns(c, colour, style.fontFamily);
    this.paintRing(c, colour);
    this.paintDots(c, colour);
    if (this.cross) {
      const [x, y] = [this.width / 2, this.height / 2];
      c.strokeStyle = colour('fg');
      c.lineWidth = 1.5;
      c.stroke(new Path2D(`M${x - 12} ${y}h24M${x} ${y - 12}v24`));
    }
  }

  /** @param {CanvasRenderingContext2D} c @param {[number, number][]} points @param {boolean} closed */
  trace(c, points, closed) {
    points.forEach(([latitude, longitude], i) => {
      const [x, y] = this.pixel(latitude, longitude);
      if (i === 0) c.moveTo(x, y);
      else c.lineTo(x, y);
    });
    if (closed) c.closePath();
  }

  /** @param {CanvasRenderingContext2D} c @param {(name: string) => string} colour */
  paintLand(c, colour) {
    c.beginPath();
    for (const ring of land) this.trace(c, ring, true);
    c.fillStyle = colour('land');
    c.fill('evenodd');
    c.strokeStyle = colour('coast');
    c.lineWidth = 1;
    c.stroke();
  }

  /** @param {CanvasRenderingContext2D} c @param {(name: string) => string} colour */
  paintDegrees(c, colour) {
    if (this.still) return;
    const step = [0.1, 0.2, 0.5, 1, 2, 5].find(s => s * this.scale * narrow > 72) ?? 10;
    const [north, west] = this.at(0, 0), [south, east] = this.at(this.width, this.height);
    const label = (/** @type {number} */ d) => `${Number(d.toFixed(1))}°`;
    c.strokeStyle = colour('line');
    c.fillStyle = colour('fg3');
    c.font = '11px sans-serif';
    c.lineWidth = 1;
    c.textBaseline = 'bottom';
    c.beginPath();
    for (let d = Math.ceil(west / step) * step; d < east; d += step) {
      const [x] = this.pixel(0, d);
      c.moveTo(x, 0);
      c.lineTo(x, this.height);
      c.fillText(label(d), x + 3, this.height - 3);
    }
    for (let d = Math.ceil(south / step) * step; d < north; d += step) {
      const [, y] = this.pixel(d, 0);
      c.moveTo(0, y);
      c.lineTo(this.width, y);
      c.fillText(label(d), 3, y - 2);
    }
    c.stroke();
  }

  /** paintTowns names as many towns as there is room for. @param {CanvasRenderingContext2D} c @param {(name: string) => string} colour @param {string} font */
  paintTowns(c, colour, font) {
    /** @type {[number, number, number, number][]} */
    const taken = [];
    c.font = `12px ${font}`;
    c.textBaseline = 'middle';
    c.lineWidth = 3;
    c.strokeStyle = colour('land');
    for (const [name, latitude, longitude] of this.still ? towns.slice(0, 9) : towns) {
      const [x, y] = this.pixel(latitude, longitude);
      const box = /** @type {[number, number, number, number]} */ ([x - 4, y - 9, x + 10 + c.measureText(name).width, y + 9]);
      if (box[2] < 0 || box[0] > this.width || box[3] < 0 || box[1] > this.height) continue;
      if (taken.some(t => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1])) continue;
      taken.push(box);
      c.fillStyle = colour('fg2');
      c.fillRect(x - 1.5, y - 1.5, 3, 3);
      c.strokeText(name, x + 6, y);
      c.fillText(name, x + 6, y);
    }
  }

  /** @param {CanvasRenderingContext2D} c @param {(name: string) => string} colour */
  paintRing(c, colour) {
    if (this.ring.length === 0) return;
    c.beginPath();
    this.trace(c, this.ring, this.closed);
    c.globalAlpha = 0.12;
    c.fillStyle = colour('accent');
    if (this.closed) c.fill();
    c.globalAlpha = 1;
    c.strokeStyle = colour('accent');
    c.lineWidth = 2;
    c.stroke();
    if (this.closed) return;
    c.fillStyle = colour('accent');
    for (const [latitude, longitude] of [this.ring[0], this.ring[this.ring.length - 1]]) {
      const [x, y] = this.pixel(latitude, longitude);
      c.fillRect(x - 4, y - 4, 8, 8);
    }
  }

  /** @param {CanvasRenderingContext2D} c @param {(name: string) => string} colour */
  paintDots(c, colour) {
    c.strokeStyle = colour('bg');
    c.lineWidth = 1.5;
    for (const dot of [...this.dots].sort((a, b) => Number(a.chosen ?? 0) - Number(b.chosen ?? 0))) {
      const [x, y] = this.pixel(dot.latitude, dot.longitude);
      c.fillStyle = colour(dot.chosen ? 'ev' : 's1');
      c.beginPath();
      c.arc(x, y, dot.chosen ? 8 : 5, 0, 2 * Math.PI);
      c.fill();
      c.stroke();
    }
  }
}
