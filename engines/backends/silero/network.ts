/**
 * The network of Silero's voice activity detection, version 6, at 16 kHz: the spectrum of four overlapping windows, four
 * convolutions over them, and a recurrent layer that remembers what was heard before.
 *
 * Here and not in sherpa-onnx, because all streams can then share the weights, and each costs its memory of 1.3 KB. There each is
 * a session of ONNX Runtime: 8 to 10 MB, and 50 to 130 ms on the event loop that serves the calls (ops/adr/0055). A frame takes
 * 0.08 ms, half of what it takes there.
 */
import { readFileSync } from 'node:fs';
import { Fourier } from '../../fourier.js';
import { defaultModelsFolder, modelFile } from '../model-files.js';
import { type Constants, constantsOf } from './onnx-constants.js';
import { AT_ONCE, type Layer, WeightedSums } from './weighing.js';

/** Samples of a frame at 16 kHz: 32 ms. */
export const FRAME = 512;
const FULL_SCALE = 32_768;

/** Samples before a frame that the network is given with it, and samples mirrored at its end. */
const CONTEXT = 64;
const MIRRORED = 64;
/** Samples of a window, and from one to the next. */
const WINDOW = 256;
const STEP = 128;
const BINS = WINDOW / 2 + 1;
const WINDOWS = (CONTEXT + FRAME + MIRRORED - WINDOW) / STEP + 1;
/** Width of the recurrent layer. */
const WIDTH = 128;
/** Its gates in the order of their weights. */
const GATES = { input: 0, forget: WIDTH, cell: 2 * WIDTH, output: 3 * WIDTH } as const;
/** Neighbours that a convolution sees, with its own place in the middle; one at each end is beyond the edge, and silent. */
const TAPS = 3;
/** Room for all weights, and for the values of a frame: a mebibyte. */
const FLOATS = 262_144;

/** What the network remembers of one stream. */
export class Memory {
  readonly context = new Float32Array(CONTEXT);
  readonly hidden = new Float32Array(WIDTH);
  readonly cell = new Float32Array(WIDTH);
}

interface Convolution extends Layer {
  readonly channels: number;
  /** Places from one output to the next. */
  readonly stride: number;
  /** Places of the output. */
  readonly places: number;
}

const pair = (length: number): [Float64Array, Float64Array] => [
  new Float64Array(length),
  new Float64Array(length),
];

/** Negative values become 0. */
function rectify(values: Float32Array): void {
  for (let at = 0; at < values.length; at++) values[at] = Math.max(0, values[at]!);
}

const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value));

/** The weights of a named constant. Throws if the file has none of this shape. */
function weightsOf(constants: Constants, name: string, ...shape: readonly number[]): Float32Array {
  const found = constants.get(name);
  if (found?.shape.join() === shape.join()) return found.values;
  throw new Error(`not the model of Silero 6: "${name}" is ${found?.shape.join(' × ') ?? 'missing'}`);
}

/** A layer with these biases; `weightOf`: the weight of a value for an output. */
function layerOf(
  weighing: WeightedSums,
  inputs: number,
  biases: Float32Array,
  weightOf: (output: number, input: number) => number,
): Layer {
  const layer = {
    inputs,
    weights: weighing.floats(biases.length * inputs),
    biases: weighing.floats(biases.length),
  };
  layer.biases.set(biases);
  for (let output = 0; output < biases.length; output++) {
    const column = output % AT_ONCE;
    for (let input = 0; input < inputs; input++)
      layer.weights[(output - column) * inputs + input * AT_ONCE + column] = weightOf(output, input);
  }
  return layer;
}

function convolutionOf(
  weighing: WeightedSums,
  constants: Constants,
  index: number,
  [channels, outputs, stride, places]: readonly [number, number, number, number],
): Convolution {
  const name = `encoder.${index}.reparam_conv`;
  // By output, channel and tap.
  const stored = weightsOf(constants, `${name}.weight`, outputs, channels, TAPS);
  const biases = weightsOf(constants, `${name}.bias`, outputs);
  const layer = layerOf(weighing, channels * TAPS, biases, (output, input) => {
    const channel = input % channels;
    return stored[(output * channels + channel) * TAPS + (input - channel) / channels]!;
  });
  return { ...layer, channels, stride, places };
}

/** Channels, outputs, stride and places of the output. */
const CONVOLUTIONS = [
  [BINS, 128, 1, WINDOWS],
  [128, 64, 2, WINDOWS / 2],
  [64, 64, 2, WINDOWS / 4],
  [64, WIDTH, 1, WINDOWS / 4],
] as const;

/** The recurrent layer's gates, from the last convolution and what it put out before. */
function gatesOf(weighing: WeightedSums, constants: Constants): Layer {
  const outputs = 4 * WIDTH;
  const [heard, before] = [
    weightsOf(constants, 'decoder.rnn.weight_ih', outputs, WIDTH),
    weightsOf(constants, 'decoder.rnn.weight_hh', outputs, WIDTH),
  ];
  const biases = weightsOf(constants, 'decoder.rnn.bias_ih', outputs);
  const more = weightsOf(constants, 'decoder.rnn.bias_hh', outputs);
  const all = biases.map((bias, row) => bias + more[row]!);
  return layerOf(weighing, 2 * WIDTH, all, (row, input) =>
    input < WIDTH ? heard[row * WIDTH + input]! : before[row * WIDTH + input - WIDTH]!,
  );
}

