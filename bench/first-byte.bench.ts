/** First MP3 byte of a 60-character sentence through the default engines. */
import { DEFAULTS, startGateway } from '../test/fixtures/gateway.js';
import { median, quantile, row, speak } from './measure.js';

const SENTENCE = 'Your parcel has left our house, and will be there on Monday.';
const ROUNDS = 31;

const gateway = await startGateway(DEFAULTS);
try {
  for (const [latency, target] of [
    ['low', '200 ms'],
    ['normal', undefined],
  ] as const) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { firstByte } = await speak(gateway, { text: SENTENCE, format: 'mp3', latency });
      if (round > 0) times.push(firstByte);
    }
    row(
      `first mp3 byte, ${SENTENCE.length} characters, latency ${latency}, median`,
      median(times),
      'ms',
      target,
    );
    row(
      `first mp3 byte, ${SENTENCE.length} characters, latency ${latency}, p95`,
      quantile(times, 0.95),
      'ms',
    );
  }
} finally {
  await gateway.stop();
}
