/**
 * The session SDK's package: what is in it, that the examples of its page and strict programs compile against it, and the scripts
 * for pages. The short form packs what the checkout has built. The long form copies the folder alone into an empty one, and builds
 * it there as somebody does who has nothing else; the same holds for what comes out.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import t from '../../fixtures/tap.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { folderOf } from '../../fixtures/folders.js';
import { run } from '../../fixtures/ops/installed-package.js';
import { shortOrLong } from '../../fixtures/long.js';

const ROOT = fileURLToPath(CHECKOUT);
const CLIENT = join(ROOT, 'client');
const TSC = join(ROOT, 'node_modules', 'typescript', 'lib', 'tsc.js');
const MOST_KB = 60;

/** No program of another folder's packages is found. */
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);

async function succeeded(file: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, out, err } = await run(t, file, args, { cwd, env: { ...process.env, PATH } });
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}: ${err}\n${out}`);
  return out;
}

/** What has been built in the checkout, packed. */
async function packedHere(): Promise<string> {
  const folder = folderOf(t);
  await succeeded('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], CLIENT);
  return folder;
}

/** The folder's tracked files in an empty one, built and packed there. It is on a disk: packages are large. */
async function packedAlone(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'client-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const names = await succeeded('git', ['ls-files', '-co', '--exclude-standard', '.'], CLIENT);
  for (const name of names.trim().split('\n')) cpSync(join(CLIENT, name), join(folder, name));
  for (const args of [['ci'], ['run', 'build'], ['pack']]) await succeeded('npm', args, folder);
  return folder;
}

/** A project that has the package, and those that its examples use. */
const project = folderOf(t);
const installed = join(project, 'node_modules', 'speech-gateway-client');
const folder = await shortOrLong(packedHere, packedAlone)();
mkdirSync(installed, { recursive: true });
const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
await succeeded('tar', ['-xzf', join(folder, tarball), '--strip-components=1', '-C', installed], project);
for (const name of ['livekit-client', '@livekit/rtc-node']) {
  const place = join(project, 'node_modules', name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), place);
}
writeFileSync(join(project, 'package.json'), '{ "type": "module" }');

const inPackage = (name: string): string => readFileSync(join(installed, name), 'utf8');
const names = readdirSync(installed, { recursive: true, encoding: 'utf8' });

t.test('it holds code, types, sources and the licence, and no console', async (t) => {
  const wanted = ['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts', 'dist/browser.js'];
  const more = ['dist/widget/index.js', 'dist/widget/index.d.ts', 'dist/browser/widget.js', 'src/index.ts'];
  t.strictSame(
    [...wanted, ...more].filter((name) => !names.includes(name)),
    [],
  );
  t.strictSame(
    names.filter((name) => /console|tsbuildinfo|\.gz$/.test(name)),
    [],
  );
});

t.test('source maps lead to files of the package', async (t) => {
  const maps = names.filter((name) => name.endsWith('.map'));
  t.ok(maps.length > 20, `${maps.length} maps`);
  for (const name of maps) {
    const { sources, sourceRoot = '' } = JSON.parse(inPackage(name)) as {
      readonly sources: readonly string[];
      readonly sourceRoot?: string;
    };
    for (const source of sources)
      t.ok(names.includes(posix.join(posix.dirname(name), sourceRoot, source)), `${name}: ${source}`);
  }
  for (const name of names.filter((name) => /\.js$/.test(name)))
    for (const [, map = ''] of inPackage(name).matchAll(/^\/\/# sourceMappingURL=(.*)$/gm))
      t.ok(existsSync(join(installed, dirname(name), map)), `${name}: ${map}`);
});

/** What the examples of the page take for granted. */
const GIVEN = `
declare const map: { show(city: string): Promise<void> };
declare const button: HTMLButtonElement;
declare const hangUp: HTMLButtonElement;
declare function addLine(role: 'user' | 'agent', text: string): void;
declare function showFace(mode: 'listening' | 'thinking' | 'speaking'): void;
declare function showNoCall(): void;
declare const request: Request;
declare const secret: string;
declare const response: import('speech-gateway-client').SessionResponse;
`;

const STRICT = `
import { AgentSession, type ClientTools } from 'speech-gateway-client';
import { type SpeechAgentElement, type Texts } from 'speech-gateway-client/widget';