export class SileroNetwork {
  readonly #weighing = new WeightedSums(FLOATS);
  readonly #fourier = new Fourier(WINDOW);
  /** The weight of each sample of a window. */
  readonly #window: Float32Array;
  readonly #convolutions: readonly Convolution[];
  readonly #gates: Layer;
  /** Weights and bias of the only output. */
  readonly #verdict: Float32Array;
  readonly #bias: number;
  // Values of the frame in progress: one is finished before the next begins.
  readonly #samples = new Float32Array(CONTEXT + FRAME + MIRRORED);
  readonly #windowed = pair(WINDOW);
  readonly #powers = pair(BINS);
  readonly #spectrum = this.#weighing.floats((WINDOWS + 2) * BINS);
  readonly #between: readonly Float32Array[];
  readonly #remembered = this.#weighing.floats(2 * WIDTH);
  readonly #opened = this.#weighing.floats(4 * WIDTH);

  /** `file`: the content of the model's file. Throws if it is another one. */
  constructor(file: Buffer) {
    // It has the network for 8 kHz as well, with other shapes.
    const name = 'stft.forward_basis_buffer';
    const all = [...constantsOf(file)].filter((each) => each.has(name));
    const constants = all.find((each) => each.get(name)?.shape[2] === WINDOW) ?? new Map<string, never>();
    // The transform is stored as its cosines and sines, times the window: the first row, of cos 0, is the window itself.
    this.#window = weightsOf(constants, name, 2 * BINS, 1, WINDOW).slice(0, WINDOW);
    this.#convolutions = CONVOLUTIONS.map((shape, index) =>
      convolutionOf(this.#weighing, constants, index, shape),
    );
    this.#between = this.#convolutions.map(({ biases, places }) =>
      this.#weighing.floats((places + 2) * biases.length),
    );
    this.#gates = gatesOf(this.#weighing, constants);
    this.#verdict = weightsOf(constants, 'decoder.decoder.2.weight', 1, WIDTH, 1);
    this.#bias = weightsOf(constants, 'decoder.decoder.2.bias', 1)[0]!;
  }

  /** The probability, 0 to 1, that the next FRAME samples of a stream at 16 kHz are voice. */
  probability(frame: Int16Array, memory: Memory): number {
    this.#take(frame, memory.context);
    this.#transform();
    let values = this.#spectrum;
    this.#convolutions.forEach((layer, index) => {
      const into = this.#between[index]!;
      this.#convolve(layer, values, into);
      values = into;
    });
    // Behind the silent place.
    return sigmoid(this.#remember(values.subarray(WIDTH, 2 * WIDTH), memory));
  }

  /** Puts the samples behind their context, mirrors the end, and keeps the context of the next. */
  #take(frame: Int16Array, context: Float32Array): void {
    const samples = this.#samples;
    const end = CONTEXT + FRAME;
    samples.set(context);
    for (let at = 0; at < FRAME; at++) samples[CONTEXT + at] = frame[at]! / FULL_SCALE;
    for (let at = 0; at < MIRRORED; at++) samples[end + at] = samples[end - 2 - at]!;
    context.set(samples.subarray(end - CONTEXT, end));
  }

  /** The spectrum of each window, behind a silent one; of two windows at once. */
  #transform(): void {
    for (let window = 0; window < WINDOWS; window += 2) {
      this.#windowed.forEach((into, beside) => this.#cut((window + beside) * STEP, into));
      this.#fourier.powers(...this.#windowed, ...this.#powers);
      this.#powers.forEach((power, beside) => this.#keep(power, (window + 1 + beside) * BINS));
    }
  }

  #cut(from: number, into: Float64Array): void {
    for (let at = 0; at < WINDOW; at++) into[at] = this.#samples[from + at]! * this.#window[at]!;
  }

  #keep(power: Float64Array, to: number): void {
    for (let bin = 0; bin < BINS; bin++) this.#spectrum[to + bin] = Math.sqrt(power[bin]!);
  }

  /** Places of `values` and `into` follow one another, channel by channel, behind a silent one. */
  #convolve(layer: Convolution, values: Float32Array, into: Float32Array): void {
    const { biases, channels, stride, places } = layer;
    for (let place = 0; place < places; place++)
      this.#weighing.weigh(layer, values, place * stride * channels, into, (place + 1) * biases.length);
    rectify(into);
  }

  /** The recurrent layer (LSTM), which changes the memory, and the weighted sum of the positive parts of its output. */
  #remember(heard: Float32Array, { hidden, cell }: Memory): number {
    const gates = this.#opened;
    this.#remembered.set(heard);
    this.#remembered.set(hidden, WIDTH);
    this.#weighing.weigh(this.#gates, this.#remembered, 0, gates, 0);
    let sum = this.#bias;
    for (let at = 0; at < WIDTH; at++) {
      const kept = sigmoid(gates[GATES.forget + at]!) * cell[at]!;
      const state = kept + sigmoid(gates[GATES.input + at]!) * Math.tanh(gates[GATES.cell + at]!);
      const output = sigmoid(gates[GATES.output + at]!) * Math.tanh(state);
      cell[at] = state;
      hidden[at] = output;
      sum += this.#verdict[at]! * Math.max(0, output);
    }
    return sum;
  }
}

/** Loads the model. Throws if its file is missing or another one, naming it. */
export function loadNetwork(modelsFolder = defaultModelsFolder): SileroNetwork {
  const path = modelFile(modelsFolder, 'silero', 'silero_vad_v6.onnx');
  try {
    return new SileroNetwork(readFileSync(path));
  } catch (error) {
    throw new Error(`The model file ${path} cannot be used`, { cause: error });
  }
}
