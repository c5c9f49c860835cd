// @ts-check
// A map on a canvas: coast, towns, a ring and dots. Latitude and longitude are the
// two axes of a plane, so a line that is straight here is straight for the search.
import {land, towns} from './coast.js';

/** The length of a degree of longitude in degrees of latitude, in the middle of Japan. */
const narrow = Math.cos(36.5 * Math.PI / 180);

const within = (n, from, to) => Math.min(Math.max(n, from), to);

export class Atlas {
  /**
   * A map fills its canvas. Without a scale it shows all of Japan; a still one is a
   * picture, with fewer names.
   * @param {HTMLCanvasElement} canvas
   */
  constructor(canvas, {latitude = 0, longitude = 0, scale = 0, still = false} = {}) {
    this.canvas = canvas;
    [this.latitude, this.longitude] = [latitude, longitude]; // of the middle
    this.scale = scale; // pixels per degree of latitude; 0: not yet known
    this.still = still;
    /** @type {{latitude: number, longitude: number, chosen?: boolean}[]} */
    this.dots = [];
    /** @type {[number, number][]} latitude and longitude of each corner */
    this.ring = [];
    this.closed = false; // the ring
    this.cross = false; // marks the middle, where the keyboard sets a corner
    this.width = this.height = 0;
    this.due = false;
    this.resize();
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  resize() {
    const {clientWidth: width, clientHeight: height} = this.canvas;
    if (!width || !height) return;
    [this.width, this.height] = [width, height];
    this.canvas.width = width * devicePixelRatio;
    this.canvas.height = height * devicePixelRatio;
    if (!this.scale) this.go(38.2, 137.3, Math.min(height / 16, width / 19 / narrow)); // all of Japan
    this.paint(); // at once: a canvas whose size was set is empty
  }

  go(latitude, longitude, scale = this.scale) {
    this.latitude = within(latitude, 20, 50);
    this.longitude = within(longitude, 120, 155);
    this.scale = within(scale, 12, 4000);
    this.draw();
  }

  /** zoom keeps the place below a pixel where it is. */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const [latitude, longitude] = this.at(x, y);
    this.go(this.latitude, this.longitude, this.scale * factor);
    const [nowLatitude, nowLongitude] = this.at(x, y);
    this.go(this.latitude + latitude - nowLatitude, this.longitude + longitude - nowLongitude);
  }

  /** pan moves the map by pixels. */
  pan(dx, dy) {
    this.go(this.latitude + dy / this.scale, this.longitude - dx / this.scale / narrow);
  }

  /** pixel returns where a place is. @returns {[number, number]} */
  pixel(latitude, longitude) {
    return [this.width / 2 + (longitude - this.longitude) * narrow * this.scale, this.height / 2 - (latitude - this.latitude) * this.scale];
  }

  /** at returns the latitude and longitude of a pixel. @returns {[number, number]} */
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
    const c = this.canvas.getContext('2d');
    const style = getComputedStyle(this.canvas);
    const colour = name => style.getPropertyValue(`--${name}`);
    c.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    c.lineJoin = 'round';
    this.paintLand(c, colour);
    c.font = `12px ${style.fontFamily}`;
    this.paintTowns(c, colour);
    this.paintRing(c, colour);
    this.paintDots(c, colour);
    if (this.cross) {
      c.strokeStyle = colour('fg');
      c.stroke(new Path2D(`M${this.width / 2 - 12} ${this.height / 2}h24m-12-12v24`));
    }
  }

  /** trace adds a line or, closed, a ring to the path. */
  trace(c, points, closed) {
    points.forEach((p, i) => c[i ? 'lineTo' : 'moveTo'](...this.pixel(...p)));
    if (closed) c.closePath();
  }

  paintLand(c, colour) {
    c.beginPath();
    for (const ring of land) this.trace(c, ring, true);
    c.fillStyle = colour('land');
    c.fill('evenodd');
    c.lineWidth = 1;
    c.strokeStyle = colour('ctl');
    c.stroke();
  }

  /** paintTowns names as many towns as there is room for. */
  paintTowns(c, colour) {
    const taken = [];
    c.fillStyle = colour('fg2');
    c.strokeStyle = colour('land');
    c.lineWidth = 3;
    for (const [name, latitude, longitude] of this.still ? towns.slice(0, 9) : towns) {
      const [x, y] = this.pixel(latitude, longitude);
      const right = x + 10 + c.measureText(name).width;
      if (right < 0 || x > this.width || taken.some(t => x - 4 < t.right && right > t.x - 4 && Math.abs(y - t.y) < 18)) continue;
      taken.push({x, y, right});
      c.fillRect(x - 1.5, y - 1.5, 3, 3);
      c.strokeText(name, x + 6, y + 4);
      c.fillText(name, x + 6, y + 4);
    }
  }

  paintRing(c, colour) {
    c.fillStyle = c.strokeStyle = colour('accent');
    c.lineWidth = 2;
    c.beginPath();
    this.trace(c, this.ring, this.closed);
    c.stroke();
    c.globalAlpha = 0.12;
    if (this.closed) c.fill();
    c.globalAlpha = 1;
    if (this.closed || this.ring.length === 0) return;
    const [x, y] = this.pixel(...this.ring[0]); // where it is to be closed
    c.fillRect(x - 5, y - 5, 10, 10);
  }

  /** paintDots paints the chosen ones last, on top. */
  paintDots(c, colour) {
    c.strokeStyle = colour('bg');
    c.lineWidth = 1.5;
    for (const chosen of [false, true]) {
      c.fillStyle = colour(chosen ? 'ev' : 's1');
      for (const dot of this.dots.filter(d => Boolean(d.chosen) === chosen)) {
        c.beginPath();
        c.arc(...this.pixel(dot.latitude, dot.longitude), chosen ? 8 : 5, 0, 2 * Math.PI);
        c.fill();
        c.stroke();
      }
    }
  }
}
