/** A WebAssembly program that is run again and again in one memory finds nothing of the runs before. */
import t from '../../../../fixtures/tap.js';
import { WasmProgram } from '../../../../../engines/backends/flite/wasm-program.js';
import { exactly } from '../../../../fixtures/exactly.js';

const CONSTANTS = { at: 16, text: 'constants' };
const VARIABLES = { at: 32, text: 'variables' };
const PAGE_BYTES = 65_536;

const section = (kind: number, contents: readonly number[]): number[] => [kind, contents.length, ...contents];
const name = (text: string): number[] => [text.length, ...Buffer.from(text)];
const segment = ({ at, text }: typeof CONSTANTS): number[] => [0, 0x41, at, 0x0b, ...name(text)];

/** A memory of one page with two segments of data, and no code: a run is what the test does. */
const PROGRAM = Uint8Array.from([
  ...Buffer.from('\0asm\x01\0\0\0', 'latin1'),
  ...section(5, [1, 0, 1]),
  ...section(7, [1, ...name('memory'), 2, 0]),
  ...section(11, [2, ...segment(CONSTANTS), ...segment(VARIABLES)]),
  ...section(0, name('remarks')),
]);

const AS_NEW = Buffer.alloc(PAGE_BYTES);
for (const { at, text } of [CONSTANTS, VARIABLES]) AS_NEW.write(text, at);

const memoryOf = ({ exports }: WebAssembly.Instance): WebAssembly.Memory =>
  exports['memory'] as WebAssembly.Memory;
const bytesOf = (instance: WebAssembly.Instance): Buffer => Buffer.from(memoryOf(instance).buffer);

/** Writes everywhere but in the constants. */
const soil = (instance: WebAssembly.Instance): void =>
  void bytesOf(instance)
    .fill(1, 0, CONSTANTS.at)
    .fill(1, CONSTANTS.at + CONSTANTS.text.length);

t.test('a run finds its memory as new, and its constants where the run before had them', async (t) => {
  const program = await WasmProgram.load(PROGRAM);
  const memories = new Set<unknown>();
  for (let run = 0; run < 3; run++)
    program.run({}, (instance) => {
      t.ok(bytesOf(instance).subarray(0, PAGE_BYTES).equals(AS_NEW), `run ${run}`);
      t.ok(
        bytesOf(instance)
          .subarray(PAGE_BYTES)
          .every((byte) => byte === 0),
        'what has grown is empty',
      );
      memories.add(memoryOf(instance));
      memoryOf(instance).grow(1);
      soil(instance);
    });
  t.equal(memories.size, 1);
});

/** What makes a memory useless for the next run. */
const ENDS: Readonly<Record<string, (instance: WebAssembly.Instance) => void>> = {
  'has thrown': () => {
    throw new Error('a trap');
  },
  'has grown beyond 48 MB': (instance) => void memoryOf(instance).grow(768),
};

for (const [end, use] of Object.entries(ENDS))
  t.test(`the memory of a run that ${end} is not used again`, async (t) => {
    const program = await WasmProgram.load(PROGRAM);
    const spoil = (instance: WebAssembly.Instance): void => {
      bytesOf(instance).fill(1, 0, PAGE_BYTES);
      use(instance);
    };
    try {
      program.run({}, spoil);
    } catch (error) {
      exactly(t, error, { message: 'a trap' });
    }
    program.run({}, (instance) => t.ok(bytesOf(instance).equals(AS_NEW)));
  });
