/** How many calls a gateway process takes: its share of the media processes' places, or as many as it is told. */
import { JOB_PLACES } from '../../../../contracts/limits/job-places.js';
import { readConfig } from '../../../../gateway/config.js';
import { mediaPlaces } from '../../../../gateway/config/media-places.js';
import { unusedSettings } from '../../../../gateway/config/suspicions.js';
import t from '../../../fixtures/tap.js';

const { slots, keptForLive: each } = JOB_PLACES.media;
const placesOf = (env: Record<string, string>): number => mediaPlaces(readConfig(env));

t.test('the places of the media processes, shared by the gateway processes', (t) => {
  t.ok(each >= 1000 && each < slots, 'a thousand calls, and room for tests by voice');
  t.equal(placesOf({ MEDIA_PROCESSES: '1', WORKERS: '1' }), each);
  t.equal(placesOf({ MEDIA_PROCESSES: '3', WORKERS: '2' }), Math.floor(1.5 * each));
  t.equal(placesOf({ MEDIA_PROCESSES: '1', WORKERS: '1', CALL_PLACES: '20' }), 20);
  t.end();
});

t.test('a number beyond them is told, and not taken', (t) => {
  const env = { MEDIA_PROCESSES: '1', WORKERS: '2', CALL_PLACES: String(each) };
  t.equal(placesOf(env), each / 2);
  t.strictSame(unusedSettings(readConfig(env)), [
    `CALL_PLACES is ${each}, but 1 of MEDIA_PROCESSES carry ${each / 2} calls for each of WORKERS: no more are taken`,
  ]);
  t.strictSame(unusedSettings(readConfig({ ...env, WORKERS: '1' })), []);
  t.end();
});