interface Answer { transport: string; token: string; media_url: string; session_id: string; config_hash: string }
export const one = (session: Answer) => new AgentSession({ session });
export const two = (ask: () => Promise<Answer>) => new AgentSession({ session: ask });
export const three = new AgentSession({ session: { transport: 'media', token: 't', media_url: 'ws://x' } });
// @ts-expect-error: a session comes from somewhere
export const four = new AgentSession({});

export const typed: ClientTools = { add: ({ a, b }: { a: number; b: number }) => a + b };
export const untyped: ClientTools = { add: ({ a, b }) => Number(a) + Number(b) };
// @ts-expect-error: an argument is an object with fields
export const wrong: ClientTools = { add: (a: number) => a };

const widget: SpeechAgentElement | null = document.querySelector('speech-agent');
const words: Partial<Texts> = { start: 'Anrufen' };
if (widget) Object.assign(widget, { texts: words, tools: typed });
await widget?.end();
widget?.session?.on('message', ({ role, text }) => console.log(role, text));
`;

const examples = [...inPackage('README.md').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);

const RESOLUTIONS = {
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
};

/** What the compiler says of these files. */
async function compiled(files: readonly string[], options: object): Promise<string> {
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
    ...{ target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], types: [], ...options },
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  return (await run(t, process.execPath, [TSC, '-p', project], { cwd: project })).out;
}

t.test('the examples of its page compile, however modules are found', async (t) => {
  t.ok(examples.length >= 3, `${examples.length} examples`);
  const files = examples.map((_, index) => `example-${index}.ts`);
  files.forEach((name, index) => writeFileSync(join(project, name), examples[index] ?? ''));
  writeFileSync(join(project, 'given.d.ts'), GIVEN);
  for (const [name, options] of Object.entries(RESOLUTIONS))
    t.equal(await compiled(['given.d.ts', ...files], { ...options, skipLibCheck: true }), '', name);
});

t.test('its types hold in strict programs, and need no skipLibCheck', async (t) => {
  writeFileSync(join(project, 'strict.ts'), STRICT);
  // TypeScript's own libraries are not what is checked.
  const ours = { skipLibCheck: false, skipDefaultLibCheck: true };
  for (const [name, options] of Object.entries(RESOLUTIONS))
    t.equal(await compiled(['strict.ts'], { ...options, ...ours }), '', name);
});

t.test('Node loads it, and the widget where pages are rendered', async (t) => {
  const code = `const { AgentSession } = await import('speech-gateway-client');
const { SpeechAgentElement } = await import('speech-gateway-client/widget');
console.log(typeof AgentSession, typeof SpeechAgentElement);`;
  const args = ['--input-type=module', '--eval', code];
  t.equal((await run(t, process.execPath, args, { cwd: project })).out, 'function function\n');
});

t.test('the widget is one small script, which loads another one for calls', async (t) => {
  const script = inPackage('dist/browser/widget.js');
  const kilobytes = gzipSync(script, { level: 9 }).length / 1024;
  t.ok(kilobytes <= MOST_KB, `${kilobytes} KB`);
  const [, told] = /The script has (\d+) KB/.exec(readFileSync(join(ROOT, 'docs/widget.md'), 'utf8')) ?? [];
  t.equal(Math.round(kilobytes), Number(told), 'as docs/widget.md says');
  t.match(script, /widget-call\.js/);
  t.notMatch(script, /RTCPeerConnection/, 'LiveKit is in the other one');
  t.notMatch(script, /\beval\(|new Function\b|innerHTML/);
});

t.test('a page has the session SDK with one script', async (t) => {
  const page: { SpeechGateway?: { readonly AgentSession: unknown } } = {};
  const script = inPackage('dist/browser/speech-gateway-client.js');
  runInNewContext(script, Object.assign(page, { TextEncoder, TextDecoder, URL }));
  t.type(page.SpeechGateway?.AgentSession, 'function');
});
