/** The README's examples, run as they stand: the shell commands and the JavaScript of its SDK section. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from '../../dist/test/fixtures/tap.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { sharedGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';

const README = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
const PACKAGES = fileURLToPath(new URL('./node_modules', import.meta.url));
const SPOKEN = 'Hello, thank you for calling. How can I help you today?';

const gateway = await sharedGateway(t, 'speech');
const folder = await mkdtemp(join(tmpdir(), 'readme-'));
t.teardown(() => rm(folder, { recursive: true, force: true }));
await symlink(PACKAGES, join(folder, 'node_modules'));

/** The first block of code in `language` under the heading, with the address of our gateway. */
function blockOf(heading, language) {
  const section = README.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const blocks = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  const [, , code = ''] = blocks.findLast(([, name]) => name === language) ?? [];
  return code.replaceAll('http://localhost:8080', gateway.base);
}

async function run(command, args) {
  const env = { ...process.env, KEY: TEST_KEY };
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

const words = (text) => text.toLowerCase().match(/[a-z]+/g);

t.test('the commands of the quick start', { skip: skipReason('bash', 'curl') }, async (t) => {
  const commands = blockOf('Quick start', 'sh').replace(/^export KEY=.*$/m, '');
  const { code, stdout, stderr } = await run('bash', ['-euc', commands]);
  t.equal(code, 0, stderr);
  t.strictSame(words(JSON.parse(stdout).text), words(SPOKEN), 'what was said comes back');
});

t.test('the JavaScript of the SDK section', async (t) => {
  const program = join(folder, 'speak.mjs');
  await writeFile(program, blockOf('Use the SDK that you have', 'js'));
  const { code, stdout, stderr } = await run(process.execPath, [program]);
  t.equal(code, 0, stderr);
  t.strictSame(words(stdout), words(SPOKEN), 'what was said comes back');
});
