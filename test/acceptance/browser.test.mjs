/**
 * The session SDK in headless Chromium: a page of an allowed origin talks to a public agent through its microphone,
 * loses its connection, and goes on.
 */
import { exactly, rejectsExactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { client, makeAgent } from '../../dist/test/fixtures/platform/agents.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { sharedGateway } from '../../dist/test/fixtures/gateway.js';
import { shortOrLong } from '../../dist/test/fixtures/long.js';
import { until } from '../../dist/test/fixtures/until.js';

const FIRST = 'Hello, this is the lamp shop.';
const STORY = [
  'The oldest lamp in the shop was made by a sailor who had lost his ship and his way home in a winter storm.',
  'The story of the oldest lamp goes that its light can be seen across the whole bay on a clear night.',
];
const ANSWER = 'The map is on your screen now.';
/**
 * The microphone says it over and over, and from the beginning where it is turned on or changed. Both silences are for what a busy
 * machine is late with: the agent answers and the microphone is muted before it speaks again. Nobody interrupts (`interruptible`).
 */
const SAID = { before: 8, text: 'Please show me the map.', after: 12 };
/**
 * LiveKit's ways to lose a connection. The first becomes the second, since the gateway asks who would resume to join anew;
 * client-sdk.test.mjs tries both in Node.
 */
const LOSSES = shortOrLong(['signal-reconnect'], ['signal-reconnect', 'full-reconnect']);
/** For waits on sound and networks, which take seconds. */
const PATIENCE_MS = 90_000;

const skip = skipReason('chromium');

/** A page of an allowed origin, a public agent, and what the tests ask of both. */
async function startPage(t) {
  const { servePage, startBrowser } = await import('./browser.mjs');
  const gateway = await sharedGateway(t, 'speech');
  const site = await servePage();
  t.teardown(() => site.stop());
  const browser = await startBrowser(gateway, SAID);
  t.teardown(() => browser.stop());
  const call = client(gateway.base);
  const agentId = await makeMapAgent(call, site.origin);
  const { page, complaints } = await browser.open(site.origin);
  let second;
  const all = (name) =>
    page.evaluate((wanted) => told.filter((one) => one.name === wanted).map(({ event }) => event), name);
  return {
    ...{ call, page, complaints, all },
    publicAgent: { agentId, baseUrl: gateway.base },
    heard: (name, fits = () => true) =>
      until(`${name} is told`, async () => (await all(name)).find(fits), PATIENCE_MS),
    recordOf: async () => (await call(`sessions/${await page.evaluate(() => session.sessionId)}`)).body,
    /** The second tab, whose page is loaded anew: nothing that was changed in it before is left. */
    open: async () => {
      second ??= (await browser.open(site.origin)).page;
      await second.reload();
      await second.waitForFunction(() => document.title === 'ready');
      return second;
    },
  };
}

/** An agent that tells a story, and shows a map on the page; its id. */
async function makeMapAgent(call, origin) {
  const tool = { name: 'show_map', description: 'Shows the map to the caller.', tool_type: 'client' };
  const { body } = await call('tools', { body: tool });
  return makeAgent(call, {
    config: {
      prompt: { system_prompt: STORY.join(' '), first_message_mode: 'fixed', first_message: FIRST },
      conversation: { interruptible: false },
      tools: { tool_ids: [body.tool_id] },
    },
    change: { public_enabled: true, allowed_origins: [origin] },
  });
}

/** The connection is lost in the midst of an answer, of which nothing is missing afterwards. */
async function loses(t, { all, heard, page }, scenario) {
  await page.evaluate(() => {
    told.length = 0;
    const asked = 'Tell me the story of the oldest lamp in the shop.';
    // As LiveKit's components let users type; client-sdk.test.mjs types in our own way.
    return session.room.localParticipant.sendText(asked, { topic: 'lk.chat' });
  });
  await heard('agentResponseDelta');
  await page.evaluate((name) => session.room.simulateScenario(name), scenario);
  await heard('statusChange', ({ status }) => status === 'reconnecting');
  await heard('statusChange', ({ status }) => status === 'connected');
  await page.evaluate(() => (loudest.output = 0));
  // On a busy machine an answer to what the microphone said before was still under way, and ends with the question.
  const { segmentId, text } = await heard('agentResponse', ({ text }) => text.includes('lamp'));
  t.equal(text.trim(), STORY.join(' '), 'all of it, once');
  const deltas = (await all('agentResponseDelta')).filter((one) => one.segmentId === segmentId);
  t.equal(
    deltas
      .map(({ delta }) => delta)
      .join('')
      .trim(),
    STORY.join(' '),
  );
  t.ok((await page.evaluate(() => loudest.output)) > 0.3, 'it is heard afterwards');
  t.strictSame([await all('disconnect'), await all('error')], [[], []]);
}

/** One session on the first tab, in this order. */
const TALK = {
  'it hears the agent, is understood, and serves its tool': async (t, { all, heard, page, publicAgent }) => {
    await page.evaluate(
      ({ agent, answer }) => {
        window.calls = 0;
        const show_map = () => {
          calls += 1;
          return answer;
        };
        return talk({ agent, tools: { show_map } });
      },
      { agent: publicAgent, answer: ANSWER },
    );
    t.equal((await all('connect')).length, 1);
    t.equal((await heard('agentResponse')).text.trim(), FIRST);
    t.ok((await page.evaluate(() => loudest.output)) > 0.3, 'the agent is loud');
    // The last word is short, and now and then heard as another.
    await heard('userTranscript', ({ final, text }) => final && /show me the/i.test(text));
    t.ok((await page.evaluate(() => loudest.input)) > 0.3, 'the user is loud');
    await heard('toolCallCompleted', ({ toolName, output }) => toolName === 'show_map' && output === ANSWER);
    t.ok((await page.evaluate(() => calls)) > 0);
    await heard('agentResponse', ({ text }) => text.includes(ANSWER));
    const modes = (await all('modeChange')).map(({ mode }) => mode);
    for (const mode of ['listening', 'thinking', 'speaking']) t.ok(modes.includes(mode), mode);
  },

  'the microphone changes, to one that is there': async (t, { all, page }) => {
    const change = (deviceId) => page.evaluate((id) => session.useMicrophone(id), deviceId);
    const ids = await page.evaluate(async () => {
      const devices = await navigator.mediaDevices.enumerateDevices();
      return devices.filter(({ kind }) => kind === 'audioinput').map(({ deviceId }) => deviceId);
    });
    await change(ids.at(-1));
    await rejectsExactly(t, change('nothing like it'), { message: /The device cannot be used/ });
    t.strictSame(await all('error'), [{ code: 'device_change_failed' }]);
  },

  'muted, nothing is heard of the user': async (t, { page }) => {
    await page.evaluate(() => session.setMuted(true));
    t.strictSame(await page.evaluate(() => [session.muted, session.inputVolume]), [true, 0]);
  },

  ...Object.fromEntries(
    LOSSES.map((scenario) => [`${scenario} while the agent speaks`, (t, at) => loses(t, at, scenario)]),
  ),

  'after all that the user is heard, beside the sound of a shared tab, and hangs up': async (
    t,
    { all, heard, page, recordOf },
  ) => {
    await page.evaluate(async () => {
      told.length = 0;
      const audio = new AudioContext();
      const hum = new OscillatorNode(audio, { frequency: 220 });
      const shared = new MediaStreamAudioDestinationNode(audio);
      hum.connect(new GainNode(audio, { gain: 0.03 })).connect(shared);
      hum.start();
      const [track] = shared.stream.getAudioTracks();
      await session.room.localParticipant.publishTrack(track, { source: 'screen_share_audio' });
      await session.setMuted(false);
    });
    await heard('toolCallCompleted', ({ toolName }) => toolName === 'show_map');
    await page.evaluate(() => session.end());
    t.strictSame(await all('disconnect'), [{ reason: 'user_hangup' }]);
    const record = await until('the record is closed', async () => {
      const found = await recordOf();
      return found.status !== 'active' && found;
    });
    exactly(t, record, { status: 'completed', source: 'public', ended_reason: 'hangup' });
    const said = record.items.filter(({ role }) => role === 'assistant').map(({ content }) => content);
    t.equal(said[0], FIRST);
    const stories = said.filter((text) => text === STORY.join(' '));
    t.equal(stories.length, LOSSES.length, 'every story to its end');
    const asked = record.items.filter(({ role }) => role === 'user').map(({ content }) => content);
    t.ok(asked.some((text) => /show me the/i.test(text)));
    const results = record.items.filter(({ type }) => type === 'tool_result');
    t.equal(results.length, await page.evaluate(() => calls));
    t.ok(results.every(({ status, output }) => status === 'completed' && output === ANSWER));
  },
};

/** A session each on the second tab. */
const SESSIONS = {
  'without a microphone no session is requested': async (t, { call, open, publicAgent }) => {
    const other = await open();
    const failure = await other.evaluate((agent) => {
      const refuse = () => Promise.reject(new DOMException('Permission denied', 'NotAllowedError'));
      navigator.mediaDevices.getUserMedia = refuse;
      return talk({ agent }).catch(({ code }) => code);
    }, publicAgent);
    t.equal(failure, 'mic_permission_denied');
    t.strictSame((await call('sessions?status=pending')).body.sessions, []);
  },

  'a remembered microphone that is gone fails with its own code, a speaker is replaced': async (
    t,
    { call, open, publicAgent },
  ) => {
    const other = await open();
    const failure = await other.evaluate(
      (agent) => talk({ agent, microphone: { deviceId: 'gone' } }).catch(({ code }) => code),
      publicAgent,
    );
    t.equal(failure, 'device_change_failed');
    t.strictSame((await call('sessions?status=pending')).body.sessions, []);
    const outcome = await other.evaluate(async (agent) => {
      told.length = 0;
      await talk({ agent, speaker: { deviceId: 'gone' } });
      const { status } = session;
      await session.end();
      return { status, errors: told.filter(({ name }) => name === 'error').map(({ event }) => event.code) };
    }, publicAgent);
    t.strictSame(outcome, { status: 'connected', errors: ['device_change_failed'] });
  },

  'who comes without a microphone may choose one, turns one on, and none when it is over': async (
    t,
    { open, publicAgent },
  ) => {
    const other = await open();
    await other.evaluate((agent) => talk({ agent, microphone: false }), publicAgent);
    const { wanted, asked, published, after } = await other.evaluate(async () => {
      const { mediaDevices } = navigator;
      const asked = [];
      // Ids are known to pages that have been allowed to listen.
      (await mediaDevices.getUserMedia({ audio: true })).getTracks().forEach((track) => track.stop());
      mediaDevices.getUserMedia = (constraints) => {
        asked.push(constraints.audio.deviceId);
        return MediaDevices.prototype.getUserMedia.call(mediaDevices, constraints);
      };
      const devices = await mediaDevices.enumerateDevices();
      const wanted = devices.filter(({ kind }) => kind === 'audioinput').at(-1).deviceId;
      await session.useMicrophone(wanted);
      await Promise.all([session.setMuted(false), session.setMuted(false)]);
      const published = session.room.localParticipant.trackPublications.size;
      await session.end();
      const after = await session.setMuted(false).catch(({ code }) => code);
      return { wanted, asked, published, after };
    });
    t.strictSame(asked, [{ exact: wanted }], 'asked for once, and for the chosen one');
    t.equal(published, 1);
    t.equal(after, 'device_change_failed');
  },

  'the usual devices, in a browser that has no name for them': async (t, { open, publicAgent }) => {
    const other = await open();
    await other.evaluate((agent) => talk({ agent }), publicAgent);
    await other.waitForFunction(() => loudest.output > 0);
    await other.evaluate(async () => {
      const { mediaDevices } = navigator;
      const real = MediaDevices.prototype;
      const gone = () => Promise.reject(new DOMException('No such device', 'NotFoundError'));
      mediaDevices.enumerateDevices = async () =>
        (await real.enumerateDevices.call(mediaDevices)).filter(({ deviceId }) => deviceId !== 'default');
      mediaDevices.getUserMedia = (wanted) =>
        wanted.audio.deviceId?.exact === 'default' ? gone() : real.getUserMedia.call(mediaDevices, wanted);
      const { setSinkId } = HTMLMediaElement.prototype;
      HTMLMediaElement.prototype.setSinkId = function (id) {
        return id === 'default' ? gone() : setSinkId.call(this, id);
      };
      await session.useMicrophone('default');
      await session.useSpeaker('default');
      await session.end();
    });
    t.strictSame(await other.evaluate(() => told.filter(({ name }) => name === 'error')), []);
  },

  'a microphone that is allowed after the end is released': async (t, { open, publicAgent }) => {
    const other = await open();
    const code = await other.evaluate(async (agent) => {
      const { mediaDevices } = navigator;
      let allow;
      mediaDevices.getUserMedia = (wanted) =>
        new Promise((resolve) => {
          allow = async () => {
            const stream = await MediaDevices.prototype.getUserMedia.call(mediaDevices, wanted);
            [window.late] = stream.getTracks();
            resolve(stream);
          };
          void session.end();
        });
      const code = await talk({ agent }).catch((error) => error.code);
      await allow();
      return code;
    }, publicAgent);
    t.equal(code, 'connection_failed', 'nobody waits for the user to answer');
    await other.waitForFunction(() => window.late.readyState === 'ended');
  },

  'the end of a touch starts sound that the browser refused at its beginning': async (
    t,
    { open, publicAgent },
  ) => {
    const other = await open();
    await other.evaluate((agent) => {
      window.play = HTMLMediaElement.prototype.play;
      window.tries = 0;
      HTMLMediaElement.prototype.play = () => {
        window.tries += 1;
        return Promise.reject(new DOMException('Touch the page first', 'NotAllowedError'));
      };
      return talk({ agent, microphone: false });
    }, publicAgent);
    await other.waitForFunction(() => window.tries > 0);
    const before = await other.evaluate(() => window.tries);
    await other.evaluate(() => document.dispatchEvent(new Event('pointerdown')));
    await other.waitForFunction((count) => window.tries > count, before);
    t.equal(await other.evaluate(() => session.room.canPlaybackAudio), false);
    await other.evaluate(() => {
      HTMLMediaElement.prototype.play = window.play;
      document.dispatchEvent(new Event('pointerup'));
    });
    await other.waitForFunction(() => session.room.canPlaybackAudio);
    await other.waitForFunction(() => loudest.output > 0.3);
    await other.evaluate(() => session.end());
  },

  'a microphone that is taken away mutes, is told, and can be turned on again': async (
    t,
    { open, publicAgent },
  ) => {
    const other = await open();
    await other.evaluate(async (agent) => {
      await talk({ agent });
      navigator.mediaDevices.getUserMedia = () =>
        Promise.reject(new DOMException('Permission denied', 'NotAllowedError'));
      const [{ track }] = session.room.localParticipant.trackPublications.values();
      track.mediaStreamTrack.stop();
      track.mediaStreamTrack.dispatchEvent(new Event('ended'));
    }, publicAgent);
    await other.waitForFunction(() => session.muted);
    t.strictSame(await other.evaluate(() => told.filter(({ name }) => name === 'error')), [
      { name: 'error', event: { code: 'device_change_failed' } },
    ]);
    await other.evaluate(async () => {
      delete navigator.mediaDevices.getUserMedia;
      loudest.input = 0;
      await session.setMuted(false);
    });
    t.equal(await other.evaluate(() => session.muted), false);
    await other.waitForFunction(() => loudest.input > 0.3);
    await other.evaluate(() => session.end());
  },

  'a page without TLS is told why it has no microphone': async (t, { open, publicAgent }) => {
    const other = await open();
    const told = await other.evaluate((agent) => {
      Object.defineProperty(window, 'isSecureContext', { value: false });
      return talk({ agent }).catch(({ code, message }) => ({ code, message }));
    }, publicAgent);
    exactly(t, told, { code: 'mic_permission_denied', message: /HTTPS/ });
  },
};

t.test('a page talks to an agent', { skip, timeout: 280_000 }, async (t) => {
  const at = await startPage(t);
  for (const [name, holds] of Object.entries({ ...TALK, ...SESSIONS }))
    await t.test(name, (t) => holds(t, at));
  t.strictSame(at.complaints, []);
});
