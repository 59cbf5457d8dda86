/** Origins from which sessions may be created without a key. */
import t from '../../../../../fixtures/tap.js';
import { admitOrigin } from '../../../../../../gateway/dialects/platform/sessions/origin.js';

t.test('origins are compared as browsers send them', async (t) => {
  const admits = (entries: string[], origin: string | undefined): boolean => {
    const agent = { publicEnabled: true, allowedOrigins: entries } as never;
    try {
      admitOrigin(agent, { headers: new Map(origin === undefined ? [] : [['origin', origin]]) });
      return true;
    } catch {
      return false;
    }
  };
  t.ok(admits(['https://a.example'], 'https://a.example'));
  t.ok(admits(['https://a.example/'], 'https://A.example'));
  t.ok(admits(['https://a.example:443'], 'https://a.example'));
  t.ok(admits(['chrome-extension://abcdef'], 'chrome-extension://abcdef'));
  t.ok(admits(['capacitor://localhost/'], 'capacitor://localhost'));
  t.notOk(admits(['chrome-extension://abcdef'], 'chrome-extension://abcdeg'));
  t.notOk(admits(['*'], 'https://a.example'));
  t.notOk(admits(['https://*.example'], 'https://a.example'));
  t.notOk(admits(['null'], 'null'), 'a sandboxed page is nobody');
  t.notOk(admits([''], ''));
  t.notOk(admits(['https://a.example'], undefined));
});
