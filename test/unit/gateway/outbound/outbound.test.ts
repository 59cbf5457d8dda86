/** URLs that the gateway refuses to open for an account owner, and URLs that it opens (docs/contract/platform.md 6.5 rule 9). */
import { createHmac } from 'node:crypto';
import t from '../../../fixtures/tap.js';
import { systemClock } from '../../../../contracts/clock.js';
import { defaultVocabulary } from '../../../../contracts/vocabulary.js';
import { parseAllowed } from '../../../../gateway/outbound/allow.js';
import { isMetadata, isPublic, parseAddress } from '../../../../gateway/outbound/addresses.js';
import { createOutbound } from '../../../../gateway/outbound/fetch.js';
import { type Hop, nextHop } from '../../../../gateway/outbound/redirects.js';
import { sign } from '../../../../gateway/outbound/signer.js';
import { eventIdHeader, signatureHeader } from '../../../../contracts/sessions/webhook-headers.js';
import { exactly, rejectsExactly, throwsExactly } from '../../../fixtures/exactly.js';

const outbound = (...allow: string[]) => createOutbound({ allow, clock: systemClock });

/** Refused without being resolved. */
const ATTACKS = [
  'file:///etc/passwd', 'ftp://example.com/', 'gopher://example.com:70/_x', 'javascript:alert(1)', 'data:text/plain,x',
  'ws://example.com/', 'unix:/var/run/docker.sock', '//example.com/', 'example.com', '/relative', '', 'http://', 'http:',
  'http://user:secret@example.com/', 'http://user@example.com/', 'https://@example.com/', 'http://:x@example.com/',
  'http://example.com:80@169.254.169.254/', 'http:user@example.com/',
  'http://example.com\\@127.0.0.1/', 'http:\\\\127.0.0.1\\', 'http://example.com/ x', 'http://exam\tple.com/', ' http://example.com/',
  'http://example.com/\r\nX: y', 'http://example.com:0/', 'http://example.com:99999/', 'http://[::1', 'http://256.1.1.1/',
  'http://localhost/', 'http://LOCALHOST:8080/', 'http://localhost./', 'http://a.localhost/', 'http://ⓛocalhost/',
  'http://localhost.localdomain/', 'http://printer.local/', 'http://db.internal/', 'http://nas.lan/', 'http://router.home.arpa/',
  'http://postgres/', 'http://redis:6379/', 'http://kubernetes.default.svc.cluster.local/',
  'http://metadata.google.internal/computeMetadata/v1/', 'http://metadata.google.internal./', 'http://metadata/', 'http://metadata.goog/',
  'http://127.0.0.1/', 'http://127.0.0.1./', 'http://127.1/', 'http://127.255.255.254:9/', 'http://0/', 'http://0.0.0.0/', 'http://0.1.2.3/',
  'http://2130706433/', 'http://0x7f000001/', 'http://0x7f.1/', 'http://0177.0.0.1/', 'http://017700000001/', 'http://0x7F.0x0.0x0.0x1/',
  'http://①②⑦.⓪.⓪.①/', 'http://１２７.０.０.１/', 'http://127。0。0。1/', 'http://%31%32%37.0.0.1/', 'http://127.0.0.1%2e/',
  'http://10.0.0.1/', 'http://10.255.255.255/', 'http://172.16.0.1/', 'http://172.31.255.255/', 'http://192.168.1.1/', 'http://192.168.257/',
  'http://100.64.0.1/', 'http://100.127.255.255/', 'http://169.254.1.1/', 'http://169.254.169.254/latest/meta-data/', 'http://2852039166/',
  'http://0xa9fea9fe/', 'http://0251.0376.0251.0376/', 'http://169.254.43518/', 'http://168.63.129.16/', 'http://100.100.100.200/',
  'http://192.0.0.192/', 'http://192.0.2.1/', 'http://198.18.0.1/', 'http://198.51.100.1/', 'http://203.0.113.1/', 'http://192.88.99.1/',
  'http://224.0.0.1/', 'http://239.255.255.250:1900/', 'http://240.0.0.1/', 'http://255.255.255.255/',
  'http://[::]/', 'http://[::1]/', 'http://[0:0:0:0:0:0:0:1]/', 'http://[::ffff:127.0.0.1]/', 'http://[::ffff:7f00:1]/', 'http://[::127.0.0.1]/',
  'http://[::ffff:8.8.8.8]/', 'http://[::ffff:0:127.0.0.1]/', 'http://[64:ff9b::7f00:1]/', 'http://[64:ff9b::169.254.169.254]/',
  'http://[64:ff9b:1::1]/', 'http://[2002:7f00:1::]/', 'http://[2002:a9fe:a9fe::]/', 'http://[2001:0:0:0:0:0:80ff:fffe]/',
  'http://[fe80::1]/', 'http://[fe80::1%25eth0]/', 'http://[fec0::1]/', 'http://[fc00::1]/', 'http://[fd00:ec2::254]/', 'http://[fd20:ce::254]/',
  'http://[ff02::1]/', 'http://[100::1]/', 'http://[2001:db8::1]/', 'http://[3fff::1]/', 'http://[5f00::1]/', 'http://[4000::1]/',
  'http://[2606:4700::5efe:7f00:1]/', 'http://[2606:4700::200:5efe:a9fe:a9fe]/',
]; // oxfmt-ignore

