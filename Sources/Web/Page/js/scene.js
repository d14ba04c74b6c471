// Gimbal in 3-D on a canvas, drawn without a library as some boxes, sorted by distance. three.js would be ten times as large as the rest of
// the page.

const degrees = Math.PI / 180;

/** Parts of the gimbal: frame, centre, half size (x forward, y right, z down), brightness. */
const parts = [
  ["base", [0, 0, 1.0], [0.1, 0.1, 0.5], 0.5],
  ["base", [0, 0, 0.46], [0.15, 0.15, 0.05], 0.7],
  ["yaw", [-0.24, 0, 0.37], [0.3, 0.05, 0.035], 0.8],
  ["yaw", [-0.52, 0, 0.18], [0.035, 0.05, 0.22], 0.8],
  ["yaw", [-0.46, 0, 0], [0.05, 0.11, 0.11], 0.65],
  ["roll", [-0.37, 0.18, 0], [0.035, 0.24, 0.045], 0.8],
  ["roll", [-0.19, 0.4, 0], [0.21, 0.03, 0.045], 0.8],
  ["roll", [0, 0.37, 0], [0.09, 0.05, 0.09], 0.65],
  ["camera", [0, 0, 0], [0.19, 0.3, 0.17], 1],
  ["camera", [0.27, 0, 0.01], [0.09, 0.1, 0.1], 0.45],
  ["camera", [0.02, 0, -0.2], [0.06, 0.07, 0.03], 0.6],
];

const faces = [[0, 1], [0, -1], [1, 1], [1, -1], [2, 1], [2, -1]];

function product(a, b) {
  const c = new Array(9);
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
  }
  return c;
}

const transposed = (m) => [m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]];
const times = (m, v) => [0, 1, 2].map((i) => m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2]);

function turn(axis, angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return [[1, 0, 0, 0, c, -s, 0, s, c], [c, 0, s, 0, 1, 0, -s, 0, c], [c, -s, 0, s, c, 0, 0, 0, 1]][axis];
}

/** Rotation from body to earth for angles in degrees, order Z-X-Y. */
export function rotation({ yaw, roll, pitch }) {
  return product(product(turn(2, yaw * degrees), turn(0, roll * degrees)), turn(1, pitch * degrees));
}

const isKnown = (angles) => angles && [angles.yaw, angles.roll, angles.pitch].every((angle) => typeof angle === "number");

export class Scene {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    // The viewer looks from behind, a little from the left and from above.
    this.view = { yaw: 28 * degrees, down: 16 * degrees, distance: 4.3 };
    const colours = getComputedStyle(document.documentElement);
    this.colour = (name) => colours.getPropertyValue(name).trim();
  }

  /** Draws attitude, set-point and joint angles, degrees. */
  draw({ attitude, setpoint, joint }) {
    const { canvas, context } = this;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    context.clearRect(0, 0, width, height);
    if (!width) return;
    this.ratio = ratio;
    this.scale = Math.min(width, height * 1.25) * 1.35;
    this.middle = [width / 2, height * 0.4];
    context.lineWidth = ratio;
    this.#ground();
    if (!isKnown(attitude)) return;
    const camera = rotation(attitude);
    const frames = { camera };
    if (isKnown(joint)) {
      const [yaw, roll, pitch] = [turn(2, joint.yaw * degrees), turn(0, joint.roll * degrees), turn(1, joint.pitch * degrees)];
      frames.base = product(camera, transposed(product(product(yaw, roll), pitch)));
      frames.yaw = product(frames.base, yaw);
      frames.roll = product(frames.yaw, roll);
    }
    if (isKnown(setpoint)) this.#ray(rotation(setpoint), "--care", [6 * ratio, 5 * ratio], 2 * ratio);
    this.#boxes(frames);
    this.#ray(camera, "--accent", [], 3 * ratio);
  }

  #project(point) {
    const { yaw, down, distance } = this.view;
    const [cy, sy, cd, sd] = [Math.cos(yaw), Math.sin(yaw), Math.cos(down), Math.sin(down)];
    const ahead = point[0] * cy * cd + point[1] * sy * cd + point[2] * sd;
    const right = -point[0] * sy + point[1] * cy;
    const below = -point[0] * cy * sd - point[1] * sy * sd + point[2] * cd;
    const depth = Math.max(0.2, ahead + distance);
    return [this.middle[0] + (right / depth) * this.scale, this.middle[1] + (below / depth) * this.scale, depth];
  }

  #line(points) {
    const { context } = this;
    context.beginPath();
    points.forEach((point, index) => {
      const [x, y] = this.#project(point);
      if (index) context.lineTo(x, y);
      else context.moveTo(x, y);
    });
    context.stroke();
  }

  #ground() {
    this.context.strokeStyle = this.colour("--line");
    for (let i = -3; i <= 3; i++) {
      this.#line([[-2.4, i * 0.8, 1.5], [2.4, i * 0.8, 1.5]]);
      this.#line([[i * 0.8, -2.4, 1.5], [i * 0.8, 2.4, 1.5]]);
    }
    this.context.fillStyle = this.colour("--soft");
    this.context.font = `${Math.round(Math.max(11 * this.ratio, this.scale / 45))}px system-ui`;
    const [x, y] = this.#project([2.6, 0, 1.5]);
    this.context.textAlign = "center";
    this.context.fillText("heading 0°", x, y);
  }

  /** Draws the camera's line of sight. */
  #ray(frame, colour, dash, width) {
    const { context } = this;
    context.strokeStyle = this.colour(colour);
    context.lineWidth = width;
    context.setLineDash(dash);
    this.#line([[0.36, 0, 0], [1.5, 0, 0]].map((point) => times(frame, point)));
    context.setLineDash([]);
  }

  #boxes(frames) {
    const polygons = [];
    const body = this.colour("--accent");
    for (const [name, centre, half, light] of parts) {
      const frame = frames[name];
      if (!frame) continue;
      for (const [axis, side] of faces) {
        const normal = [0, 0, 0];
        normal[axis] = side;
        const [a, b] = [(axis + 1) % 3, (axis + 2) % 3];
        const corners = [[1, 1], [1, -1], [-1, -1], [-1, 1]].map(([s, t]) => {
          const corner = [...centre];
          corner[axis] += side * half[axis];
          corner[a] += s * half[a];
          corner[b] += t * half[b];
          return this.#project(times(frame, corner));
        });
        const area = corners.reduce((sum, p, i) => sum + p[0] * corners[(i + 1) % 4][1] - corners[(i + 1) % 4][0] * p[1], 0);
        if (area * side < 0) continue;
        const up = times(frame, normal);
        const shade = light * (0.62 - 0.28 * up[2] - 0.14 * up[0]);
        polygons.push({ corners, depth: corners.reduce((sum, p) => sum + p[2], 0) / 4, shade, isCamera: name === "camera" });
      }
    }
    polygons.sort((p, q) => q.depth - p.depth);
    const { context } = this;
    for (const { corners, shade, isCamera } of polygons) {
      context.beginPath();
      corners.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      const level = Math.round(70 + 150 * Math.min(1, Math.max(0, shade)));
      context.fillStyle = isCamera ? `color-mix(in srgb, ${body} 45%, rgb(${level} ${level} ${level}))` : `rgb(${level} ${level} ${level + 8})`;
      context.strokeStyle = "rgb(20 26 32)";
      context.lineWidth = 1;
      context.fill();
      context.stroke();
    }
  }
}

