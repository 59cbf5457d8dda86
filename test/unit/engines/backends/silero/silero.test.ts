/** Silero's parts: what is voice and what is silence, the sums of its network, and the file that its weights come from. */
import t from '../../../../fixtures/tap.js';
import { SileroNetwork } from '../../../../../engines/backends/silero/network.js';
import { constantsOf } from '../../../../../engines/backends/silero/onnx-constants.js';
import { Voicing } from '../../../../../engines/backends/silero/voicing.js';
import { AT_ONCE, WeightedSums } from '../../../../../engines/backends/silero/weighing.js';
import { onnxFile } from '../../../../fixtures/engines/onnx.js';
import { seeded } from '../../../../fixtures/random.js';

const PATIENCE = { begin: 3, end: 8, long: 20 };
const times = (count: number, probability: number): number[] => Array<number>(count).fill(probability);

/** What is told frame by frame: `v` for voice, a point for none. */
function told(probabilities: readonly number[], voicing = new Voicing(PATIENCE)): string {
  return probabilities.map((each) => (voicing.push(each) ? 'v' : '.')).join('');
}

for (const [rule, probabilities, expected] of [
  ['a voice begins with its third frame in a row', times(4, 0.9), '..vv'],
  ['a click begins none', [0.9, 0.9, 0.4, 0.9, 0.9, 0.4], '......'],
  ['exactly one half is no voice', times(4, 0.5), '....'],
  ['a voice ends with its eighth frame of silence', [...times(3, 0.9), ...times(9, 0.1)], '..vvvvvvvv..'],
  [
    'a sound within the silence lets it begin anew',
    [...times(3, 0.9), ...times(7, 0.1), 0.6, ...times(8, 0.1)],
    `..v${'v'.repeat(15)}.`,
  ],
  [
    'what is hardly a voice neither begins a silence',
    [...times(3, 0.9), ...times(12, 0.4)],
    `..v${'v'.repeat(12)}`,
  ],
  [
    'nor ends one: the next silent frame is its end',
    [...times(3, 0.9), 0.1, ...times(8, 0.4), 0.1],
    `..v${'v'.repeat(9)}.`,
  ],
  [
    'a voice begins as slowly after another one',
    [...times(3, 0.9), ...times(8, 0.1), ...times(3, 0.9)],
    '..vvvvvvvv...v',
  ],
  ['a long voice ends with a short pause', [...times(23, 0.95), ...times(5, 0.1)], `..${'v'.repeat(25)}.`],
  ['and with what is hardly a voice', [...times(23, 0.95), ...times(5, 0.7)], `..${'v'.repeat(25)}.`],
  ['but not with what may be one', [...times(23, 0.95), ...times(9, 0.8)], `..${'v'.repeat(30)}`],
] as const)
  t.test(`voicing: ${rule}`, async (t) => {
    t.equal(told(probabilities), expected);
  });

t.test('voicing: a clear voice begins with its second frame, and no single frame begins one', async (t) => {
  const by = (...probabilities: readonly number[]): string =>
    told(probabilities, new Voicing({ ...PATIENCE, sure: 4 }));
  t.equal(by(0.9, 0.9, 0.9), '.vv', 'two frames of 9 to 1 are 81 to 1');
  t.equal(by(0.6, 0.99, 0.9), '.vv', 'one may make up for the other');
  t.equal(by(0.87, 0.87, 0.87), '..v', 'less than 55 to 1 takes a third');
  t.equal(by(1, 0.1, 1, 0.1), '....', 'a click, however clear');
  t.equal(by(0.9, 0.4, 0.9, 0.9), '...v', 'what came before a silent frame is forgotten');
  t.equal(by(0.9, 0.9, ...times(8, 0.1), 0.9, 0.6), '.vvvvvvvv...', 'so is the voice before');
});

t.test(
  'voicing: the silence of a voice that has ended is known, and a part of a long one may be its beginning',
  async (t) => {
    const voicing = new Voicing(PATIENCE);
    told([...times(3, 0.9), ...times(8, 0.1)], voicing);
    t.equal(voicing.silent, 8);
    told(times(23, 0.95), voicing);
    t.equal(voicing.silent, 0, 'none while there is voice');
    voicing.restart();
    t.equal(told(times(6, 0.1), voicing), 'vvvvvv', 'a pause as of a short one');
  },
);

t.test('sums are as in JavaScript, wherever their values are, and reach no further', async (t) => {
  const next = seeded(1);
  for (const [inputs, outputs] of [
    [1, AT_ONCE],
    [387, 2 * AT_ONCE],
    [256, 8 * AT_ONCE],
  ] as const) {
    const weighing = new WeightedSums(200_000);
    const random = (length: number): Float32Array => {
      const floats = weighing.floats(length);
      floats.set(floats.map(() => next() * 2 - 1));
      return floats;
    };
    const [weights, biases, values] = [random(inputs * outputs), random(outputs), random(inputs + 3)];
    const into = weighing.floats(outputs + 5);
    weighing.weigh({ inputs, weights, biases }, values, 3, into, 4);
    const weightOf = (output: number, input: number): number =>
      weights[(output - (output % AT_ONCE)) * inputs + input * AT_ONCE + (output % AT_ONCE)]!;
    for (let output = 0; output < outputs; output += 1) {
      let sum = biases[output]!;
      for (let input = 0; input < inputs; input += 1) sum += weightOf(output, input) * values[3 + input]!;
      t.ok(Math.abs(into[4 + output]! - sum) < 1e-4, `${inputs} × ${outputs}: output ${output}`);
    }
    t.same([...into.subarray(0, 4), into.at(-1)], [0, 0, 0, 0, 0], 'nothing beside');
  }
  t.throws(() => new WeightedSums(16).floats(1_000_000), RangeError, 'there is no more than there is');
});

const values = Float32Array.of(1, -2, 0.5, 4);
const file = onnxFile({
  inputs: [{ name: 'x', type: 'float', dimensions: 2 }],
  outputs: [{ name: 'y', type: 'float', dimensions: 2 }],
  nodes: [{ type: 'MatMul', inputs: ['x', 'w'], outputs: ['y'], attributes: { to: 300 } }],
  constants: { w: { shape: [2, 2], values } },
  metadata: { model: 'small' },
});

t.test('constants of a file are read by name, with their shapes', async (t) => {
  const [graph, ...more] = [...constantsOf(file)];
  t.same(more, []);
  t.same([...(graph?.keys() ?? [])], ['w']);
  t.same(graph?.get('w')?.shape, [2, 2]);
  t.same([...(graph?.get('w')?.values ?? [])], [...values]);
});

t.test('a file that is cut off or changed is refused or read, and never waited for', async (t) => {
  for (let length = 0; length < file.length; length += 1)
    t.throws(() => new SileroNetwork(file.subarray(0, length)), Error, `${length} bytes`);
  const random = seeded(2);
  for (let turn = 0; turn < 500; turn += 1) {
    const changed = Buffer.from(file);
    changed[Math.floor(random() * file.length)] = Math.floor(random() * 256);
    t.throws(() => new SileroNetwork(changed), Error);
  }
  t.throws(
    () => new SileroNetwork(file),
    /not the model of Silero 6: "stft\.forward_basis_buffer" is missing/,
  );
});
