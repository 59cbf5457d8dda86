/** How long a bucket is waited for: one that hangs is known within seconds, and a body over a slow line has its time. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { httpDouble } from '../../fixtures/http-double.js';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import t from '../../fixtures/tap.js';
import type { Test } from 'tap';
import { LIMITS } from '../../../contracts/limits.js';
import { meaningOf } from '../../../contracts/parts/outcome-of.js';
import { openS3 } from '../../../gateway/agents/recordings/s3.js';
import { notInstalled } from '../../../gateway/config/installed.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';

const missing = notInstalled(['@aws-sdk/client-s3', '@aws-sdk/s3-request-presigner']);
const skip = missing.length > 0 ? `not installed: ${missing.join(' ')}` : false;
const SHORT = { answerMs: 300, bytesPerSecond: 100, workMs: 60_000 };

/** A bucket whose server answers by `answer`. */
async function bucketThat(t: Test, answer: (response: ServerResponse) => void) {
  const server = httpDouble((request, response) => void request.resume().on('end', () => answer(response)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // The library takes credentials and address from the environment of the process.
  process.env['AWS_ENDPOINT_URL_S3'] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bucket = await openS3('s3://calls', process.env, SHORT);
  t.teardown(() => {
    bucket.close();
    server.closeAllConnections();
    server.close();
  });
  return bucket;
}

const OWN = {
  AWS_ACCESS_KEY_ID: 'test-access',
  AWS_SECRET_ACCESS_KEY: 'test-secret-of-the-bucket',
  AWS_REGION: 'us-east-1',
  AWS_ENDPOINT_URL_S3: '',
};
const before = { ...process.env };
Object.assign(process.env, OWN);
t.teardown(() => {
  for (const name of Object.keys(OWN)) delete process.env[name];
  Object.assign(process.env, before);
});

t.test('a bucket that hangs is given up as one that did not answer in time', { skip }, async (t) => {
  const bucket = await bucketThat(t, () => undefined);
  const failure = await bucket.list('sess_1/').then(
    () => undefined,
    (error: unknown) => error,
  );
  exactly(t, meaningOf(failure), { outcome: 'timeout' });
});

t.test('a body has as long as a slow line takes for it', { skip }, async (t) => {
  const answers = (response: ServerResponse): void =>
    void setTimeout(() => response.writeHead(200, { etag: '"1"' }).end(), 3 * SHORT.answerMs);
  const bucket = await bucketThat(t, answers);
  const body = (bytes: number) => ({ bytes, stream: () => Readable.from([Buffer.alloc(bytes)]) });
  await rejectsExactly(t, bucket.put('short', body(1)), { name: 'TimeoutError' });
  await bucket.put('long', body(SHORT.bytesPerSecond * 60));
  t.equal((await bucket.part('long', 'one', 1, body(SHORT.bytesPerSecond * 60))).etag, '"1"');
});

t.test('an operator knows of a bucket that hangs within a minute', async (t) => {
  const { answerMs } = LIMITS.recording.bucket;
  // It is asked twice, when the next recording has something to send.
  t.ok(2 * answerMs + LIMITS.recording.pieceMs < 60_000);
});
