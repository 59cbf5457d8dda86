/** The text at the end of a start: its addresses can be opened as they are printed. */
import t from '../../../fixtures/tap.js';
import { readConfig } from '../../../../gateway/config.js';
import { greeting, shown } from '../../../../gateway/wiring/greeting.js';
import { naturalVoice } from '../../../../gateway/wiring/natural-voice.js';

const linesFor = (env: Record<string, string>): readonly string[] =>
  greeting({ config: readConfig(env), port: 8080, firstKey: { state: 'environment' } }).split('\n');

t.test('the printed addresses are URLs, of an IPv6 address too', async (t) => {
  const cases: [env: Record<string, string>, base: string][] = [
    [{}, 'http://localhost:8080'],
    [{ HOST: '::' }, 'http://localhost:8080'],
    [{ HOST: '192.0.2.1' }, 'http://192.0.2.1:8080'],
    [{ HOST: '::1' }, 'http://[::1]:8080'],
    [{ HOST: '2001:db8::7', TLS_CERT: 'a', TLS_KEY: 'b' }, 'https://[2001:db8::7]:8080'],
    [{ HOST: '::1', PUBLIC_URL: 'https://voice.example.com/' }, 'https://voice.example.com'],
  ];
  for (const [env, base] of cases) {
    const urls = linesFor(env).flatMap((line) => line.match(/https?:\S+/g) ?? []);
    t.strictSame(urls, [`${base}/console`, base, `${base}/v1/tts`], JSON.stringify(env));
    for (const url of urls) t.ok(URL.canParse(url), url);
  }
});

t.test('a key below the working directory is named from there, any other by its whole path', async (t) => {
  t.equal(shown('/srv/gateway/data/api-key', '/srv/gateway'), 'data/api-key');
  t.equal(shown('/srv/gateway/..data/api-key', '/srv/gateway'), '..data/api-key');
  for (const file of ['/data/api-key', '/srv/data/api-key', '/srv/gateway'])
    t.equal(shown(file, '/srv/gateway'), file);
});

t.test('the first start offers a natural voice with its size and licence, later ones do not', async (t) => {
  const printed = (state: 'created' | 'kept', env: Record<string, string> = {}): string =>
    greeting({
      config: readConfig({ MODELS_DIR: t.testdir(), ...env }),
      port: 8080,
      firstKey: { state, key: 'sk_a', file: '/data/api-key' },
    });
  t.match(
    printed('created'),
    /^ {2}voices {3}a natural one: npm run models -- add kokoro-en-int8 {3}English, 104 MB, Apache-2\.0;/m,
  );
  t.notMatch(printed('kept'), /natural/);
  t.notMatch(printed('created', { TTS_ENGINES: 'tone' }), /natural/);
  t.equal(naturalVoice(new URL('file:///nowhere/kokoro.json')), undefined);
});
