/**
 * The versions of Node that the gateway is for, beside the one that runs the tests. On each a whole gateway speaks,
 * transcribes, opens sockets and holds a call. The short form tries the version that is farthest from the running one, the
 * long form all, and the suite of the HTTP stacks as well. The binaries come from npm.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from '../../dist/test/fixtures/tap.js';
import { shortOrLong } from '../../dist/test/fixtures/long.js';

t.setTimeout(1_200_000);

/** Major versions; package.json pins them. */
const VERSIONS = ['22', '24'];

const SUITE = ['gateway/whole-gateway'];
const LONG_SUITE = [
  ...SUITE,
  'native/tts',
  'edge/adapters',
  'edge/body',
  'edge/drain',
  'edge/guard',
  'edge/heads',
  'edge/operation',
  'edge/replies',
  'edge/replies-streams',
  'edge/sockets',
  'edge/sockets-handshakes',
  'edge/sockets-queues',
];

const distance = (version) => Math.abs(version - process.versions.node.split('.')[0]);
const FARTHEST = VERSIONS.toSorted((a, b) => distance(b) - distance(a))[0];

const binaryOf = (version) =>
  fileURLToPath(
    new URL(`./node_modules/node-${version}-${process.platform}-${process.arch}/bin/node`, import.meta.url),
  );

async function run(node, name) {
  const file = fileURLToPath(new URL(`../../dist/test/contract/${name}.test.js`, import.meta.url));
  const child = spawn(node, [file], {
    env: { ...process.env, TAP_TIMEOUT: '300' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  return { code, output };
}

/** The lines that say what is wrong. */
const faults = (output) =>
  output
    .split('\n')
    .filter((line) => /not ok|Error/.test(line))
    .slice(0, 20)
    .join('\n');

/** Why a version is not tried; false where it is. */
function skipOf(version) {
  if (shortOrLong(version !== FARTHEST, false))
    return `Node ${FARTHEST} is farther from Node ${process.versions.node}; npm run test:long tries both`;
  if (existsSync(binaryOf(version))) return false;
  return `no Node ${version} binary for ${process.platform}-${process.arch} on npm`;
}

for (const version of VERSIONS)
  t.test(`Node ${version}`, { skip: skipOf(version) }, async (t) => {
    const node = binaryOf(version);
    for (const name of shortOrLong(SUITE, LONG_SUITE)) {
      const { code, output } = await run(node, name);
      t.equal(code, 0, `${name}\n${code === 0 ? '' : faults(output)}`);
      t.match(output, /^1\.\.[1-9]/m, `${name} ran its assertions`);
    }
  });
