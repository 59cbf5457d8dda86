/**
 * Weighted sums on memory of their own, sixteen outputs at once: WebAssembly has instructions for four floats at a time, so a
 * frame takes a third of what it takes in JavaScript. The function is short, and is assembled here rather than by a compiler
 * that would have to be installed.
 */

/** Outputs that are summed at once, in four vectors of four floats. */
export const AT_ONCE = 16;
const VECTORS = 4;
const FLOAT_BYTES = 4;
const VECTOR_BYTES = 16;
const BLOCK_BYTES = VECTORS * VECTOR_BYTES;
const PAGE_BYTES = 65_536;

/** Outputs, a multiple of AT_ONCE, each a weighted sum of `inputs` values and a bias. */
export interface Layer {
  readonly inputs: number;
  /** Of AT_ONCE outputs side by side: input by input, then of the next outputs. */
  readonly weights: Float32Array;
  readonly biases: Float32Array;
}

/** Unsigned LEB128, as WebAssembly writes numbers. */
function leb(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...leb(Math.floor(value / 128))];
}

// Instructions, by the specification's binary format.
const I32 = 0x7f;
const V128 = 0x7b;
const END = 0x0b;
const ALIGNED = 2;
const LOOP = [0x03, 0x40];
const REPEAT_IF = [0x0d, 0];
const LESS_THAN = 0x49;
const ADD_FLOATS = [0xfd, 0xe4, 0x01];
const MULTIPLY_FLOATS = [0xfd, 0xe6, 0x01];
const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const loadVector = (offset: number): number[] => [0xfd, 0x00, ALIGNED, offset];
const loadToAll = [0xfd, 0x09, ALIGNED, 0];
const storeVector = (offset: number): number[] => [0xfd, 0x0b, ALIGNED, offset];
/** Moves an address on by fewer than 64 bytes, or by 64, whose sign bit needs a second byte. */
const advance = (local: number, bytes: number): number[] => [
  ...get(local),
  ...[0x41, ...(bytes < 64 ? [bytes] : [bytes + 128, 0])],
  0x6a,
  ...set(local),
];

/** Parameters, which are addresses in bytes, and further locals. */
const [WEIGHT, BIAS, FROM, FROM_END, INTO, INTO_END] = [0, 1, 2, 3, 4, 5] as const;
const [AT, SUMS, VALUE] = [6, 7, 7 + VECTORS] as const;
const PARAMETERS = 6;

const forEachVector = (code: (vector: number, offset: number) => number[]): number[] =>
  Array.from({ length: VECTORS }, (_, vector) => code(vector, vector * VECTOR_BYTES)).flat();

/** For each block of outputs: from the biases on, adds weight × value for each of the values, and stores the sums. */
const CODE = [
  ...LOOP,
  ...forEachVector((vector, offset) => [...get(BIAS), ...loadVector(offset), ...set(SUMS + vector)]),
  ...[...get(FROM), ...set(AT)],
  ...LOOP,
  ...[...get(AT), ...loadToAll, ...set(VALUE)],
  ...forEachVector((vector, offset) => [
    ...get(SUMS + vector),
    ...[...get(VALUE), ...get(WEIGHT), ...loadVector(offset), ...MULTIPLY_FLOATS],
    ...[...ADD_FLOATS, ...set(SUMS + vector)],
  ]),
  ...advance(WEIGHT, BLOCK_BYTES),
  ...advance(AT, FLOAT_BYTES),
  ...[...get(AT), ...get(FROM_END), LESS_THAN, ...REPEAT_IF, END],
  ...forEachVector((vector, offset) => [...get(INTO), ...get(SUMS + vector), ...storeVector(offset)]),
  ...advance(BIAS, BLOCK_BYTES),
  ...advance(INTO, BLOCK_BYTES),
  ...[...get(INTO), ...get(INTO_END), LESS_THAN, ...REPEAT_IF, END],
  END,
];

const text = (name: string): number[] => [name.length, ...Buffer.from(name)];
const section = (id: number, ...content: number[]): number[] => [id, ...leb(content.length), ...content];
const LOCALS = [2, ...[1, I32], ...[VECTORS + 1, V128]];
const BODY = [...LOCALS, ...CODE];

/** Takes its memory as `own.memory`, and gives the function `weigh`. */
const MODULE = Uint8Array.from([
  ...[0, ...Buffer.from('asm'), 1, 0, 0, 0],
  ...section(1, 1, 0x60, PARAMETERS, ...Array.from({ length: PARAMETERS }, () => I32), 0),
  ...section(2, 1, ...text('own'), ...text('memory'), 2, 0, 1),
  ...section(3, 1, 0),
  ...section(7, 1, ...text('weigh'), 0, 0),
  ...section(10, 1, ...leb(BODY.length), ...BODY),
]);

type Weigh = (
  weight: number,
  bias: number,
  from: number,
  fromEnd: number,
  into: number,
  intoEnd: number,
) => void;

export class WeightedSums {
  readonly #memory: WebAssembly.Memory;
  readonly #weigh: Weigh;
  #used = 0;

  /** `floats`: how many it has room for. */
  constructor(floats: number) {
    const initial = Math.ceil((floats * FLOAT_BYTES) / PAGE_BYTES);
    this.#memory = new WebAssembly.Memory({ initial });
    const module = new WebAssembly.Module(MODULE);
    const { exports } = new WebAssembly.Instance(module, { own: { memory: this.#memory } });
    this.#weigh = exports['weigh'] as Weigh;
  }

  /** Zeros in its memory, for as long as it lives. Throws if there is no room left. */
  floats(length: number): Float32Array {
    const from = this.#used;
    this.#used += Math.ceil((length * FLOAT_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
    return new Float32Array(this.#memory.buffer, from, length);
  }

  /** Writes a layer's outputs for the values behind `from`. All these arrays are in its memory. */
  weigh(layer: Layer, values: Float32Array, from: number, into: Float32Array, to: number): void {
    const { inputs, weights, biases } = layer;
    const first = values.byteOffset + from * FLOAT_BYTES;
    const end = first + inputs * FLOAT_BYTES;
    const target = into.byteOffset + to * FLOAT_BYTES;
    const targetEnd = target + biases.length * FLOAT_BYTES;
    this.#weigh(weights.byteOffset, biases.byteOffset, first, end, target, targetEnd);
  }
}
