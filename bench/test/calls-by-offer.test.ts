/** A caller at an agent that answers posted offers, as Pipecat does: a double that says it is ready and sends back what it hears. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cleanup, type DataChannel, PeerConnection, type Track } from 'node-datachannel';
import t from 'tap';
import { Caller } from '../src/calls/caller.js';
import { encodeUtterance } from '../src/calls/utterance.js';
import { waitFor } from '../src/calls/timing.js';

const tone = Buffer.from(Int16Array.from({ length: 24_000 }, (_, at) => 8000 * Math.sin(at / 8)).buffer);
const TOLD = [
  { type: 'bot-ready', data: { version: '2.0.0' } },
  { type: 'user-transcription', data: { text: 'What time?', final: true } },
];

// Its threads keep a process.
t.teardown(() => cleanup());

/** Answers one offer; what it holds is kept, as the library forgets it else. */
function answering(sdp: string, kept: (PeerConnection | Track | DataChannel)[]): Promise<string> {
  const connection = new PeerConnection('agent', { iceServers: [] });
  kept.push(connection);
  connection.onTrack((track) => {
    kept.push(track);
    track.onMessage((packet) => void track.sendMessageBinary(packet));
  });
  connection.onDataChannel((channel) => {
    kept.push(channel);
    channel.onMessage((message) => {
      const { type } = JSON.parse(String(message)) as { readonly type: string };
      if (type === 'client-ready') for (const each of TOLD) channel.sendMessage(JSON.stringify(each));
    });
  });
  const gathered = new Promise<string>((resolve) =>
    connection.onGatheringStateChange(
      (state) => state === 'complete' && resolve(connection.localDescription()?.sdp ?? ''),
    ),
  );
  // Without the caller's candidates, so that it begins: to be reached before it has the answer is what its library may fail at
  // (docs/contract/transport.md "Traps").
  connection.setRemoteDescription(sdp.replace(/^a=(?:candidate:|end-of-candidates).*\r?\n/gm, ''), 'offer');
  return gathered;
}

t.test(
  'it joins once the agent says that it listens, is heard, hears, and is shown what it said',
  async (t) => {
    const kept: (PeerConnection | Track | DataChannel)[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        const { sdp } = JSON.parse(body) as { readonly sdp: string };
        void answering(sdp, kept).then((answer) =>
          response.end(JSON.stringify({ sdp: answer, type: 'answer' })),
        );
      });
    }).listen(0, '127.0.0.1');
    t.teardown(() => {
      for (const each of kept) each.close();
      server.close();
    });
    await once(server, 'listening');
    const invite = {
      session_id: 'a',
      media_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/offer`,
      token: '',
      by: 'offer',
    } as const;
    const caller = await Caller.join(invite);
    const sending = setInterval(() => caller.sendFrame(), 20);
    t.teardown(() => {
      clearInterval(sending);
      caller.leave();
    });
    const said = await caller.say(encodeUtterance(tone));
    t.ok(
      await waitFor(() => caller.heard.firstFrom(said.from) !== undefined, 20_000),
      'its own voice came back',
    );
    t.ok(await waitFor(() => caller.hasTranscript, 20_000));
    t.equal(caller.takeTranscript(), 'What time?');
  },
);

t.test('an agent that refuses the offer says so', async (t) => {
  const server = createServer((_request, response) => response.writeHead(503).end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const media_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/offer`;
  await t.rejects(
    Caller.join({ session_id: 'a', media_url, token: '', by: 'offer' }),
    new Error('the offer was refused with HTTP 503'),
  );
});
