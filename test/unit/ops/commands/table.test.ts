/** The table of commands is what npm's scripts and the program of the installed package run; each is named as it is called where it runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from '../../../fixtures/tap.js';
import { commandLine, startCommand } from '../../../../contracts/command-line.js';
import { CHECKOUT, isInstalled } from '../../../../contracts/places.js';
import { PROGRAMS } from '../../../../gateway/commands/main.js';

const load = async <T>(name: string): Promise<T> =>
  (await import(new URL(`ops/${name}`, CHECKOUT).href)) as T;
const { COMMANDS, DEFAULT } = await load<{
  COMMANDS: Record<string, { says: string; isNamed?: true }>;
  DEFAULT: string;
}>('commands/table.mjs');
const words = await load<{ commandLine(name: string, words?: string): string; START: string }>(
  'commands/words.mjs',
);
const paths = await load<{
  isInstalled(root: string): boolean;
  userFolder(env: NodeJS.ProcessEnv, home: string): string;
}>('setup/paths.mjs');
const { setUserFolders } = await load<{ setUserFolders(env: NodeJS.ProcessEnv, home: string): void }>(
  'setup/settings.mjs',
);
const { missingExtras } = await load<{
  missingExtras(
    env: NodeJS.ProcessEnv,
    folderOf: (name: string) => string | undefined,
  ): { variable: string; packages: string[] }[];
}>('setup/parts.mjs');

const { scripts, peerDependencies } = JSON.parse(
  readFileSync(new URL('package.json', CHECKOUT), 'utf8'),
) as Record<'scripts' | 'peerDependencies', Record<string, string>>;

t.test('every command is a script of npm, and every script that runs commands is in the table', async (t) => {
  const RUN = 'node ops/commands/run.mjs ';
  const run = Object.entries(scripts).filter(([, script]) => script.startsWith(RUN));
  for (const [name, script] of run) t.equal(script, RUN + name);
  // npm has its own word for it.
  t.strictSame(
    run
      .map(([name]) => name)
      .concat(DEFAULT)
      .sort(),
    Object.keys(COMMANDS).sort(),
  );
  t.match(scripts['start'], /ops\/setup\/start\.mjs$/);
});

t.test('the commands that need the database are those that the gateway has', async (t) => {
  const named = Object.keys(COMMANDS).filter((name) => COMMANDS[name]?.isNamed);
  t.strictSame(named.sort(), Object.keys(PROGRAMS).sort());
});

const ROOTS: readonly [root: string, installed: boolean, keys: string, start: string][] = [
  ['/srv/speech-gateway/', false, 'npm run keys -- list', 'npm start'],
  ['/srv/node_modules/x/speech-gateway/', false, 'npm run keys -- list', 'npm start'],
  ['/usr/lib/node_modules/speech-gateway/', true, 'speech-gateway keys list', 'speech-gateway'],
  ['/usr/lib/node_modules/@acme/speech-gateway/', true, 'speech-gateway keys list', 'speech-gateway'],
  [
    '/home/a/.npm/_npx/0123/node_modules/speech-gateway/',
    true,
    'npx speech-gateway keys list',
    'npx speech-gateway',
  ],
];

for (const [root, installed, keys, start] of ROOTS)
  t.test(`commands are called as they can be called in ${root}`, async (t) => {
    t.equal(isInstalled(root), installed);
    t.equal(paths.isInstalled(root), installed, 'set-up looks the same way');
    t.equal(commandLine('keys', 'list', root), keys);
    t.equal(startCommand(root), start);
  });

t.test('set-up and the gateway name commands alike', async (t) => {
  t.equal(words.commandLine('keys', 'list'), commandLine('keys', 'list'));
  t.equal(words.commandLine('keys'), commandLine('keys'));
  t.equal(words.START, startCommand());
});

t.test(
  "an installed package keeps data and models in the user's folder, unless settings say where",
  async (t) => {
    t.equal(paths.userFolder({}, '/home/a'), '/home/a/.local/share/speech-gateway');
    t.equal(paths.userFolder({ XDG_DATA_HOME: '/data' }, '/home/a'), '/data/speech-gateway');
    t.equal(paths.userFolder({ XDG_DATA_HOME: 'data' }, '/home/a'), '/home/a/.local/share/speech-gateway');
    const env = { DATA_DIR: '', MODELS_DIR: '/models' };
    setUserFolders(env, '/home/a');
    t.strictSame(env, { DATA_DIR: join('/home/a/.local/share/speech-gateway/data'), MODELS_DIR: '/models' });
  },
);

t.test('settings that need extras name them, and all extras are named', async (t) => {
  const none = () => undefined;
  t.strictSame(missingExtras({}, none), []);
  t.strictSame(missingExtras({ LIVEKIT_URL: 'wss://a' }, none), [
    { variable: 'LIVEKIT_URL', packages: ['@livekit/rtc-node'] },
  ]);
  t.strictSame(
    missingExtras({ LIVEKIT_URL: 'wss://a' }, () => '/here'),
    [],
  );
  const all = { LIVEKIT_URL: 'a', RECORDINGS_URL: 'b', OTEL_EXPORTER_OTLP_ENDPOINT: 'c' };
  const named = missingExtras(all, none).flatMap(({ packages }) => packages);
  t.strictSame(named.sort(), Object.keys(peerDependencies).sort());
});
