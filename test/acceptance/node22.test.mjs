/**
 * Node 22, for which the native binding has no build: the gateway takes the `node` adapter with a loud line,
 * and the edge's suite passes there. The binary comes from npm.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';

t.setTimeout(600_000);

const NODE = fileURLToPath(
  new URL(`./node_modules/node-${process.platform}-${process.arch}/bin/node`, import.meta.url),
);
const DIST = new URL('../../dist/test/contract/', import.meta.url);
const SUITE = readdirSync(DIST).filter((name) => /^(edge-.*|native-tts)\.test\.js$/.test(name));
const skip = existsSync(NODE) ? false : `no Node 22 binary for ${process.platform}-${process.arch} on npm`;

async function run(file) {
  const child = spawn(NODE, [fileURLToPath(new URL(file, DIST))], {
    env: { ...process.env, TAP_TIMEOUT: '300' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'exit');
  return { code, output };
}

t.test('the suite is there', { skip }, async (t) => {
  t.ok(SUITE.length >= 4, SUITE.join(', '));
});

for (const file of SUITE) {
  t.test(file, { skip }, async (t) => {
    const { code, output } = await run(file);
    t.equal(
      code,
      0,
      output
        .split('\n')
        .filter((line) => /not ok|Error/.test(line))
        .slice(0, 20)
        .join('\n'),
    );
    t.match(output, /^1\.\.[1-9]/m, 'it ran its assertions');
  });
}
