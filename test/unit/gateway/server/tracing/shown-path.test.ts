/** A path without a route, as the log shows it: where a client went, and nothing that could be a secret. */
import t from '../../../../fixtures/tap.js';
import { shownPath } from '../../../../../gateway/server/tracing/shown-path.js';

const SHOWN: Readonly<Record<string, string>> = {
  '/': '/',
  '/api/v1/tts': '/api/v1/tts',
  '/v1/v1/audio/speech': '/v1/v1/audio/speech',
  '/v1beta/models': '/v1beta/models',
  '/wp-login.php': '/wp-login.php',
  '/openai/v1//chat/completions/': '/openai/v1//chat/completions/',
  '/v1/calls/tok_9f8e7d6c5b4a39281706f5e4': '/v1/calls/…',
  '/v1/sk-abc123/tts': '/v1/…/tts',
  [`/${'a'.repeat(33)}`]: '/…',
  '/a/b/c/d/e/f/g/h': '/a/b/c/d/e/f/…',
  '/%2e%2e/etc': '/…/etc',
};

for (const [path, shown] of Object.entries(SHOWN))
  t.test(path, async (t) => {
    t.equal(shownPath(path), shown);
  });
