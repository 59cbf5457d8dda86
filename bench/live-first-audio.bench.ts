/**
 * First audio of `/v1/tts/live` after the first clause, through the default engines, against the first byte of
 * `POST /v1/tts` with the same clause: what the socket, its actor and text that arrives add. Rounds alternate, so
 * that the machine's drift cancels.
 */
import { LiveClient } from '../test/fixtures/live.js';
import { DEFAULTS, type Gateway, startGateway } from '../test/fixtures/gateway.js';
import { median, quantile, row, speak } from './measure.js';

const CLAUSE = 'Your parcel has left our house,';
/** The words sent. The clause is complete once the word after it has come. */
const WORDS = [...CLAUSE.split(/(?<= )/), ' and '];
const FORMAT = { format: 'mp3', latency: 'low' } as const;
const ROUNDS = 31;

/** Milliseconds from the word that completes the clause to the first audio frame. */
async function firstAudio(gateway: Gateway): Promise<number> {
  const client = await new LiveClient(gateway).opened();
  const heard = new Promise<void>((resolve) => client.socket.once('message', () => resolve()));
  client.start({ ...FORMAT, sample_rate: 44_100 }).text(...WORDS.slice(0, -1));
  const since = performance.now();
  client.text(WORDS.at(-1) ?? '');
  await heard;
  const took = performance.now() - since;
  client.leave();
  return took;
}

const gateway = await startGateway(DEFAULTS);
try {
  const rounds: { live: number; post: number }[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const { firstByte: post } = await speak(gateway, { text: CLAUSE, ...FORMAT });
    const live = await firstAudio(gateway);
    if (round > 0) rounds.push({ live, post });
  }
  const live = rounds.map((pair) => pair.live);
  const ratio = median(rounds.map((pair) => pair.live / pair.post));
  row(`first live audio after a clause of ${CLAUSE.length} characters, median`, median(live), 'ms', '200 ms');
  row('first live audio, p95', quantile(live, 0.95), 'ms');
  row('the same clause by POST, first byte, median', median(rounds.map(({ post }) => post)), 'ms');
  row('live against POST', ratio, '', '1.2');
} finally {
  await gateway.stop();
}
