/**
 * The widget in headless Chromium, on a page with a policy that allows nothing but what docs/widget.md says: visitors call a
 * public agent by voice and in writing, and are told what is wrong in words.
 */
import { createServer } from 'node:http';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { client, makeAgent } from '../../dist/test/fixtures/platform/agents.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { sharedGateway } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';
import { violations } from './console.mjs';

const FIRST = 'Hello, this is the lamp shop.';
const HOURS = 'The shop opens at nine on weekdays.';
/** The microphone says it over and over; nobody interrupts (`interruptible`). */
const SAID = { before: 6, text: 'Please tell me when the shop opens.', after: 20 };
/** What a recogniser makes of it through a browser's codec and gain: "shop" is also heard as "shot", so that any answer will do. */
const HEARD = 'Please tell me when';
const CONSENT = 'You will talk to a computer.';
/** What the owner of an agent has set for its widgets. */
const SET = {
  ...{ agent_name: 'Lamps', greeting: 'Ask about our lamps.', proactive_message: 'May I help you?' },
  ...{ consent_required: true, text_input_enabled: false, text_contents: { start: 'Ring us', unknown: 'x' } },
};

/** As strict as docs/widget.md lets it be. */
const policyOf = ({ base }) =>
  [
    ...[
      "default-src 'none'",
      `script-src ${base}`,
      `connect-src ${base} ${base.replace('http', 'ws')} 'self'`,
    ],
    ...['img-src data:', "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"],
  ].join('; ');

const pageOf = ({ base }, attributes) => `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><title>ready</title>
<script src="${base}/widget.js" async></script>
<main><h1>A shop</h1><p>It sells lamps. <a href="#more">More</a></p></main>
<speech-agent ${attributes}></speech-agent></html>`;