const FINE = [
  'https://example.com', 'http://example.com:8080/a?b=c#d', 'https://example.com./x', 'HTTPS://EXAMPLE.COM/', 'https://bücher.example/',
  'https://xn--bcher-kva.example/', 'http://8.8.8.8/', 'http://134744072/', 'http://172.32.0.1/', 'http://172.15.255.255/', 'http://100.63.255.255/',
  'http://100.128.0.1/', 'http://192.169.0.1/', 'http://169.253.255.255/', 'http://11.0.0.1/', 'http://128.0.0.1/', 'http://223.255.255.255/',
  'http://[2606:4700:4700::1111]/', 'https://example.com/a@b', 'https://example.com/?q=user:pw@host', 'https://localhost.example.com/',
  'https://internal.example.com/', 'https://mylocal.com/',
]; // oxfmt-ignore

t.test('every attack is refused as written', async (t) => {
  const { checkUrl } = outbound();
  t.ok(ATTACKS.length >= 40);
  for (const url of ATTACKS) t.ok(checkUrl(url), `refused: ${JSON.stringify(url)}`);
});

t.test('a host name is at most as long as the DNS has names', async (t) => {
  const { checkUrl } = outbound();
  const longest = `${'a.'.repeat(122)}example.a`;
  t.equal(longest.length, 253);
  for (const host of [longest, `${longest}.`]) t.equal(checkUrl(`https://${host}/`), undefined, host);
  for (const host of [`b${longest}`, `b${longest}.`, `a${'.'.repeat(30_000)}b.example`])
    t.match(checkUrl(`https://${host}/`), /at most 253 characters/, host.slice(0, 300));
});

t.test('public addresses pass', async (t) => {
  const { checkUrl } = outbound();
  for (const url of FINE) t.equal(checkUrl(url), undefined, url);
});

t.test('a call refuses what saving refuses', async (t) => {
  const { fetch } = outbound();
  const request = { method: 'GET', headers: [], timeoutMs: 1000, captureBytes: 1 } as const;
  for (const url of ATTACKS) {
    await rejectsExactly(t, fetch({ ...request, url }), { name: 'OutboundError', failure: 'refused' }, url);
  }
});

t.test('OUTBOUND_ALLOW opens what it names, on the port that it names (decision 8)', async (t) => {
  const cases: [allow: string, open: string[], closed: string[]][] = [
    ['127.0.0.1:8080', ['http://127.0.0.1:8080/', 'http://2130706433:8080/'], ['http://127.0.0.1/', 'http://127.0.0.2:8080/']],
    ['127.0.0.0/8', ['http://127.0.0.1/', 'http://127.9.9.9:1/', 'http://[::ffff:127.0.0.1]/'], ['http://10.0.0.1/', 'http://localhost/']],
    ['10.0.0.0/8:443', ['https://10.1.2.3/'], ['http://10.1.2.3/', 'https://11.0.0.256/']],
    ['localhost', ['http://localhost/', 'http://LOCALHOST.:9/'], ['http://127.0.0.1/', 'http://a.localhost/']],
    ['crm.lan:8443', ['https://crm.lan:8443/'], ['https://crm.lan/', 'https://b.crm.lan:8443/']],
    ['[::1]:80', ['http://[::1]/'], ['http://[::1]:81/', 'http://[::2]/']],
    ['::1', ['http://[::1]/', 'http://[::1]:81/'], ['http://[::2]/']],
    ['[fd00::/8]', ['http://[fd12::1]/'], ['http://[fc00::1]/']],
  ]; // oxfmt-ignore
  for (const [allow, open, closed] of cases) {
    const { checkUrl } = outbound(allow);
    for (const url of open) t.equal(checkUrl(url), undefined, `${allow} opens ${url}`);
    for (const url of closed) t.ok(checkUrl(url), `${allow} does not open ${url}`);
  }
});

