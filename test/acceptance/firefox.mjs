/**
 * Headless Firefox over WebDriver BiDi (https://w3c.github.io/webdriver-bidi/), as much of it as walking through pages needs.
 * Playwright's own BiDi client asks for a command that Debian's release of Firefox does not have.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import WebSocket from 'ws';
import { endWithTests } from '../../dist/test/fixtures/processes/child-processes.js';
import { externalTool } from '../../dist/test/fixtures/external.js';
import { until } from '../../dist/test/fixtures/until.js';
import { temporaryFolder } from '../../dist/test/fixtures/folders.js';

/** A microphone that hums, given to every page; sound without a touch; no requests of its own, and no pages or processes kept ready. */
const PREFERENCES = {
  'media.navigator.streams.fake': true,
  'media.navigator.permission.disabled': true,
  'media.autoplay.default': 0,
  'media.autoplay.blocking_policy': 0,
  'media.peerconnection.ice.loopback': true,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,none',
  'dom.ipc.processPrelaunch.enabled': false,
  'dom.ipc.processCount': 1,
  'browser.startup.page': 0,
  'browser.startup.homepage_override.mstone': 'ignore',
  'browser.newtab.preload': false,
  'browser.aboutwelcome.enabled': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'toolkit.telemetry.enabled': false,
  'extensions.enabledScopes': 0,
};

const ADDRESS = /WebDriver BiDi listening on (ws:\S+)/;

async function addressOf(child) {
  for await (const line of createInterface({ input: child.stderr })) {
    const [, address] = ADDRESS.exec(line) ?? [];
    if (address) return address;
  }
  throw new Error('Firefox has ended before it listened');
}

/** `{ send, events }`: commands are answered, `events` are those of the browser so far. */
async function connect(address) {
  const socket = new WebSocket(`${address}/session`);
  await once(socket, 'open');
  const waiting = new Map();
  const events = [];
  let count = 0;
  socket.on('message', (data) => {
    const message = JSON.parse(data);
    if (message.id === undefined) return void events.push(message);
    const { resolve, reject } = waiting.get(message.id);
    if (message.type === 'error') reject(new Error(`${message.error}: ${message.message}`));
    else resolve(message.result);
  });
  const send = (method, params = {}) =>
    new Promise((resolve, reject) => {
      waiting.set((count += 1), { resolve, reject });
      socket.send(JSON.stringify({ id: count, method, params }));
    });
  return { send, events, close: () => socket.close() };
}

/** A tab. What is run in it counts as a user's touch. `run(page => …, …values)` runs a function in it, whose values and answer are JSON. */
async function tabOf({ send, events }) {
  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded'] });
  const { context } = await send('browsingContext.create', { type: 'tab' });
  const run = async (act, ...values) => {
    const expression = `Promise.resolve((${act})(...${JSON.stringify(values)})).then((value) => JSON.stringify(value ?? null))`;
    const answer = await send('script.evaluate', {
      expression,
      target: { context },
      awaitPromise: true,
      userActivation: true,
    });
    if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text);
    return JSON.parse(answer.result.value);
  };
  return {
    run,
    goTo: (url) => send('browsingContext.navigate', { context, url, wait: 'complete' }),
    resize: (width, height) => send('browsingContext.setViewport', { context, viewport: { width, height } }),
    /** Errors that the page has logged. */
    complaints: () =>
      events.filter(({ params }) => params.level === 'error').map(({ params }) => params.text ?? ''),
    /** Until `act` answers something true in the page. */
    wait: (what, act, ...values) => until(what, () => run(act, ...values)),
  };
}

export async function startFirefox() {
  const profile = temporaryFolder();
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  await writeFile(join(profile, 'user.js'), lines.join('\n'));
  const child = endWithTests(
    spawn(
      externalTool('firefox-esr'),
      ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'],
      { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile } },
    ),
  );
  const gone = once(child, 'exit');
  const connection = await connect(await addressOf(child));
  child.stderr.resume();
  return {
    tab: await tabOf(connection),
    async stop() {
      await connection.send('browser.close').catch(() => undefined);
      connection.close();
      await gone;
      await rm(profile, { recursive: true, force: true });
    },
  };
}
