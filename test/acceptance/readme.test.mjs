/**
 * The shell commands of the README and of other pages, as they stand (test/fixtures/ops/shell-lines.ts has the list), and the
 * JavaScript of the README's SDK section. Addresses in them are replaced by the gateway's.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { client, makeAgent } from '../../dist/test/fixtures/platform/agents.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { sharedPlatform } from '../../dist/test/fixtures/platform/platform.js';
import { blocksIn, rowsOf, SENDING } from '../../dist/test/fixtures/ops/shell-lines.js';

const ROOT = new URL('../../', import.meta.url);
const read = (page) => readFile(new URL(page, ROOT), 'utf8');
const README = await read('README.md');
const PACKAGES = fileURLToPath(new URL('./node_modules', import.meta.url));
const SPOKEN = 'Hello, thank you for calling. How can I help you today?';

/** A workspace of its own: agents and telephone numbers are made in it. */
const { gateway, key } = await sharedPlatform(t, 'speech');
const folder = await mkdtemp(join(tmpdir(), 'readme-'));
t.teardown(() => rm(folder, { recursive: true, force: true }));
await symlink(PACKAGES, join(folder, 'node_modules'));
await mkdir(join(folder, 'data'));
await writeFile(join(folder, 'data', 'api-key'), `${key}\n`);

/** The first block of JavaScript under the heading. */
function scriptUnder(heading) {
  const section = README.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const [, code = ''] = /^```js\n(.*?)^```$/ms.exec(section) ?? [];
  return code.replaceAll('http://localhost:8080', gateway.base);
}

/** `KEY` is set unless the commands read the key themselves. */
async function run(command, args, env = {}) {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, KEY: key, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

const isSent = (block) => rowsOf(block).some(([, , { test }]) => test === SENDING);

/** What the page's commands printed, each block in a shell of its own; `given` stands before each, `names` replaces names. */
async function printed(t, page, { given = '', names = {}, env } = {}) {
  const blocks = blocksIn(page, await read(page)).filter(isSent);
  t.ok(blocks.length > 0, page);
  let all = '';
  for (const { code } of blocks) {
    let commands = code.replaceAll(/http:\/\/localhost:8080|https:\/\/speech\.example\.com/g, gateway.base);
    for (const [name, own] of Object.entries(names)) commands = commands.replaceAll(name, own);
    const { code: status, stdout, stderr } = await run('bash', ['-euc', given + commands], env);
    t.equal(status, 0, `${page}: ${stderr}`);
    all += stdout;
  }
  return all;
}

const words = (text) => text.toLowerCase().match(/[a-z]+/g);
const skip = skipReason('bash', 'curl');

t.test('README.md: the quick start, with the key as it is kept', { skip }, async (t) => {
  const { text } = JSON.parse(await printed(t, 'README.md', { env: { KEY: '' } }));
  t.strictSame(words(text), words(SPOKEN), 'what was said comes back');
});

t.test('docs/native-api.md: speech and transcription', { skip }, async (t) => {
  const { text, segments } = JSON.parse(await printed(t, 'docs/native-api.md'));
  t.match(text, /hello/i);
  t.ok(segments.length > 0, 'with the times of words');
});

/** The first lines of the tutorial define what the rest of the page uses. */
const TUTORIAL = `AGENTS=${gateway.base}/v1/agent
api() { curl -sf -H "Authorization: Bearer $KEY" "$@"; }
json() { api -H "Content-Type: application/json" "$@"; }
`;

t.test('docs/voice-agents.md: an MCP server', { skip }, async (t) => {
  const tool = JSON.parse(await printed(t, 'docs/voice-agents.md', { given: TUTORIAL }));
  exactly(t, tool, { name: 'crm', tool_type: 'mcp', allowed_tools: ['find_customer'] });
});

/** What stands for a credential on the pages, and one of 32 bytes in base64. */
const CREDENTIAL = { '"…"': `"${Buffer.alloc(32, 'secret').toString('base64')}"` };

const PROVIDERS = ['exotel', 'genesys', 'plivo', 'telnyx', 'twilio', 'vonage'];

t.test('docs/phone: a number at each provider', { skip }, async (t) => {
  const agent = await makeAgent(client(gateway.base, key));
  for (const provider of PROVIDERS) {
    const names = { agent_5f0c8a1b2c3d4e5f60718293: agent, ...CREDENTIAL };
    const number = JSON.parse(await printed(t, `docs/phone/${provider}.md`, { names }));
    exactly(t, number, { provider, agent_id: agent, enabled: true }, provider);
    t.match(number.answer_url, `/v1/phone/${provider}/`, provider);
  }
});

t.test('the JavaScript of the SDK section', async (t) => {
  const program = join(folder, 'speak.mjs');
  await writeFile(program, scriptUnder('Use the SDK that you have'));
  const { code, stdout, stderr } = await run(process.execPath, [program]);
  t.equal(code, 0, stderr);
  t.strictSame(words(stdout), words(SPOKEN), 'what was said comes back');
});