t.test('nothing opens a metadata service (decision 8)', async (t) => {
  const { checkUrl } = outbound('0.0.0.0/0', '::/0', '169.254.169.254', '[fd00:ec2::254]:80');
  t.equal(checkUrl('http://10.0.0.1/'), undefined, 'all private ones are open');
  for (const host of [
    '169.254.169.254', '0xa9fea9fe', '[::ffff:169.254.169.254]', '[64:ff9b::a9fe:a9fe]', '[2002:a9fe:a9fe::]',
    '[fd00:ec2::254]', '100.100.100.200', '168.63.129.16', '169.254.170.2', '[fe80::5efe:a9fe:a9fe]',
  ]) t.match(checkUrl(`http://${host}/`), /metadata/, host); // oxfmt-ignore
});

t.test('a wrong entry of OUTBOUND_ALLOW is named', async (t) => {
  for (const entry of [
    '10.0.0.0/40',
    'a b',
    'http://x.lan',
    'x.lan:0',
    'x.lan:70000',
    '1.2.3',
    '',
    '[::1',
    '*',
  ]) {
    throwsExactly(t, () => parseAllowed([entry]), { message: new RegExp(`OUTBOUND_ALLOW: "${entry.replace(/[[*.]/g, '\\$&')}"`) }, entry); // oxfmt-ignore
  }
});

t.test('an address is judged whatever wraps it', async (t) => {
  const address = (text: string) => parseAddress(text)!;
  t.equal(isPublic(address('1.1.1.1')), true);
  t.equal(isPublic(address('2606:4700::1')), true);
  t.equal(isPublic(address('2002:101:101::')), false, 'even around a public one');
  t.equal(isMetadata(address('2001:0:1:2:3:4:5601:5601')), true, 'Teredo inverts');
  t.equal(parseAddress('fe80::1%eth0')?.kind(), 'ipv6');
  t.equal(parseAddress('example.com'), undefined);
});

t.test('signatures cover the time and the bytes of the body', async (t) => {
  const body = '{"event":"call.ended","name":"Ünï"}';
  const hex = createHmac('sha256', Buffer.from('s3cret'))
    .update(Buffer.from(`1753272076.${body}`))
    .digest('hex');
  t.equal(sign('s3cret', body, 1_753_272_076_999), `t=1753272076,v1=${hex}`);
  t.not(sign('s3cret', body, 1_753_272_077_000), sign('s3cret', body, 1_753_272_076_000));
  t.equal(signatureHeader(defaultVocabulary), 'X-Svc-Webhook-Signature');
  t.equal(eventIdHeader(defaultVocabulary), 'X-Svc-Webhook-Event-Id');
});

t.test('a redirect keeps or drops method and headers, and never leaves HTTPS', async (t) => {
  const hop: Hop = {
    method: 'POST',
    url: 'https://a.example.com/in?x=1',
    headers: [
      ['X-Key', 'k'],
      ['content-type', 'text/plain'],
    ],
    body: 'b',
  };
  const next = (status: number, location?: string) =>
    nextHop(hop, { status, headers: location === undefined ? {} : { location } });
  t.equal(next(200, '/x'), undefined);
  t.equal(next(304, '/x'), undefined);
  t.equal(next(302), undefined, 'a redirect to nowhere is a reply');
  for (const status of [301, 302, 303])
    t.same(next(status, '/x#y'), {
      method: 'GET',
      url: 'https://a.example.com/x',
      headers: [['X-Key', 'k']],
    });
  const put = { ...hop, method: 'PUT' } as const;
  t.same(nextHop(put, { status: 301, headers: { location: '/x' } }), {
    ...put,
    url: 'https://a.example.com/x',
  });
  exactly(t, nextHop(put, { status: 303, headers: { location: '/x' } }), { method: 'GET' });
  for (const status of [307, 308]) t.same(next(status, 'x'), { ...hop, url: 'https://a.example.com/x' });
  t.same(next(307, 'https://b.example.com/'), {
    ...hop,
    url: 'https://b.example.com/',
    headers: [['content-type', 'text/plain']],
  });
  t.same(next(302, '//a.example.com:8443/'), {
    method: 'GET',
    url: 'https://a.example.com:8443/',
    headers: [],
  });
  for (const location of ['http://a.example.com/', 'http://b.example.com/', 'http://['])
    throwsExactly(t, () => next(307, location), { name: 'OutboundError' }, location);
  const plain = { ...hop, url: 'http://a.example.com/' };
  exactly(t, nextHop(plain, { status: 308, headers: { location: 'https://a.example.com/' } }), {
    headers: [['content-type', 'text/plain']],
  });
});
