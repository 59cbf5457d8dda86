/** What libraries and Node print in a process becomes lines of its log (gateway/wiring/logging/strays.ts). */
import { spawnSync } from 'node:child_process';
import { BUILT } from '../../../../../contracts/places.js';
import t from '../../../../fixtures/tap.js';
import { exactly } from '../../../../fixtures/exactly.js';

const MODULES = {
  log: new URL('gateway/wiring/log.js', BUILT).href,
  strays: new URL('gateway/wiring/logging/strays.js', BUILT).href,
  say: new URL('gateway/wiring/logging/say.js', BUILT).href,
};

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly source?: string;
}

function run(script: string, env: NodeJS.ProcessEnv = {}) {
  const program = `
    import { createLog } from '${MODULES.log}';
    import { takeStrays } from '${MODULES.strays}';
    import { say } from '${MODULES.say}';
    ${script}`;
  const argv = ['--input-type=module', '--eval', program];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', ...env },
  });
  const printed = stderr.split('\n').filter((line) => line !== '');
  return { status, stdout, printed, lines: () => printed.map((line) => JSON.parse(line) as Line) };
}

t.test('the console and warnings of Node', async (t) => {
  const { status, stdout, lines } = run(`
    takeStrays(createLog('info'));
    console.log('loaded %d', 3);
    console.error('it', { failed: true });
    process.emitWarning('old', 'DeprecationWarning', 'DEP1');`);
  t.equal(status, 0);
  t.equal(stdout, '');
  exactly(t, lines(), [
    { level: 30, msg: 'loaded 3', source: 'console' },
    { level: 50, msg: 'it { failed: true }', source: 'console' },
    { level: 40, msg: 'old', source: 'node', code: 'DEP1' },
  ]);
});

for (const [how, script] of Object.entries({
  thrown: `throw new Error('lost')`,
  rejected: `await Promise.reject(new Error('lost'))`,
  'rejected by nobody awaited': `Promise.reject(new Error('lost')); setTimeout(() => 0, 1000)`,
}))
  t.test(`an error that is ${how} ends the process, and is its last line`, async (t) => {
    const { status, lines } = run(`
      const log = createLog('info');
      takeStrays(log);
      log.info({}, 'before');
      ${how === 'rejected' ? `setTimeout(async () => { ${script} })` : script};`);
    t.equal(status, 1);
    exactly(t, lines(), [
      { level: 30, msg: 'before' },
      { level: 60, err: { message: 'lost', stack: /lost/ } },
    ]);
  });

t.test('what is said before there is a log is a line of it for programs, and words for people', async (t) => {
  const script = `say('fatal', 'PORT must be a number');`;
  exactly(t, run(script).lines(), [{ level: 60, msg: 'speech gateway: PORT must be a number' }]);
  t.strictSame(run(script, { LOG_FORMAT: 'text' }).printed, ['speech gateway: PORT must be a number']);
});