/** Serves pages by their path, each with the attributes of its widget, and sessions on `/session` as `sessions` answers. */
async function serve(gateway, pages, sessions) {
  const server = createServer(async (request, response) => {
    if (request.url === '/session') {
      const { status, body, retry } = await sessions();
      return response.writeHead(status, retry && { 'retry-after': retry }).end(JSON.stringify(body));
    }
    const attributes = pages[request.url];
    if (attributes === undefined) return response.writeHead(404).end();
    const headers = { 'content-type': 'text/html', 'content-security-policy': policyOf(gateway) };
    return response.writeHead(200, headers).end(pageOf(gateway, attributes));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

const skip = skipReason('chromium');

/** Pages with the widget, each with its attributes. */
const pagesFor = (agentId, setId, base) => ({
  '/set': `agent-id="${setId}"`,
  '/over': `agent-id="${setId}" agent-name="Here" consent-text="" greeting="" text-input="on" position="inline"`,
  '/silent': `agent-id="${setId}" settings="off" position="inline"`,
  '/': `agent-id="${agentId}" agent-name="Lamp shop" consent-text="${CONSENT}"`,
  '/plain': `agent-id="${agentId}" agent-name="Lamp shop" position="inline" theme="dark"`,
  '/backend': 'token-url="/session" position="inline"',
  '/bare': `agent-id="${agentId}" transcript="off" text-input="off" mic-muting="off" position="bottom-left"`,
  '/gone': `agent-id="${agentId}" base-url="${base}/not/here" position="inline"`,
});

/** A public agent, and a browser on pages with its widget. */
async function startPages(t) {
  const { startBrowser } = await import('./browser.mjs');
  const gateway = await sharedGateway(t, 'speech');
  const call = client(gateway.base);
  const agentId = await makeAgent(call, {
    config: {
      prompt: { system_prompt: HOURS, first_message_mode: 'fixed', first_message: FIRST },
      conversation: { interruptible: false },
    },
  });
  const setId = await makeAgent(call, { config: { widget: SET } });
  /** What asks for sessions on behalf of `/backend`. */
  const backend = { answer: async () => call('sessions', { body: { agent_id: agentId } }) };
  const site = await serve(gateway, pagesFor(agentId, setId, gateway.base), () => backend.answer());
  t.teardown(() => site.stop());
  const change = { public_enabled: true, allowed_origins: [site.origin] };
  for (const id of [agentId, setId]) await call(`agents/${id}`, { method: 'PATCH', body: change });
  const browser = await startBrowser(gateway, SAID);
  t.teardown(() => browser.stop());
  const { page, complaints } = await browser.open(site.origin);
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  return {
    ...{ agentId, backend, call, complaints, page, site },
    ...lookingAt(page),
    /** How many sessions of the agent there are. */
    sessions: async () =>
      (await call(`sessions?status=pending,active&agent_id=${agentId}`)).body.sessions.length,
    go: async (path) => {
      await page.goto(`${site.origin}${path}`);
      await page.getByRole('region').waitFor();
    },
  };
}

/** What is looked for on a page. */
function lookingAt(page) {
  const focused = () =>
    page.evaluate(() => document.querySelector('speech-agent').shadowRoot.activeElement?.textContent);
  return {
    button: (name) => page.getByRole('button', { name, exact: true }),
    alert: (text) => page.getByRole('alert').filter({ hasText: text }).waitFor(),
    status: (text) => page.getByRole('status').filter({ hasText: text }).waitFor(),
    line: (text) => page.getByRole('log').getByText(text).first().waitFor(),
    focused,
    focus: (text) => until(`${text} has the focus`, async () => (await focused())?.includes(text)),
    well: async (t, what) => t.strictSame(await violations(page), [], `assistive technology reads ${what}`),
    /** Refuses the page its microphone, with an error of that name. */
    microphone: (name) =>
      page.evaluate((error) => {
        navigator.mediaDevices.getUserMedia = () =>
          Promise.reject(new DOMException('as the test says', error));
      }, name),
  };
}

/** In this order, on one page. */
const CASES = {
  'by voice: consent, the call, its transcript, muting, the end': async (
    t,
    { alert, button, focus, line, page, sessions, status, well },
  ) => {
    // What is complained of while a page is loaded is heard as well.
    await page.reload();
    const loaded = () =>
      page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname));
    await button('Talk to us').waitFor();
    await well(t, 'the launcher');
    await button('Talk to us').click();
    await focus('Start call');
    await well(t, 'the beginning');
    await button('Start call').click();
    await focus(CONSENT);
    await well(t, 'the consent');
    t.notOk((await loaded()).includes('/widget-call.js'), 'nothing is loaded before');
    t.equal(await sessions(), 0, 'nor is a session asked for');
    await button('Not now').click();
    await focus('Start call');
    await button('Start call').click();
    await button('Agree and start').click();
    await status('You are connected');
    t.ok((await loaded()).includes('/widget-call.js'));
    await focus('Mute');
    await line(FIRST);
    await page.getByRole('log').getByText('Lamp shop:').first().waitFor();
    await line(`You: ${HEARD}`);
    const answers = page.getByRole('log').getByText('Lamp shop:');
    await until('what was said is answered', async () => (await answers.count()) > 1);
    await well(t, 'a call');
    await button('Mute').click();
    await status('Your microphone is off.');
    t.equal(await page.evaluate(() => document.querySelector('speech-agent').session.inputVolume), 0);
    await button('Unmute').click();
    await status('You are connected');
    await button('Close').click();
    await button('Back to the call').click();
    await focus('Mute');
    await button('End call').click();
    await alert('You have ended the call.');
    await focus('Start again');
    await line(FIRST);
    await well(t, 'the end');
    await until('the session has ended', async () => (await sessions()) === 0);
  },

  'in writing, with the keyboard alone, and without a microphone': async (
    t,
    { alert, button, focus, go, line, microphone, page, status },
  ) => {
    await go('/');
    await microphone('NotFoundError');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await focus('Talk to us');
    await page.keyboard.press('Enter');
    await focus('Start call');
    await page.keyboard.press('Tab');
    await focus('Type instead');
    await page.keyboard.press('Space');
    await focus(CONSENT);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await status('Your microphone is off.');
    await until('the message has the focus', () =>
      page.evaluate(() => document.querySelector('speech-agent').shadowRoot.activeElement?.id === 'message'),
    );
    await page.keyboard.type('When does the shop open?');
    await page.keyboard.press('Enter');
    await line('When does the shop open?');
    await line(HOURS);
    await button('Unmute').click();
    await alert('No microphone was found.');
    await page.keyboard.press('Escape');
    await focus('Back to the call');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Shift+Tab');
    await focus('End call');
    await page.keyboard.press('Enter');
    await focus('Start again');
    await page.keyboard.press('Escape');
    await focus('Talk to us');
  },

  'in the page, dark, by a backend: what goes wrong is told, and what to do': async (
    t,
    { alert, backend, button, call, complaints, focus, go, line, microphone, page, sessions, well },
  ) => {
    await go('/plain');
    await well(t, 'a dark widget in the page');
    const REFUSALS = {
      NotAllowedError: 'The microphone is not allowed. Allow it for this page',
      NotFoundError: 'No microphone was found. Connect one',
      NotReadableError: 'Close other programs that use it',
    };
    for (const [error, told] of Object.entries(REFUSALS)) {
      await microphone(error);
      await page.getByRole('button', { name: /^Start/ }).click();
      await alert(told);
      await focus('Start again');
    }
    await page.evaluate(() => Object.defineProperty(window, 'isSecureContext', { value: false }));
    await button('Start again').click();
    await alert('works on secure pages (https) only');
    await well(t, 'a refusal');
    t.equal(await sessions(), 0, 'no session was spent');

    await go('/backend');
    const ANSWERS = [
      [{ status: 429, retry: '7', body: { message: 'Too many' } }, 'Start again in 7 seconds.'],
      [{ status: 503, body: {} }, 'Start again in a minute.'],
      [{ status: 403, body: { message: 'Agent is not public' } }, 'Please tell whoever runs this page.'],
      [{ status: 500, body: {} }, 'Check your connection'],
      [{ status: 200, body: { hello: 'there' } }, 'Please tell whoever runs this page.'],
    ];
    const usual = backend.answer;
    for (const [given, told] of ANSWERS) {
      backend.answer = async () => given;
      await page.getByRole('button', { name: /^Start/ }).click();
      await alert(told);
    }
    backend.answer = usual;
    complaints.length = 0;
    await button('Start again').click();
    await line(FIRST);
    const id = await page.evaluate(() => document.querySelector('speech-agent').session.sessionId);
    await call(`sessions/${id}/end`, { method: 'POST' });
    await alert('The assistant has ended the call.');
    exactly(t, (await call(`sessions/${id}`)).body, { source: 'api_key' });
  },

  'a gateway that is away, and a call that is given up': async (
    t,
    { alert, button, complaints, focus, go, page },
  ) => {
    await go('/gone');
    await page.route('**/not/here/**', (route) => route.abort());
    await button('Start call').click();
    await alert('The service cannot be reached.');
    complaints.length = 0;
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () => new Promise(() => undefined);
    });
    await button('Start again').click();
    await focus('Cancel');
    await page.keyboard.press('Enter');
    await focus('Start again');
    t.equal(await page.getByRole('alert').textContent(), '');
  },

  'what the agent’s owner has set, unless the page has it otherwise': async (
    t,
    { alert, button, complaints, focus, go, page, status, well },
  ) => {
    await go('/set');
    await button('May I help you?').waitFor();
    await well(t, 'a message beside the button');
    await button('Dismiss the message').click();
    await focus('Talk to us');
    t.equal(await button('May I help you?').count(), 0);
    await page.reload();
    await button('May I help you?').click();
    await focus('Ring us');
    await page.getByRole('heading', { name: 'Lamps' }).waitFor();
    await page.getByText('Ask about our lamps.').waitFor();
    await well(t, 'a greeting');
    t.equal(await button('Type instead').count(), 0);
    await button('Ring us').click();
    await focus('The conversation may be recorded.');
    await button('Not now').click();

    await go('/over');
    await button('Ring us').waitFor();
    await page.getByRole('heading', { name: 'Here' }).waitFor();
    await button('Type instead').waitFor();
    t.equal(await page.getByText('Ask about our lamps.').count(), 0);

    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    await go('/silent');
    await button('Start call').waitFor();
    t.notOk(
      asked.some((url) => url.endsWith('/widget')),
      'nothing is asked for',
    );

    let answer;
    await page.route('**/widget', (route) => void (answer = () => route.continue()));
    await go('/set');
    await button('Talk to us').click();
    await button('Start call').click();
    await status('Connecting');
    await focus('Cancel');
    await button('Cancel').click();
    await button('Start call').click();
    answer();
    await focus('The conversation may be recorded.');
    await page.unroute('**/widget');

    // One that never answers: nobody waits for longer than three seconds.
    await page.route('**/widget', () => undefined);
    await page.evaluate(() => document.querySelector('speech-agent').removeAttribute('agent-id'));
    await page.evaluate(
      (name) => document.querySelector('speech-agent').setAttribute('agent-id', name),
      'agent_x',
    );
    await button('Not now').click();
    await button('Start call').click();
    await status('Connecting');
    await alert('Please tell whoever runs this page.');
    complaints.length = 0;
    await page.unroute('**/widget');
  },

  'what the page wants: nothing but a button, its words, its tools, and to know': async (
    t,
    { button, go, page, sessions },
  ) => {
    await go('/bare');
    await page.evaluate(() => {
      window.told = [];
      const widget = document.querySelector('speech-agent');
      widget.texts = { launcher: 'Anrufen', start: 'Los', end: 'Auflegen' };
      for (const name of ['agent-start', 'agent-message', 'agent-error'])
        document.addEventListener(name, ({ type, detail }) => told.push([type, detail]));
    });
    await button('Anrufen').click();
    t.equal(await button('Type instead').count(), 0);
    await button('Los').click();
    await button('Auflegen').waitFor();
    t.equal(await button('Mute').count(), 0);
    await page.waitForFunction(() => told.length > 1);
    t.equal(await page.getByRole('log').count(), 0);
    const kinds = await page.evaluate(() => told.map(([type]) => type));
    t.strictSame([...new Set(kinds)].sort(), ['agent-message', 'agent-start']);
    await page.evaluate(() => document.querySelector('speech-agent').remove());
    await until('the call is over', async () => (await sessions()) === 0);
  },
};

t.test('visitors talk to an agent on a page', { skip, timeout: 580_000 }, async (t) => {
  const at = await startPages(t);
  for (const [name, holds] of Object.entries(CASES)) await t.test(name, (t) => holds(t, at));
  t.strictSame(at.complaints, []);
});
