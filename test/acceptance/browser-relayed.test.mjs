/**
 * The session SDK in headless Chromium whose network lets only TCP out: it comes by TURN alone, of coturn, over TCP and over UDP
 * (docs/operate/network.md "NAT and TURN").
 */
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from '../../dist/test/fixtures/tap.js';
import { client, makeAgent } from '../../dist/test/fixtures/platform/agents.js';
import { externalTool, skipReason } from '../../dist/test/fixtures/external.js';
import { temporaryFolder } from '../../dist/test/fixtures/folders.js';
import { freePort } from '../../dist/test/fixtures/free-port.js';
import { EMBEDDED, startGateway } from '../../dist/test/fixtures/gateway.js';
import { shortOrLong } from '../../dist/test/fixtures/long.js';
import { until } from '../../dist/test/fixtures/until.js';

const FIRST = 'Hello, this is the lamp shop.';
const PATIENCE_MS = 90_000;
const skip =
  shortOrLong('a browser and a TURN server: npm run test:long', false) ||
  skipReason('chromium', 'turnserver');

const listens = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => undefined);
    setTimeout(() => socket.destroy(), 100);
  });

/** A TURN server on loopback; resolves with its port. */
async function startTurn(t) {
  const port = await freePort();
  const folder = temporaryFolder();
  const flags = [
    ...[
      '-n',
      '--no-cli',
      '--no-tls',
      '--no-dtls',
      '--lt-cred-mech',
      '--allow-loopback-peers',
      '--no-stdout-log',
    ],
    ...['-L', '127.0.0.1', '-E', '127.0.0.1', '-p', String(port), '-r', 'local', '-u', 'gateway:secret'],
    ...['--pidfile', join(folder, 'pid'), '--userdb', join(folder, 'users'), '-l', join(folder, 'log')],
  ];
  const server = spawn(externalTool('turnserver'), flags, { stdio: 'ignore' });
  t.teardown(() => server.kill('SIGKILL'));
  await until('the TURN server listens', () => listens(port));
  return port;
}

/** In the page: connections use relays alone. */
function relayOnly() {
  const Real = RTCPeerConnection;
  const relayed = (configuration) => ({ ...configuration, iceTransportPolicy: 'relay' });
  window.RTCPeerConnection = class extends Real {
    constructor(configuration, ...more) {
      super(relayed(configuration), ...more);
    }
    setConfiguration(configuration) {
      super.setConfiguration(relayed(configuration));
    }
  };
}

for (const transport of ['tcp', 'udp'])
  t.test(`Chromium joins by TURN alone, over ${transport}`, { skip, timeout: 280_000 }, async (t) => {
    const { servePage, startBrowser } = await import('./browser.mjs');
    const turn = await startTurn(t);
    const server = {
      urls: [`turn:127.0.0.1:${turn}?transport=${transport}`],
      username: 'gateway',
      credential: 'secret',
    };
    const gateway = await startGateway({ ...EMBEDDED, ICE_SERVERS: JSON.stringify([server]) });
    t.teardown(() => gateway.stop());
    const site = await servePage();
    t.teardown(() => site.stop());
    const browser = await startBrowser(gateway);
    t.teardown(() => browser.stop());
    const agentId = await makeAgent(client(gateway.base), {
      config: { prompt: { first_message_mode: 'fixed', first_message: FIRST } },
      change: { public_enabled: true, allowed_origins: [site.origin] },
    });
    const { page } = await browser.open(site.origin);
    await page.evaluate(relayOnly);
    await page.evaluate((agent) => talk({ agent }), { agentId, baseUrl: gateway.base });
    const answers = () => page.evaluate(() => told.filter(({ name }) => name === 'agentResponse'));
    const [{ event }] = await until(
      'it hears the agent',
      async () => {
        const all = await answers();
        return all.length > 0 ? all : undefined;
      },
      PATIENCE_MS,
    );
    t.equal(event.text.trim(), FIRST);
    t.ok((await page.evaluate(() => loudest.output)) > 0.3, 'the agent is loud');
    await page.evaluate(() => session.end());
  });
